//! What an agent may do: paths that lead out, rules that fit, rules that deny.

use super::{codes, play};

#[test]
fn n36_no_path_leads_out_of_a_tree_of_its_own() {
    let (flow, ran) = play("N36");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(flow.read("a.txt"), "base\n");
    let above = flow.dir().parent().unwrap().to_owned();
    for name in ["leak1.txt", "leak2.txt", "leak3.txt"] {
        let found = flow.shell(&format!("find '{}' -name {name}", above.display())).exits(0);
        assert_eq!(found.stdout, "");
    }
    assert_eq!(flow.read("ok.txt"), "fine");
    let denials = flow.task("t")["denials"].as_array().unwrap().clone();
    assert_eq!(denials.len(), 5, "{denials:#?}");
    ran.says(&["5 denied", "denied: ", "leak1.txt"]);
    assert!(flow.path(".git/HEAD").is_file());
}

#[test]
fn n37_a_rule_that_fits_is_not_defeated_by_what_stands_in_quotes() {
    let (flow, ran) = play("N37");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(flow.task("t")["denials"].as_array().map_or(0, Vec::len), 0, "{:#}", flow.task("t"));
    assert_eq!(flow.read("calls").lines().count(), 5);
    assert!(!flow.exists("leak"));
}

#[test]
fn n39_a_deny_rule_holds_behind_wrappers_quotes_and_comments() {
    let (flow, ran) = play("N39");
    assert!(!ran.stdout.contains("gone v"), "{}", ran.stdout);
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(flow.task("t")["denials"].as_array().unwrap().len(), 34);
}
