//! What the attempts of a run share on this machine.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use flow_core::model::Reason;
use flow_core::values::{Facts, Sealed};

use super::site::{Refused, refused};
use crate::execute::Mask;
use crate::provider::Providers;
use crate::store::{RunFolder, SlotFiles, Slots};
use crate::workspace::Trees;

/// This machine, as the attempts of one run see it.
pub struct Host {
    pub(super) facts: Arc<Facts>,
    pub(super) folder: Arc<RunFolder>,
    pub(super) trees: Arc<Trees>,
    pub(super) providers: Arc<Providers>,
    /// What hides the run's secrets; every attempt may come by one, through a file as well as through `env`.
    pub(super) mask: Option<Arc<Mask>>,
    slots: Mutex<Slots>,
}

impl Host {
    /// The machine. `secrets`: the names of the variables whose values nothing may show.
    pub fn new(
        facts: Arc<Facts>,
        folder: Arc<RunFolder>,
        trees: Arc<Trees>,
        providers: Arc<Providers>,
        secrets: &[String],
        slots: u32,
    ) -> Self {
        let values = secrets.iter().filter_map(|name| facts.env.get(name));
        let mask = (!secrets.is_empty()).then(|| Arc::new(Mask::new(values.map(String::as_str))));
        Host { slots: Mutex::new(Slots::new(&folder, slots)), facts, folder, trees, providers, mask }
    }

    /// The project.
    pub(super) fn root(&self) -> &Path {
        Path::new(&self.facts.root)
    }

    /// A value with the secrets of this machine in their places.
    pub(super) fn open(&self, value: &Sealed) -> Result<String, Refused> {
        let secret = |name: &str| self.facts.env.get(name).map(String::as_str);
        let opened = value.open(secret).map_err(|error| refused(Reason::Resource, error.to_string()))?;
        Ok(opened.into_owned())
    }

    /// The text without the run's secrets.
    pub(super) fn masked(&self, text: String) -> String {
        match &self.mask {
            Some(mask) => mask.apply(&text).into_owned(),
            None => text,
        }
    }

    /// The output files of a slot.
    pub(super) fn output_files(&self, slot: u32) -> Result<SlotFiles, Refused> {
        let opened = self.slots.lock().unwrap_or_else(PoisonError::into_inner).open(slot);
        opened.map_err(|error| {
            refused(Reason::Resource, format!("can't open the output files of slot {slot}: {error}"))
        })
    }
}
