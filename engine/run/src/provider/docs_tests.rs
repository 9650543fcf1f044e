use flow_core::compile::{SettingsText, settings};
use flow_core::diagnostic::SourceFile;
use flow_core::model::{ModelTarget, SettingsLayer};
use flow_core::wire::{APIS, aliases};

use super::gate::DEFAULT_MAX;

/// Every flow.toml that people copy.
const COPIED: &[&str] = &[
    include_str!("../../../cli/init/flow.toml"),
    include_str!("../../../../examples/quickstart/flow.toml"),
    include_str!("../../../../examples/review/flow.toml"),
    include_str!("../../../../examples/fix-flaky/flow.toml"),
];

#[test]
fn settings_that_people_copy_name_the_models_that_are_built_in_and_no_others() {
    let built_in: Vec<&str> =
        aliases().map(|(alias, ..)| alias).chain(APIS.iter().map(|api| api.middle_model)).collect();
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

#[test]
fn the_page_about_models_says_what_is_built_in() {
    let page = include_str!("../../../docs/models.md");
    let has = |text: String| assert!(page.contains(&text), "engine/docs/models.md lacks: {text}");
    for (alias, api, id) in aliases() {
        has(format!("| `{alias}` | `{}/{id}` |", api.kind.0));
    }
    for api in APIS {
        has(format!("| `{}` | `{}` | `{}` | `{}` |", api.kind.0, api.default_base, api.path, api.key_env));
    }
    let (first, others) = APIS.split_first().unwrap();
    has(format!("with `{}` set `{}`", first.key_env, first.middle_model));
    for api in others {
        has(format!(", with `{}` `{}`", api.key_env, api.middle_model));
    }
    has(format!("At most {DEFAULT_MAX} requests at once"));
}
