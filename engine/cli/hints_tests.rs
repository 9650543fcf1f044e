use clap::Parser;

use super::*;
use crate::args::Cli;

fn said(words: &[&str]) -> Option<(String, String)> {
    hint(&Cli::try_parse_from([&["flow"], words].concat()).expect_err("no command line"))
}

#[test]
fn a_command_line_that_is_nearly_right_is_answered_with_the_right_one() {
    let hint = |words: &[&str]| said(words).unwrap_or_else(|| panic!("{words:?}")).1;
    assert_eq!(hint(&["plan.yaml"]), "flow run plan.yaml");
    assert_eq!(hint(&["run", "p.yaml", "target=a b"]), "an input is given with `-i 'target=a b'`");
    assert_eq!(hint(&["run", "p.yaml", "l:=[1]"]), "an input is given with `-i 'l:=[1]'`");
    assert_eq!(hint(&["validate"]), "write `flow check PLAN`");
    assert_eq!(hint(&["explain"]), "this version of flow doesn't have it");
}

#[test]
fn what_clap_says_well_stays() {
    assert_eq!(said(&["chekc"]), None);
    assert_eq!(said(&["run", "p.yaml", "--nope"]), None);
    assert_eq!(said(&["run", "p.yaml", "second.yaml"]), None);
}
