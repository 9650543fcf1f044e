//! Agent files that people and models write.

use serde_json::{Value, json};

use super::{codes, play};

#[test]
fn n47_block_scalars_of_front_matter_are_read_as_yaml_has_them() {
    let (_, ran) = play("N47");
    assert_eq!(codes(&ran), [0, 0], "{ran:#?}");
    let rows: Vec<Value> = ran.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of =
        |name: &str| rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {rows:#?}"));
    assert_eq!(of("one")[1], "First line\n---\ntools: Bash\nlast line\n");
    assert_eq!(of("one")[3], json!(["Read"]));
    assert_eq!(of("two")[1], "folded text: with colon\nand a paragraph");
    assert_eq!((&of("two")[2], &of("two")[3]), (&json!("haiku"), &json!(["Read", "Grep"])));
    assert!(ran.stdout.contains("---\nBody starts with a rule\n---\nname: no\n"), "{}", ran.stdout);
    assert_eq!((&of("three")[1], &of("three")[3]), (&json!("  two more\nindented"), &json!(["Read"])));
    assert_eq!(
        (&of("four")[1], &of("four")[3]),
        (&json!("quoted over lines\nand more"), &json!(["Read", "Grep"]))
    );
    assert_eq!(of("five")[3], json!(["Read", "Grep"]));
}

#[test]
fn n48_a_definition_behind_a_fence_or_without_its_first_dashes_is_told() {
    let (flow, ran) = play("N48");
    let check = flow.run(&["agents", "check"]);
    let told = |text: &str| assert!(check.stdout.contains(text), "{text}: {}", check.stdout);
    told("agents/fenced.md:1:1: error[F0109]: the definition stands in a code fence");
    told("agents/nodash.md:1:1: error[F0109]");
    told("`---`");
    let plan = flow.run(&["check", "plan.yaml"]).exits(3);
    plan.says(&["agents/nodash.md:1:1", "`---`"]);
    assert!(!ran.stderr.contains("unknown agent"), "{}", ran.stderr);
    let listed = flow.run(&["agents", "list"]).exits(0).stdout;
    assert!(listed.contains("\ngood "), "{listed}");
}
