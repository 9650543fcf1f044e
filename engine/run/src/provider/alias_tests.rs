use flow_core::compile::{SettingsText, settings};
use flow_core::diagnostic::SourceFile;
use flow_core::model::{ModelTarget, SettingsLayer};

use super::*;

/// Every flow.toml that people copy.
const COPIED: &[&str] = &[
    include_str!("../../../cli/init/flow.toml"),
    include_str!("../../../../examples/quickstart/flow.toml"),
    include_str!("../../../../examples/review/flow.toml"),
    include_str!("../../../../examples/fix-flaky/flow.toml"),
];

#[test]
fn settings_that_people_copy_name_the_models_that_are_built_in_and_no_others() {
    let built_in: Vec<&str> = ALIASES
        .iter()
        .map(|(alias, _)| *alias)
        .chain(VENDORS.iter().map(|(_, kind)| middle_model(*kind)))
        .collect();
    for text in COPIED {
        let file = SourceFile::new("flow.toml", *text).into();
        let layer = SettingsText { layer: SettingsLayer::Repository, dir: String::new(), file };
        let (settings, findings) = settings(vec![layer], "flow.toml");
        assert_eq!(findings, []);
        for target in settings.models.values().flat_map(|choice| &choice.targets) {
            let ModelTarget::Named(name) = target else { continue };
            let known = built_in.contains(&&**name) || settings.models.contains_key(name);
            assert!(known, "`{name}` is none of {built_in:?}");
        }
    }
}
