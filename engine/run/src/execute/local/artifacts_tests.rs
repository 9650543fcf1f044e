use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A task's folder beside another one, and what collecting these patterns says.
fn check(make: impl FnOnce(&Path), patterns: &[&str]) -> (Vec<String>, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let (dir, into) = (root.path().join("dir"), root.path().join("kept"));
    fs::create_dir(&dir).unwrap();
    fs::write(root.path().join("outside"), "secret").unwrap();
    make(&dir);
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let collected = collect(&dir, &patterns, &into).unwrap();
    for artifact in &collected.kept {
        assert_eq!(fs::read(into.join(&artifact.path)).unwrap(), fs::read(dir.join(&artifact.path)).unwrap());
    }
    (collected.kept.into_iter().map(|one| one.path).collect(), collected.faults)
}

#[test]
fn named_files_and_those_that_a_pattern_matches_are_kept_once_each_in_order() {
    let make = |dir: &Path| {
        fs::create_dir_all(dir.join("out/deep")).unwrap();
        for name in ["b.txt", "a.txt", "out/c.txt", "out/deep/d.txt"] {
            fs::write(dir.join(name), name).unwrap();
        }
    };
    let (kept, faults) = check(make, &["./b.txt", "*.txt", "out/**"]);
    assert_eq!(kept, ["b.txt", "a.txt", "out/c.txt", "out/deep/d.txt"]);
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_kept() {
    let (kept, faults) = check(|dir| fs::write(dir.join("a"), "a").unwrap(), &["x", "a", "y*", "z/a"]);
    assert_eq!(kept, ["a"]);
    let expected =
        ["artifact `x` is missing", "artifact `y*` is missing: no file matches", "artifact `z/a` is missing"];
    assert_eq!(faults, expected);
}

#[test]
fn nothing_but_a_regular_file_of_the_folder_is_kept() {
    let make = |dir: &Path| {
        symlink("/etc/hostname", dir.join("link")).unwrap();
        symlink("/etc", dir.join("folder")).unwrap();
        fs::hard_link(dir.join("../outside"), dir.join("hard")).unwrap();
        fs::create_dir(dir.join("sub")).unwrap();
        File::create(dir.join("big")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        fs::write(dir.join("Aux.txt"), "").unwrap();
        fs::write(dir.join("a\nb"), "").unwrap();
    };
    let named = [
        "link",
        "folder/hostname",
        "hard",
        "sub",
        "big",
        "Aux.txt",
        "a\nb",
        "../outside",
        "/etc/hostname",
        "a\0b",
        ".",
    ];
    let (kept, faults) = check(make, &named);
    assert_eq!((kept.len(), faults.len()), (0, named.len()), "{kept:?} {faults:?}");
    // A pattern passes over what is no file of its own, and still refuses what only looks like one.
    let (kept, faults) = check(make, &["l*", "f*/**"]);
    assert_eq!((kept.len(), faults.len()), (0, 2), "{kept:?} {faults:?}");
}

#[test]
fn a_file_whose_other_names_are_in_the_folder_too_is_kept() {
    let make = |dir: &Path| {
        fs::write(dir.join("a"), "a").unwrap();
        fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
    };
    assert_eq!(check(make, &["a"]).0, ["a"]);
}

#[test]
fn together_they_may_hold_no_more_than_the_limit() {
    let make = |dir: &Path| {
        File::create(dir.join("a")).unwrap().set_len(MOST_BYTES - 1).unwrap();
        fs::write(dir.join("b"), "bb").unwrap();
    };
    let mut keeper_room = 0;
    let root = tempfile::tempdir().unwrap();
    make(root.path());
    let mut keeper = Keeper {
        dir: root.path(),
        root: File::open(root.path()).unwrap().into(),
        into: root.path(),
        room: MOST_BYTES,
        links: None,
        collected: Collected { kept: Vec::new(), faults: Vec::new() },
    };
    for name in ["a", "b"] {
        match keeper.open(Path::new(name)) {
            Ok((_, size)) => keeper.room -= size,
            Err(why) => {
                assert!(why.contains("1 GiB") && name == "b", "{name}: {why}");
                keeper_room = keeper.room;
            }
        }
    }
    assert_eq!(keeper_room, 1);
}

#[test]
fn no_pattern_reaches_what_is_gits_or_flows_however_deep() {
    let make = |dir: &Path| {
        for folder in [".git", ".flow", "sub/.git", "sub/.flow"] {
            fs::create_dir_all(dir.join(folder)).unwrap();
            fs::write(dir.join(folder).join("own.txt"), "").unwrap();
        }
        fs::write(dir.join("sub/work.txt"), "").unwrap();
    };
    let (kept, faults) = check(make, &["**/*.txt", ".flow/*.txt"]);
    assert_eq!(kept, ["sub/work.txt"]);
    assert_eq!(faults, ["artifact `.flow/*.txt` is missing: no file matches"]);
}
