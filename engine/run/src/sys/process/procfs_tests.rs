use super::*;

#[test]
fn a_name_with_parentheses_and_blanks_hides_no_field() {
    let text = b"42 (a) Z 1 (b) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 0 0\n";
    let stat = parse_stat(text).unwrap();
    assert_eq!((stat.parent, stat.session, stat.state, stat.start_time), (7, 40, State::Alive, 987_654));
}

#[test]
fn a_cut_line_is_no_state() {
    assert!(parse_stat(b"42 (a) S 7 42").is_none());
    assert!(parse_stat(b"").is_none());
}

#[test]
fn we_see_our_own_state_and_environment() {
    let us = getpid();
    assert_eq!(stat(us).unwrap().state, State::Alive);
    let environment = environment(us).unwrap();
    let path = std::env::var_os("PATH").unwrap().into_encoded_bytes();
    assert_eq!(value_in(&environment, "PATH"), Some(&path[..]));
    assert_eq!(value_in(&environment, "PAT"), None);
    assert!(all_processes().unwrap().contains(&us));
}
