use super::*;

/// A graph from the indices that each task needs.
fn graph(needs: &[&[u32]]) -> Graph {
    let edge = |from: &u32| Edge { from: TaskId(*from), kind: EdgeKind::Success };
    Graph { needs: needs.iter().map(|needs| needs.iter().map(edge).collect()).collect() }
}

fn chain(length: u32) -> Graph {
    let edge = |from| Edge { from: TaskId(from), kind: EdgeKind::Success };
    Graph { needs: (0..length).map(|task| task.checked_sub(1).map(edge).into_iter().collect()).collect() }
}

fn ids(tasks: &[TaskId]) -> Vec<u32> {
    tasks.iter().map(|task| task.0).collect()
}

fn ranks(graph: &Graph) -> Vec<u32> {
    graph.dependents().ranks(&graph.order())
}

fn cycles(needs: &[&[u32]]) -> Vec<Vec<u32>> {
    graph(needs).cycles(10).iter().map(|cycle| ids(cycle)).collect()
}

#[test]
fn a_diamond_is_ordered_ranked_and_turned_around() {
    let diamond = graph(&[&[1, 2], &[3], &[3], &[]]);
    assert_eq!(ids(&diamond.order()), [3, 1, 2, 0]);
    assert_eq!(ranks(&diamond), [0, 1, 1, 2]);
    let dependents = diamond.dependents();
    let waiting = |task| dependents.of(TaskId::at(task)).iter().map(|dependent| dependent.task.0).collect();
    let dependents: Vec<Vec<u32>> = (0..4).map(waiting).collect();
    assert_eq!(dependents, [vec![], vec![0], vec![0], vec![1, 2]]);
    assert!(diamond.cycles(10).is_empty());
}

#[test]
fn independent_tasks_keep_manifest_order() {
    assert_eq!(ids(&graph(&[&[], &[2], &[], &[]]).order()), [0, 2, 1, 3]);
}

#[test]
fn each_cycle_is_found_with_its_whole_path() {
    assert_eq!(cycles(&[&[0]]), [[0]]);
    assert_eq!(cycles(&[&[1], &[2], &[0]]), [[0, 1, 2]]);
    assert_eq!(cycles(&[&[1, 2], &[0], &[0]]), [[0, 1], [0, 2]]);
    assert_eq!(cycles(&[&[1], &[0], &[3], &[2], &[0]]), [vec![0, 1], vec![2, 3]]);
}

#[test]
fn a_chain_of_a_hundred_thousand_overflows_no_stack() {
    let mut long = chain(100_000);
    assert_eq!(ranks(&long)[0], 99_999);
    long.needs[0].push(Edge { from: TaskId(99_999), kind: EdgeKind::Done });
    let found = long.cycles(10);
    assert_eq!((found.len(), found[0].len()), (1, 100_000));
}

#[test]
fn cycles_stop_at_the_limit() {
    let all: Vec<u32> = (0..30).collect();
    let rows: Vec<&[u32]> = (0..30).map(|_| all.as_slice()).collect();
    assert_eq!(graph(&rows).cycles(7).len(), 7);
}
