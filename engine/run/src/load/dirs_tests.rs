use super::*;

fn check(variables: &[(&str, &str)], home: Option<&str>, config: Option<&str>, policy: &str) {
    let get = |name: &str| {
        variables.iter().find(|(given, _)| *given == name).map(|(_, value)| OsString::from(value))
    };
    let expected = Dirs {
        home: home.map(PathBuf::from),
        config: config.map(PathBuf::from),
        policy: Some(policy.into()),
    };
    assert_eq!(Dirs::from_variables(get), expected);
}

#[test]
fn folders_follow_the_variables_and_relative_ones_count_as_unset() {
    check(&[], None, None, "/etc/flow");
    check(&[("HOME", "/h")], Some("/h"), Some("/h/.config"), "/etc/flow");
    check(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")], Some("/h"), Some("/c"), "/etc/flow");
    check(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "c")], Some("/h"), Some("/h/.config"), "/etc/flow");
    check(&[("FLOW_POLICY_DIR", "/p")], None, None, "/p");
    check(&[("FLOW_POLICY_DIR", "")], None, None, "/etc/flow");
}
