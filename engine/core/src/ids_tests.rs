use super::{Address, ChildId};

#[track_caller]
fn check(address: &str, starter: Option<(&str, &str)>) {
    let found = Address::from(address).starter().map(|(by, id)| (by.to_string(), id.to_string()));
    assert_eq!(found, starter.map(|(by, id)| (by.to_owned(), id.to_owned())));
}

#[test]
fn the_address_of_a_child_names_its_starter() {
    let id = ChildId::parse("a0123456789abcdef").unwrap();
    let child = Address::task("review").instance("auth").child(&id);
    assert_eq!(child.as_str(), "review[auth]/@a0123456789abcdef");
    check(child.as_str(), Some(("review[auth]", "a0123456789abcdef")));
    check(child.child(&id).as_str(), Some((child.as_str(), "a0123456789abcdef")));
}

#[test]
fn tasks_and_instances_with_any_key_have_none() {
    check("review", None);
    check("review[auth]", None);
    check("review[x/@a0123456789abcdef]", None);
    check("review[a]/@a0123456789abcdef]", None);
}

#[test]
fn an_id_is_a_letter_and_sixteen_digits() {
    for text in [
        "",
        "a",
        "a0123456789abcde",
        "a0123456789abcdef0",
        "a0123456789abcdeg",
        "A0123456789abcdef",
        "é0123456789abcdef",
    ] {
        assert_eq!(ChildId::parse(text), None, "{text}");
    }
}
