//! A project in a temporary folder, of nobody's home.

use flow_core::compile::Purpose;
use tempfile::TempDir;

use super::{Engine, PlanRequest, ProjectOptions};
use crate::load::Dirs;

/// A project and its engine.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) engine: Engine,
}

impl Place {
    /// A project with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let directory = Some(folder.path().to_owned());
        let options = ProjectOptions { directory, dirs: Some(Dirs::default()), ..ProjectOptions::default() };
        Place { engine: Engine::open(options).unwrap(), folder }
    }

    /// `plan.yaml`, to be run as it is.
    pub(crate) fn request(&self) -> PlanRequest {
        PlanRequest {
            plan: "plan.yaml".to_owned(),
            inputs: Vec::new(),
            inputs_file: None,
            purpose: Purpose::Run,
        }
    }
}
