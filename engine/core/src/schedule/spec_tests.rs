use super::super::testing::{Rig, bare, limits, specs, task};
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
    NodeSpec::leave_out(&mut all, &[true, false, true, true]);
    assert_eq!(all.iter().map(|spec| spec.selected).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(all.iter().map(|spec| spec.needs.len()).collect::<Vec<_>>(), [0, 0, 0, 1]);
    let mut one = vec![bare("x")];
    NodeSpec::leave_out(&mut one, &[]);
    assert!(one[0].selected);
}
