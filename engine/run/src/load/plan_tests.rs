use super::super::testing::Place;
use super::*;

const SHIPPED: &[Shipped] = &[Shipped { name: "audit", text: "flow: 1\n" }];

fn place() -> Place {
    Place::new(&[
        "p/flow.toml",
        "p/plan.yaml",
        "p/workflows/release.yaml",
        "p/workflows/own.yml",
        "p/a/b.yaml",
        "p/a/bare",
    ])
}

fn check(start: &str, given: &str, name: &str, dir: &str) {
    let place = place();
    let found = find_among(&place.project(start), given, SHIPPED).unwrap();
    assert_eq!((found.file.name.as_str(), found.dir), (name, place.top.join(dir)));
}

fn check_missing(given: &str, message: &str, help: &str) {
    let place = place();
    let finding = find_among(&place.project("p"), given, SHIPPED).unwrap_err();
    assert_eq!((finding.message.as_str(), finding.help.as_deref()), (message, Some(help)));
}

#[test]
fn a_plan_is_found_by_path_then_by_name_then_among_the_shipped() {
    check("p", "plan.yaml", "plan.yaml", "p");
    check("p/a", "../plan.yaml", "../plan.yaml", "p");
    check("p/a", "b.yaml", "b.yaml", "p/a");
    check("p/a", "bare", "bare", "p/a");
    check("p", "release", "workflows/release.yaml", "p/workflows");
    check("p/a", "release", "../workflows/release.yaml", "p/workflows");
    check("p", "own", "workflows/own.yml", "p/workflows");
    check("p/a", "audit", "built-in/audit.yaml", "p");
}

#[test]
fn a_missing_plan_names_the_nearest() {
    let missing = |given: &str| format!("no plan `{given}`: neither a file nor a workflow of that name");
    check_missing("relase", &missing("relase"), "did you mean `release`?");
    check_missing("audti", &missing("audti"), "did you mean `audit`?");
    check_missing("plan", &missing("plan"), "did you mean `plan.yaml`?");
    check_missing("quite_other", &missing("quite_other"), "there are `own`, `release`, `audit`, `plan.yaml`");
    check_missing("plam.yaml", "can't read `plam.yaml`: no such file", "did you mean `plan.yaml`?");
    check_missing("a", &missing("a"), "there are `own`, `release`, `audit`, `plan.yaml`");
}

#[test]
fn without_any_plan_the_place_for_one_is_named() {
    let place = Place::new(&["p/flow.toml"]);
    let finding = find_among(&place.project("p"), "x", &[]).unwrap_err();
    assert_eq!(finding.help.as_deref(), Some("name a YAML file, or put the plan at `workflows/x.yaml`"));
}
