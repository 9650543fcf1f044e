use super::*;

use SettingsLayer::{Repository, User};

fn check(url: &str, allow_local: bool, layer: SettingsLayer, answer: Result<Reach, &str>) {
    match (judge(url, allow_local, layer), answer) {
        (Ok(base), Ok(reach)) => assert_eq!(base.reach, reach, "{url}"),
        (Err(said), Err(part)) => assert!(said.contains(part), "{url}: {said}"),
        (got, wanted) => panic!("{url}: {got:?}, not {wanted:?}"),
    }
}

#[test]
fn a_public_host_needs_https() {
    check("https://api.example.com/v1", false, Repository, Ok(Reach::Public));
    check("http://api.example.com", false, User, Err("over https"));
    check("http://api.example.com", true, User, Err("over https"));
    check("ftp://api.example.com", false, User, Err("no scheme"));
    check("https://8.8.8.8", false, User, Ok(Reach::Public));
}

#[test]
fn this_machine_needs_allow_local() {
    for url in [
        "http://127.0.0.1:1",
        "http://localhost:1",
        "http://[::1]:1",
        "http://a.localhost",
        "http://127.9.9.9",
        "http://[::ffff:127.0.0.1]",
        "http://2130706433",
        "http://localhost.",
    ] {
        check(url, false, User, Err("allow_local"));
        check(url, true, User, Ok(Reach::Private));
        check(url, true, Repository, Ok(Reach::Loopback));
    }
}

#[test]
fn a_private_network_needs_the_user() {
    for url in [
        "http://10.0.0.1",
        "http://192.168.1.1",
        "http://172.16.0.1",
        "http://[fd00::1]",
        "http://[::ffff:10.0.0.1]",
        "http://100.64.0.1",
        "http://[64:ff9b::10.0.0.1]",
        "http://[2002:a00:1::]",
    ] {
        check(url, false, User, Err("allow_local"));
        check(url, true, User, Ok(Reach::Private));
        check(url, true, Repository, Err("only a user's own"));
    }
}

#[test]
fn metadata_services_are_closed_to_all() {
    for url in [
        "http://169.254.169.254/",
        "http://[fe80::1]",
        "http://0.0.0.0",
        "http://[::]",
        "http://[::ffff:169.254.169.254]",
        "http://255.255.255.255",
        "http://[ff02::1]",
    ] {
        check(url, true, User, Err("no place for a provider"));
    }
}

#[test]
fn secrets_and_odd_parts_are_refused_and_not_repeated() {
    check("https://user:pw@host", false, User, Err("user name or password"));
    check("https://host/?key=1", false, User, Err("query"));
    check("nonsense", false, User, Err("no URL"));
    let said = judge("https//user:hunter2@host:x", false, User).unwrap_err();
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_name_is_judged_again_by_the_addresses_it_stands_for() {
    let loopback: IpAddr = "127.0.0.1".parse().unwrap();
    let private: IpAddr = "10.1.2.3".parse().unwrap();
    let link: IpAddr = "169.254.169.254".parse().unwrap();
    let reaches = [Reach::Public, Reach::Loopback, Reach::Private];
    assert_eq!(reaches.map(|reach| reach.allows(loopback)), [false, true, true]);
    assert_eq!(reaches.map(|reach| reach.allows(private)), [false, false, true]);
    assert_eq!(reaches.map(|reach| reach.allows(link)), [false, false, false]);
}
