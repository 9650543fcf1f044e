use flow_core::model::SettingsLayer;
use indexmap::IndexMap;

use super::*;

/// Which model a name stands for, or why none.
struct Given {
    models: IndexMap<String, ModelChoice>,
    providers: IndexMap<String, ProviderSettings>,
    keys: Vec<&'static str>,
    flag: Option<&'static str>,
    folder: tempfile::TempDir,
}

impl Given {
    fn keys(keys: &[&'static str]) -> Self {
        Given {
            models: IndexMap::new(),
            providers: IndexMap::new(),
            keys: keys.to_vec(),
            flag: None,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn alias(self, name: &str, targets: &[ModelTarget]) -> Self {
        self.layer(SettingsLayer::User, name, targets)
    }

    /// What another flow.toml says, stronger than those before.
    fn layer(mut self, layer: SettingsLayer, name: &str, targets: &[ModelTarget]) -> Self {
        let dir = self.folder.path().to_string_lossy().into_owned();
        let weaker = self.models.shift_remove(name).map(Box::new);
        let choice = ModelChoice { targets: targets.to_vec(), dir, layer, weaker };
        self.models.insert(name.to_owned(), choice);
        self
    }

    fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    fn provider(mut self, name: &str, base_url: &str, layer: SettingsLayer) -> Self {
        let settings = ProviderSettings {
            kind: flow_core::model::ProviderKind("openai"),
            base_url: Some(base_url.to_owned()),
            api_key_env: None,
            max_concurrent: Some(2),
            allow_local: false,
            layer,
        };
        self.providers.insert(name.to_owned(), settings);
        self
    }

    fn flag(mut self, model: &'static str) -> Self {
        self.flag = Some(model);
        self
    }

    /// What a plan gets that wishes this.
    fn resolve(self, wanted: Option<&str>, script: Option<&str>) -> Result<String, ProviderError> {
        self.choose(wanted.map_or(ModelWish::Default, ModelWish::Plan), script)
            .map(|chosen| chosen.model.name())
    }

    fn choose(self, wish: ModelWish<&str>, script: Option<&str>) -> Result<Chosen, ProviderError> {
        let keys = self.keys;
        let config = ProviderConfig {
            settings: Settings { models: self.models, providers: self.providers, ..Settings::default() },
            script: script.map(|script| self.folder.path().join(script)),
            model: self.flag.map(str::to_owned),
            env: Box::new(move |name| keys.contains(&name).then(|| "key".to_owned())),
        };
        Providers::new(config)?.resolve(wish)
    }

    fn gives(self, wanted: Option<&str>, model: &str) {
        assert_eq!(self.resolve(wanted, None).unwrap(), model);
    }

    fn fails(self, wanted: Option<&str>, message: &str) {
        let error = self.resolve(wanted, None).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        let help = error.help().unwrap_or_default();
        assert!(!help.ends_with('.'), "{help}");
    }
}

const BOTH: &[&str] = &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];

fn named(name: &str) -> ModelTarget {
    ModelTarget::Named(name.to_owned())
}

fn script(file: &str) -> ModelTarget {
    ModelTarget::Script(file.to_owned())
}

#[test]
fn built_in_aliases_are_models_of_anthropic() {
    for (alias, _, id) in aliases() {
        Given::keys(BOTH).gives(Some(alias), &format!("anthropic/{id}"));
        assert!(id.starts_with(&format!("claude-{alias}")), "{id}");
    }
}

#[test]
fn an_id_goes_to_the_vendor_that_names_its_models_so() {
    Given::keys(BOTH).gives(Some("claude-x"), "anthropic/claude-x");
    Given::keys(BOTH).gives(Some("gpt-9"), "openai/gpt-9");
    Given::keys(BOTH).gives(Some("o3-mini"), "openai/o3-mini");
    Given::keys(BOTH).gives(Some("openai/any"), "openai/any");
    Given::keys(BOTH).fails(Some("opal"), "no provider is known for the model `opal`");
}

#[test]
fn a_provider_of_flow_toml_takes_ids_with_slashes() {
    let given = Given::keys(BOTH).provider("router", "https://router.example/v1", SettingsLayer::User);
    given.gives(Some("router/anthropic/claude-x"), "router/anthropic/claude-x");
    let given = Given::keys(BOTH).provider("router", "https://router.example/v1", SettingsLayer::User);
    let error = given.resolve(Some("rooter/x"), None).unwrap_err();
    assert_eq!(error.help().unwrap(), "did you mean `router`?");
}

#[test]
fn the_flag_goes_before_what_a_task_wants() {
    Given::keys(BOTH).flag("gpt-9").gives(Some("sonnet"), "openai/gpt-9");
    Given::keys(BOTH).flag("gpt-9").gives(None, "openai/gpt-9");
}

#[test]
fn without_a_wish_the_default_decides_then_the_first_key() {
    let given = || Given::keys(BOTH).alias("default", &[named("haiku")]);
    given().gives(None, "anthropic/claude-haiku-5-5");
    given().gives(Some("inherit"), "anthropic/claude-haiku-5-5");
    given().gives(Some("opus"), "anthropic/claude-opus-5-5");
    Given::keys(BOTH).gives(None, "anthropic/claude-sonnet-5-5");
    Given::keys(&["OPENAI_API_KEY"]).gives(None, "openai/gpt-5.4");
    Given::keys(&[]).fails(None, "no model is configured");
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let error = Given::keys(&[]).resolve(Some("sonnet"), None).unwrap_err();
    assert_eq!(error.to_string(), "`ANTHROPIC_API_KEY` is not set, so the model `sonnet` can't be used");
    assert!(error.help().unwrap().contains("--model-script"));
    let error = Given::keys(&[]).resolve(None, None).unwrap_err();
    let help = error.help().unwrap();
    assert!(help.contains("ANTHROPIC_API_KEY") && help.contains("--model-script"), "{help}");
}

#[test]
fn the_first_usable_target_wins() {
    let targets = [named("sonnet"), script("none.yaml"), script("model.yaml")];
    let given =
        |keys| Given::keys(keys).alias("default", &targets).file("model.yaml", "default: [{ say: x }]");
    given(&[]).gives(None, "script/default");
    given(&["ANTHROPIC_API_KEY"]).gives(None, "anthropic/claude-sonnet-5-5");
    let given = Given::keys(&[]).alias("m", &[named("sonnet"), script("none.yaml")]);
    given.fails(
        Some("m"),
        "nothing that the model alias `m` stands for is usable: `ANTHROPIC_API_KEY` is not set",
    );
}

#[test]
fn a_script_that_is_there_and_wrong_is_not_passed_over() {
    let given =
        Given::keys(BOTH).alias("m", &[script("m.yaml"), named("sonnet")]).file("m.yaml", "t: [{ sai: x }]");
    given.fails(Some("m"), "is wrong");
}

#[test]
fn aliases_lead_on_and_a_circle_is_an_error() {
    let given = Given::keys(BOTH).alias("a", &[named("b")]).alias("b", &[named("opus")]);
    given.gives(Some("a"), "anthropic/claude-opus-5-5");
    Given::keys(BOTH)
        .alias("sonnet", &[named("sonnet")])
        .gives(Some("sonnet"), "anthropic/claude-sonnet-5-5");
    Given::keys(BOTH)
        .alias("a", &[named("b")])
        .alias("b", &[named("a")])
        .fails(Some("a"), "leads back to itself");
}

#[test]
fn with_a_script_every_name_is_a_model() {
    let given = || Given::keys(&[]).file("model.yaml", "default: [{ say: x }]");
    assert_eq!(given().resolve(Some("no-such"), Some("model.yaml")).unwrap(), "script/no-such");
    assert_eq!(given().resolve(None, Some("model.yaml")).unwrap(), "script/script");
    let error = given().resolve(None, Some("missing.yaml")).unwrap_err();
    assert!(matches!(error, ProviderError::ReadScript { .. }), "{error}");
}

#[test]
fn a_wrong_address_is_told_with_its_provider() {
    let given = Given::keys(BOTH).provider("p", "http://evil.example", SettingsLayer::Repository);
    given.fails(
        Some("p/x"),
        "`base_url` of the provider `p` can't be used: `evil.example` must be reached over https",
    );
}

#[test]
fn requests_for_one_model_share_a_gate() {
    let config = ProviderConfig {
        settings: Settings::default(),
        script: None,
        model: None,
        env: Box::new(|_| Some("key".to_owned())),
    };
    let providers = Providers::new(config).unwrap();
    let gate = |name: &str| providers.resolve(ModelWish::Plan(name)).unwrap().model.gate;
    assert!(Arc::ptr_eq(&gate("sonnet"), &gate("claude-sonnet-5-5")));
    assert!(!Arc::ptr_eq(&gate("sonnet"), &gate("opus")));
}

/// Whose model answers: each row says what stands in the person's flow.toml and in the repository's, which keys are set,
/// and what an agent gets that wishes nothing, whose definition says `haiku`, and whose task says `haiku`.
#[test]
fn only_a_written_model_yields_and_only_a_definition_falls_back() {
    let own = |targets: &[ModelTarget]| (SettingsLayer::User, targets.to_vec());
    let repo = |targets: &[ModelTarget]| (SettingsLayer::Repository, targets.to_vec());
    let policy = |targets: &[ModelTarget]| (SettingsLayer::Policy, targets.to_vec());
    let demo = || script("model.yaml");
    const NONE: &[&str] = &[];
    const OPENAI: &[&str] = &["OPENAI_API_KEY"];
    let no_haiku = "`ANTHROPIC_API_KEY` is not set, so the model `haiku` can't be used";
    type Row<'a> = (&'a [(SettingsLayer, Vec<ModelTarget>)], &'static [&'static str], [&'a str; 3]);
    let rows: &[Row<'_>] = &[
        // Nothing is said: the key decides, and a definition's alias falls to it.
        (&[], NONE, ["no model is configured", no_haiku, no_haiku]),
        (&[], OPENAI, ["openai/gpt-5.4", "openai/gpt-5.4 instead", no_haiku]),
        (
            &[],
            BOTH,
            ["anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5", "anthropic/claude-haiku-5-5"],
        ),
        // A server of the person's own.
        (&[own(&[named("lab/m")])], NONE, ["lab/m", "lab/m instead", no_haiku]),
        // A real model of the repository goes before the person's, also where the person's could be asked.
        (
            &[own(&[named("lab/m")]), repo(&[named("gpt-9")])],
            OPENAI,
            ["openai/gpt-9", "openai/gpt-9 instead", no_haiku],
        ),
        (
            &[own(&[named("lab/m")]), repo(&[named("gpt-9")])],
            NONE,
            ["`OPENAI_API_KEY` is not set", "`OPENAI_API_KEY` is not set", no_haiku],
        ),
        // A written one of the repository yields to it, wherever it stands in its list.
        (&[own(&[named("lab/m")]), repo(&[demo()])], NONE, ["lab/m", "lab/m instead", no_haiku]),
        (
            &[own(&[named("lab/m")]), repo(&[named("sonnet"), demo()])],
            NONE,
            ["lab/m", "lab/m instead", no_haiku],
        ),
        (
            &[own(&[named("lab/m")]), repo(&[named("sonnet"), demo()])],
            BOTH,
            ["anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5", "anthropic/claude-haiku-5-5"],
        ),
        (
            &[own(&[named("lab/m")]), repo(&[named("gpt-9")]), repo(&[demo()])],
            OPENAI,
            ["openai/gpt-9", "openai/gpt-9 instead", no_haiku],
        ),
        // It does not yield to a model that can't be asked, nor to another written one.
        (&[own(&[named("opus")]), repo(&[demo()])], NONE, ["written", "written instead", no_haiku]),
        (&[own(&[demo()]), repo(&[demo()])], NONE, ["written", "written instead", no_haiku]),
        (&[repo(&[demo()])], OPENAI, ["written", "written instead", no_haiku]),
        // What the person or the machine has written down was asked for.
        (&[own(&[demo()])], BOTH, ["written", "anthropic/claude-haiku-5-5", "anthropic/claude-haiku-5-5"]),
        (&[own(&[named("lab/m")]), policy(&[demo()])], NONE, ["written", "written instead", no_haiku]),
    ];
    for (layers, keys, expected) in rows {
        let wishes = [ModelWish::Default, ModelWish::Definition("haiku"), ModelWish::Plan("haiku")];
        for (wish, expected) in wishes.into_iter().zip(expected) {
            let mut given = Given::keys(keys).file("model.yaml", "default: [{ say: x }]").provider(
                "lab",
                "https://lab.example/v1",
                SettingsLayer::User,
            );
            for (layer, targets) in *layers {
                given = given.layer(*layer, "default", targets);
            }
            let got = match given.choose(wish, None) {
                Ok(Chosen { model, instead_of }) => {
                    let name = if model.written().is_some() { "written".to_owned() } else { model.name() };
                    name + if instead_of.is_some() { " instead" } else { "" }
                }
                Err(error) => error.to_string(),
            };
            assert!(
                got.starts_with(expected),
                "{wish:?} with {keys:?} and {layers:?}: {got}, not {expected}"
            );
            assert_eq!(
                got.ends_with("instead"),
                expected.ends_with("instead"),
                "{wish:?}, {layers:?}: {got}"
            );
        }
    }
}

#[test]
fn a_written_alias_of_the_repository_yields_where_a_definition_names_it() {
    let given = || {
        Given::keys(&[])
            .file("model.yaml", "default: [{ say: x }]")
            .provider("lab", "https://lab.example/v1", SettingsLayer::User)
            .alias("default", &[named("lab/m")])
            .layer(SettingsLayer::Repository, "haiku", &[named("sonnet"), script("model.yaml")])
    };
    let chosen = given().choose(ModelWish::Definition("haiku"), None).unwrap();
    assert_eq!((chosen.model.name().as_str(), chosen.instead_of.is_none()), ("lab/m", true));
    // The plan means this one.
    let chosen = given().choose(ModelWish::Plan("haiku"), None).unwrap();
    let written = chosen.model.written().unwrap();
    assert_eq!(written.lacking, ["ANTHROPIC_API_KEY"]);
    assert!(written.file.ends_with("model.yaml"), "{written:?}");
}

#[test]
fn what_a_person_names_by_a_flag_is_what_they_get() {
    let given = |flag| {
        Given::keys(&[])
            .file("model.yaml", "default: [{ say: x }]")
            .provider("lab", "https://lab.example/v1", SettingsLayer::User)
            .alias("default", &[named("lab/m")])
            .layer(SettingsLayer::Repository, "demo", &[script("model.yaml")])
            .flag(flag)
    };
    assert!(given("demo").choose(ModelWish::Definition("opus"), None).unwrap().model.written().is_some());
    let error = given("haiku").choose(ModelWish::Definition("opus"), None).unwrap_err();
    assert_eq!(
        error.help().unwrap(),
        "set `ANTHROPIC_API_KEY`, or say what it means here: `haiku = \"lab/m\"` under `[models]` in flow.toml"
    );
}

#[test]
fn a_mistake_in_a_definition_s_model_is_told_and_not_passed_over() {
    let given = Given::keys(BOTH).alias("haiku", &[script("m.yaml")]).file("m.yaml", "t: [{ sai: x }]");
    let error = given.choose(ModelWish::Definition("haiku"), None).unwrap_err();
    assert!(matches!(error, ProviderError::BadScript { .. }), "{error}");
    for unknown in ["gizmo", "opusplan", "no-such/provider"] {
        let chosen = Given::keys(BOTH).choose(ModelWish::Definition(unknown), None).unwrap();
        assert_eq!(chosen.model.name(), "anthropic/claude-sonnet-5-5");
        assert!(chosen.instead_of.unwrap().to_string().contains(unknown));
    }
}
