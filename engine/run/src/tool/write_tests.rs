use super::super::testing::Bench;
use super::*;

#[test]
fn a_new_file_comes_with_its_folders() {
    let bench = Bench::new(&[]);
    let answer = bench.ok("Write", json!({ "file_path": "a/b/c.txt", "content": "1\n2\n" }));
    assert_eq!(answer, "created `a/b/c.txt`: 2 lines, 4 bytes");
    assert_eq!(bench.text("a/b/c.txt"), "1\n2\n");
}

#[test]
fn an_existing_file_must_have_been_read() {
    let bench = Bench::new(&[("f", "old")]);
    let answer = bench.err("Write", json!({ "file_path": "f", "content": "new" }));
    assert_eq!(answer, "`f` was not read yet; Read it first, then change it");
    bench.ok("Read", json!({ "file_path": "f" }));
    bench.ok("Write", json!({ "file_path": "f", "content": "new" }));
    assert_eq!(bench.text("f"), "new");
}

#[test]
fn a_file_that_was_changed_since_must_be_read_again() {
    let bench = Bench::new(&[("f", "old")]);
    bench.ok("Read", json!({ "file_path": "f" }));
    fs::write(bench.path("f"), "theirs").unwrap();
    let answer = bench.err("Write", json!({ "file_path": "f", "content": "mine" }));
    assert!(answer.contains("Read it again"), "{answer}");
    assert_eq!(bench.text("f"), "theirs");
}

#[test]
fn what_the_agent_wrote_itself_it_knows() {
    let bench = Bench::new(&[]);
    bench.ok("Write", json!({ "file_path": "f", "content": "one" }));
    bench.ok("Write", json!({ "file_path": "f", "content": "two" }));
    assert_eq!(bench.text("f"), "two");
}

#[test]
fn rights_of_a_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(&[("run.sh", "old")]);
    fs::set_permissions(bench.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    bench.ok("Read", json!({ "file_path": "run.sh" }));
    bench.ok("Write", json!({ "file_path": "run.sh", "content": "new" }));
    assert_eq!(fs::metadata(bench.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn a_folder_is_no_file_and_nothing_half_written_stays() {
    let bench = Bench::new(&[("d/x", "")]);
    let answer = bench.err("Write", json!({ "file_path": "d", "content": "" }));
    assert!(answer.contains("no regular file"), "{answer}");
    bench.err("Write", json!({ "file_path": "d/x/y", "content": "" }));
    assert_eq!(fs::read_dir(bench.path("d")).unwrap().count(), 1);
}
