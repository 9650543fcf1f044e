use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::testing::{read, write};
use super::*;

/// An enclosing tree, and a folder with what its files are to become.
struct Trial {
    folder: tempfile::TempDir,
}

impl Trial {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::TempDir::new().unwrap();
        for name in ["tree", "new"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let trial = Trial { folder };
        files.iter().for_each(|(path, text)| write(&trial.tree(), path, text));
        trial
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn landing(&self) -> PathBuf {
        self.folder.path().join("landing")
    }

    /// A change from what the tree has now.
    fn change(&self, path: &str, to: Option<&str>) -> Change {
        let content = self.folder.path().join("new").join(path);
        if let Some(text) = to {
            write(&self.folder.path().join("new"), path, text);
        }
        Change {
            path: path.into(),
            from: Version::of(&self.tree().join(path)).unwrap().filter(|found| found.kind != Kind::Folder),
            to: to.and_then(|_| Version::of(&content).unwrap()),
            content,
            submodule: false,
        }
    }

    fn state(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.tree()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.symlink_metadata().unwrap().is_dir() {
                    folders.push(path);
                } else {
                    files.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

fn conflicts(found: Result<Vec<Change>, Conflicts>) -> Vec<(String, ConflictKind)> {
    let found = found.unwrap_err();
    found.into_iter().map(|(path, kind)| (path.display().to_string(), kind)).collect()
}

#[test]
fn every_kind_of_change_is_written_and_nothing_is_left_beside() {
    let trial = Trial::new(&[("a", "1"), ("gone/deep/b", "2"), ("was_file", "3"), ("was_dir/c", "4")]);
    std::fs::set_permissions(trial.tree().join("a"), PermissionsExt::from_mode(0o755)).unwrap();
    write(&trial.folder.path().join("new"), "link", "");
    let changes = vec![
        trial.change("a", Some("one")),
        trial.change("gone/deep/b", None),
        trial.change("was_file", None),
        trial.change("was_file/inside", Some("x")),
        trial.change("was_dir/c", None),
        trial.change("was_dir", Some("y")),
        trial.change("new/deep/d", Some("z")),
    ];
    let changes = check(&trial.tree(), changes).unwrap().unwrap();
    Landing::land(&trial.landing(), &trial.tree(), &changes).unwrap();
    let tree = trial.tree();
    assert_eq!((read(tree.join("a")), read(tree.join("was_file/inside"))), ("one".into(), "x".into()));
    assert_eq!((read(tree.join("was_dir")), read(tree.join("new/deep/d"))), ("y".into(), "z".into()));
    assert!(!tree.join("gone").exists() && !trial.landing().exists());
    assert_eq!(trial.state().len(), 4);
}

#[test]
fn what_the_person_changed_is_a_conflict_and_nothing_is_written() {
    let trial = Trial::new(&[("a", "1"), ("b", "2"), ("same", "3")]);
    let changes = vec![
        trial.change("a", Some("one")),
        trial.change("b", Some("two")),
        trial.change("fresh", Some("x")),
        trial.change("same", Some("three")),
    ];
    write(&trial.tree(), "b", "mine");
    write(&trial.tree(), "fresh", "mine too");
    write(&trial.tree(), "same", "three");
    let before = trial.state();
    let changed = ConflictKind::Changed;
    let found = check(&trial.tree(), changes).unwrap();
    assert_eq!(conflicts(found), [("b".to_owned(), changed), ("fresh".to_owned(), changed)]);
    assert_eq!(trial.state(), before);
}

#[test]
fn nothing_is_written_through_a_link_or_into_what_is_gits_or_flows() {
    let trial = Trial::new(&[("real/a", "1")]);
    symlink(trial.folder.path().join("new"), trial.tree().join("out")).unwrap();
    let changes = [".git/hooks/x", "sub/.GIT/config", ".flow/x", "out/x", "real/a/b"]
        .map(|path| Change { path: path.into(), ..trial.change("fresh", Some("x")) });
    let found = conflicts(check(&trial.tree(), changes.into()).unwrap());
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().all(|(_, kind)| *kind == ConflictKind::Protected));
}

#[test]
fn a_crash_after_any_number_of_files_is_undone() {
    let files = [("a", "1"), ("b/c", "2"), ("d", "3"), ("e/f", "4")];
    let changes = |trial: &Trial| {
        vec![
            trial.change("b/c", None),
            trial.change("d", None),
            trial.change("d/now_a_folder", Some("5")),
            trial.change("a", Some("one")),
            trial.change("new/file", Some("six")),
            trial.change("e/f", Some("four")),
        ]
    };
    for written in 0..=6 {
        let trial = Trial::new(&files);
        let before = trial.state();
        let changes = changes(&trial);
        let landing = Landing::begin(&trial.landing(), &trial.tree(), &changes, None).unwrap();
        // The engine dies after so many files, and leaves one half written beside its place.
        landing.write(&trial.tree(), &changes[..written]).unwrap();
        std::fs::write(landing.beside(&trial.tree().join("a"), 3), "ha").unwrap();
        drop(landing);
        let landing = Landing::left_behind(&trial.landing()).unwrap().unwrap();
        landing.undo().unwrap();
        landing.done().unwrap();
        assert_eq!(trial.state(), before, "after {written} files");
        assert!(Landing::left_behind(&trial.landing()).unwrap().is_none());
    }
}

#[test]
fn undoing_leaves_what_somebody_changed_since() {
    let trial = Trial::new(&[("a", "1"), ("b", "2")]);
    let changes = vec![trial.change("a", Some("one")), trial.change("b", Some("two"))];
    let landing = Landing::begin(&trial.landing(), &trial.tree(), &changes, None).unwrap();
    landing.write(&trial.tree(), &changes).unwrap();
    write(&trial.tree(), "a", "mine");
    landing.undo().unwrap();
    assert_eq!((read(trial.tree().join("a")), read(trial.tree().join("b"))), ("mine".into(), "2".into()));
}

#[test]
fn a_write_that_fails_puts_everything_back() {
    let trial = Trial::new(&[("a", "1"), ("b", "2")]);
    let before = trial.state();
    let mut changes = vec![trial.change("a", Some("one")), trial.change("b", Some("two"))];
    changes[1].content = trial.folder.path().join("vanished");
    assert!(Landing::land(&trial.landing(), &trial.tree(), &changes).is_err());
    assert_eq!(trial.state(), before);
    assert!(!trial.landing().exists());
}

#[test]
fn a_landing_that_had_not_begun_is_none() {
    let trial = Trial::new(&[]);
    std::fs::create_dir(trial.landing()).unwrap();
    std::fs::write(trial.landing().join("0"), "half").unwrap();
    assert!(Landing::left_behind(&trial.landing()).unwrap().is_none());
}

#[test]
fn a_file_changed_between_the_look_and_the_write_stays_and_the_rest_is_put_back() {
    let trial = Trial::new(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let changes =
        vec![trial.change("a", Some("one")), trial.change("c", None), trial.change("b", Some("two"))];
    let changes = check(&trial.tree(), changes).unwrap().unwrap();
    write(&trial.tree(), "b", "mine");
    let before = trial.state();
    let error = Landing::land(&trial.landing(), &trial.tree(), &changes).unwrap_err();
    assert_eq!(error.reason(), flow_core::model::Reason::MergeConflict);
    assert_eq!(trial.state(), before);
}
