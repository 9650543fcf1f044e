//! A folder of files, and what was found in it in a form that is easy to compare.

use std::path::PathBuf;

use tempfile::TempDir;

use super::{Dirs, Project};

/// Files in a temporary folder, with a person's and a machine's folders beside the project.
pub(super) struct Place {
    _folder: TempDir,
    pub(super) top: PathBuf,
}

impl Place {
    pub(super) fn new(files: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("p")).unwrap();
        let place = Place { _folder: folder, top };
        for file in files {
            place.write(file, &format!("# {file}\n"));
        }
        place
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.top.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn project(&self, start: &str) -> Project {
        Project::locate(&self.top.join(start), None)
    }

    pub(super) fn dirs(&self) -> Dirs {
        let at = |name: &str| Some(self.top.join(name));
        Dirs { home: at("home"), config: at("home/.config"), policy: at("policy") }
    }
}
