use super::*;

fn name(names: &Names, address: &str, attempt: u32, taken: &[&str]) -> Result<String, WorkspaceError> {
    names.under(&Address::from(address), Attempt(attempt), |name| match taken.contains(&name) {
        true => Err(WorkspaceError::Exists { what: name.to_owned() }),
        false => Ok(name.to_owned()),
    })
}

#[test]
fn tasks_that_would_be_called_alike_are_told_apart_and_keep_their_names() {
    let names = Names::default();
    let check = |address, attempt, expected| {
        assert_eq!(name(&names, address, attempt, &[]).unwrap(), expected, "{address}");
    };
    check("fix[src/core.rs]", 1, "fix-src-core.rs.1");
    check("fix[src-core.rs]", 1, "fix-src-core.rs-2.1");
    check("fix-src-core.rs", 1, "fix-src-core.rs-3.1");
    check("fix[src/core.rs]", 2, "fix-src-core.rs.2");
    check("fix[src-core.rs]", 2, "fix-src-core.rs-2.2");
}

#[test]
fn what_is_there_is_left_to_whoever_made_it() {
    let names = Names::default();
    assert_eq!(name(&names, "fix[a/b]", 1, &["fix-a-b.1"]).unwrap(), "fix-a-b-2.1");
    assert!(matches!(name(&names, "t", 1, &["t.1"]), Err(WorkspaceError::Exists { .. })));
}
