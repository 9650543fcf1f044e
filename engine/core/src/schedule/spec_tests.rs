use super::super::testing::{Rig, bare, keys, limits, specs, task};
use super::*;

#[test]
fn what_is_left_out_ends_at_once_and_holds_nothing_up() {
    let out = |draft: super::super::testing::Draft| draft.with(|spec| spec.selected = false);
    let mut rig = Rig::start(vec![out(task("a")), task("b")], limits(2));
    rig.are("a=skipped(not_selected) b=starting").done("b").says("finish completed");
}

#[test]
fn leaving_out_takes_the_edges_with_it_on_both_sides() {
    let drafts = vec![
        task("a"),
        task("b").needs("a", EdgeKind::Completed),
        task("c").needs("b", EdgeKind::Failure),
        task("d").after("c"),
    ];
    let mut all = specs(drafts);
    let selected = |tasks: &[bool]| Selected { tasks: tasks.to_vec(), limits: Vec::new() };
    NodeSpec::leave_out(&mut all, &selected(&[true, false, true, true]));
    assert_eq!(all.iter().map(|spec| spec.selected).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(all.iter().map(|spec| spec.needs.len()).collect::<Vec<_>>(), [0, 0, 0, 1]);
    let mut one = vec![bare("x")];
    NodeSpec::leave_out(&mut one, &selected(&[]));
    assert!(one[0].selected);
}

#[test]
fn instances_that_are_left_out_are_never_made() {
    let limited = |patterns: &[&str]| {
        let patterns = patterns.iter().map(ToString::to_string).collect();
        let limit = InstanceLimit { task: "m".into(), patterns };
        let mut all = specs(vec![task("m").expands(), task("z").after("m")]);
        NodeSpec::leave_out(&mut all, &Selected { tasks: vec![true, true], limits: vec![limit] });
        let mut rig = Rig::of(all, limits(9));
        rig.answer("m", keys(&["x", "y", "y2"]));
        rig
    };
    limited(&["m[y*]"])
        .says("launch m[y] 1 in 0, launch m[y2] 1 in 1")
        .done("m[y]")
        .done("m[y2]")
        .are("m=completed z=starting");
    limited(&["m[x]", "m[nope]"]).says("launch m[x] 1 in 0");
    let mut none = limited(&["m[no]"]);
    none.are("m=failed(expression) z=blocked(upstream)");
    let said = none.scheduler.node(none.id("m")).message.unwrap().to_owned();
    assert_eq!(said, "no instance fits `m[no]`; there are `m[x]`, `m[y]`, `m[y2]`");
}
