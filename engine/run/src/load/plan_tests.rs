use super::super::testing::Place;
use super::*;

const SHIPPED: &[Shipped] = &[Shipped { name: "audit", text: "flow: 1\n" }];

fn place() -> Place {
    let place = Place::new(&["p/flow.toml", "p/.pre-commit-config.yaml", "p/workflows/values.yaml"]);
    for plan in ["p/plan.yaml", "p/workflows/release.yaml", "p/workflows/own.yml", "p/a/b.yaml", "p/a/bare"] {
        place.write(plan, "flow: 1\ntasks: {}\n");
    }
    place
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
    check_missing("quite_other", &missing("quite_other"), "there are `plan.yaml`, `own`, `release`, `audit`");
    check_missing("plam.yaml", "can't read `plam.yaml`: no such file", "did you mean `plan.yaml`?");
    check_missing("a", &missing("a"), "there are `plan.yaml`, `own`, `release`, `audit`");
}

#[test]
fn only_what_says_that_it_is_a_plan_is_named_as_one() {
    let place = Place::new(&["p/flow.toml", "p/empty.yaml"]);
    place.write("p/a.yaml", "# A plan.\nflow: 1\ntasks: {}\n");
    place.write("p/named.yaml", "flow: 1\nname: hello\ntasks: {}\n");
    place.write("p/broken.yml", "flow: 1\ntasks: [\n");
    place.write("p/compose.yaml", "services: { flow: { image: x } }\n");
    place.write("p/list.yaml", "- flow: 1\n");
    place.write("p/workflows/x.yaml", "{flow: 1, tasks: {}}\n");
    assert_eq!(own_plans(&place.project("p")), ["a.yaml", "broken.yml", "named.yaml", "x"]);
    let help = |given: &str| find_among(&place.project("p"), given, &[]).unwrap_err().help.unwrap();
    assert_eq!(help("quite_other"), "there are `a.yaml`, `broken.yml`, `named.yaml`, `x`");
    assert_eq!(help("hello"), "`hello` is what `named.yaml` calls itself; give its file");
}

#[test]
fn without_any_plan_the_place_for_one_is_named() {
    let place = Place::new(&["p/flow.toml"]);
    let finding = find_among(&place.project("p"), "x", &[]).unwrap_err();
    assert_eq!(finding.help.as_deref(), Some("name a YAML file, or put the plan at `workflows/x.yaml`"));
}
