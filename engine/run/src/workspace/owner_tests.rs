use super::*;

#[test]
fn a_reason_reads_back_as_its_owner() {
    let owner = Owner::current();
    assert_eq!(Owner::parse(&owner.reason("20261130-075412-k3f9q2")), Some(owner));
    assert_eq!(Owner::parse("moving it to another disk"), None);
    assert_eq!(Owner::parse("flow run x pid=a start=1"), None);
}

#[test]
fn only_the_same_process_start_counts_as_alive() {
    let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let owner = Owner { pid: child.id(), start: start_of(child.id()).unwrap() };
    assert!(owner.is_another_alive());
    assert!(!Owner { start: owner.start + 1, ..owner }.is_another_alive());
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(!owner.is_another_alive());
    assert!(!Owner::current().is_another_alive());
}
