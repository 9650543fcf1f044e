use super::*;

#[test]
fn a_reason_reads_back_as_its_owner() {
    let owner = TreeOwner::current("20261130-075412-k3f9q2").unwrap();
    assert_eq!(TreeOwner::parse(&owner.reason()), Some(owner));
    assert_eq!(TreeOwner::parse("moving it to another disk"), None);
    assert_eq!(TreeOwner::parse("flow run x pid=a start=1"), None);
}

#[test]
fn a_reason_of_an_earlier_flow_names_no_boot_and_still_says_who_lives() {
    let owner = TreeOwner::current("r1").unwrap();
    let start = owner.process.start_time.unwrap();
    let earlier = |start| TreeOwner::parse(&format!("flow run r1 pid={} start={start}", owner.process.pid));
    assert!(earlier(start).unwrap().process.is_alive());
    assert!(earlier(0).unwrap().process.is_alive());
    assert!(!earlier(start + 1).unwrap().process.is_alive());
}

#[test]
fn the_same_process_number_and_start_of_another_boot_is_dead() {
    let mut owner = TreeOwner::current("r1").unwrap();
    assert!(owner.process.is_alive());
    owner.process.boot_id = Some("0f5c9a52-0000-4000-8000-000000000000".to_owned());
    let read = TreeOwner::parse(&owner.reason()).unwrap();
    assert_eq!(read, owner);
    assert!(!read.process.is_alive());
}
