use super::*;

#[test]
fn a_tree_that_git_or_another_flow_holds_up_is_told_from_one_that_can_not_be_made() {
    let reason = |error| tree_failure(&error).reason.unwrap();
    let kept = |source| WorkspaceError::Kept {
        path: "/tree".into(),
        branch: "flow/r/t.1".to_owned(),
        source: Box::new(source),
    };
    let locked = || WorkspaceError::GitLocked { lock: "packed-refs.lock".to_owned() };
    assert_eq!(reason(locked()), Reason::GitLocked);
    assert_eq!(reason(kept(locked())), Reason::GitLocked);
    assert_eq!(reason(WorkspaceError::Busy { lock: "/worktrees/.lock".into() }), Reason::GitLocked);
    assert_eq!(reason(WorkspaceError::NoHome), Reason::Isolation);
    assert_eq!(reason(kept(WorkspaceError::NoHome)), Reason::Isolation);
}
