use super::*;

#[test]
fn a_list_holds_what_it_names_and_nothing_near_it() {
    for (spec, name, expected) in [
        ("worker", "worker", true),
        ("worker, researcher", "researcher", true),
        ("worker,researcher", "researcher", true),
        ("worker", "Worker", false),
        ("worker", "work", false),
        ("worker, researcher", "worker, researcher", false),
        ("work*", "worker", false),
        ("", "worker", false),
    ] {
        assert_eq!(lists(spec, name), expected, "{spec} {name}");
    }
}

#[test]
fn a_domain_is_one_host_and_none_below_it() {
    for (spec, host, expected) in [
        ("domain:example.com", "example.com", Some(true)),
        ("domain: Example.COM", "example.com", Some(true)),
        ("domain:example.com", "docs.example.com", Some(false)),
        ("domain:example.com", "example.com.evil.org", Some(false)),
        ("example.com", "example.com", None),
    ] {
        assert_eq!(is_domain(spec, host), expected, "{spec} {host}");
    }
}

#[test]
fn only_a_plain_address_has_a_host() {
    for (address, expected) in [
        ("https://example.com", Some("example.com")),
        ("HTTP://Example.com:8080/a?b#c", Some("Example.com")),
        ("https://example.com./x", Some("example.com")),
        ("https://example.com\\@evil.org", Some("example.com")),
        ("https://example.com@evil.org/", None),
        ("https://user:1@evil.org/", None),
        ("https://exam\tple.com", None),
        ("https://ex%61mple.com", None),
        ("https://exämple.com", None),
        ("https://[::1]/", None),
        ("https:///example.com", None),
        ("ftp://example.com", None),
        ("example.com", None),
        ("", None),
    ] {
        assert_eq!(host(address), expected, "{address}");
    }
}
