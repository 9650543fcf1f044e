use flow_core::wire::api;

use super::*;

/// Which variable the key of a provider comes from, or what it gets instead.
fn check(layer: SettingsLayer, base_url: Option<&str>, api_key_env: Option<&str>, key: &str) {
    let settings = ProviderSettings {
        kind: ProviderKind("anthropic"),
        base_url: base_url.map(str::to_owned),
        api_key_env: api_key_env.map(str::to_owned),
        max_concurrent: None,
        allow_local: false,
        layer,
    };
    let endpoint =
        Endpoint::new("p", api(settings.kind.0).unwrap(), &settings, "m", &|_| Some(" k \n".to_owned()))
            .unwrap();
    assert_eq!(format!("{:?}", endpoint.key), key, "{layer:?} {base_url:?} {api_key_env:?}");
    if let Key::Held { value, .. } = endpoint.key {
        assert_eq!(value, "k");
    }
}

#[test]
fn the_vendor_s_own_host_gets_the_vendor_s_key() {
    for layer in [SettingsLayer::User, SettingsLayer::Repository, SettingsLayer::Policy] {
        check(layer, None, None, "Held(ANTHROPIC_API_KEY)");
        check(layer, Some("https://api.anthropic.com/"), None, "Held(ANTHROPIC_API_KEY)");
    }
    check(SettingsLayer::User, None, Some("MY_KEY"), "Held(MY_KEY)");
}

#[test]
fn another_host_gets_the_key_that_a_person_named_for_it() {
    check(SettingsLayer::User, Some("https://proxy.example"), Some("MY_KEY"), "Held(MY_KEY)");
    check(SettingsLayer::Policy, Some("https://proxy.example"), Some("MY_KEY"), "Held(MY_KEY)");
    check(SettingsLayer::User, Some("https://proxy.example"), None, "None");
    check(SettingsLayer::User, Some("https://api.anthropic.com:444"), None, "None");
}

#[test]
fn a_repository_binds_no_key() {
    check(SettingsLayer::Repository, Some("https://proxy.example"), Some("MY_KEY"), "Unbound");
    check(SettingsLayer::Repository, Some("https://api.anthropic.com.evil.example"), None, "Unbound");
    check(SettingsLayer::Repository, None, Some("GITHUB_TOKEN"), "Held(ANTHROPIC_API_KEY)");
}

#[test]
fn a_slash_at_the_end_of_the_base_changes_nothing() {
    for base in ["https://proxy.example/v1", "https://proxy.example/v1/"] {
        let settings =
            ProviderSettings { base_url: Some(base.to_owned()), ..vendor_settings(ProviderKind("openai")) };
        let endpoint = Endpoint::new("p", api(settings.kind.0).unwrap(), &settings, "m", &|_| None).unwrap();
        assert_eq!(endpoint.url.as_str(), "https://proxy.example/v1/chat/completions");
    }
}

#[tokio::test]
async fn a_public_name_that_stands_for_this_machine_is_not_asked() {
    let resolve = |host: &str, reach| Guarded { host: host.to_owned(), reach };
    let name = || "localhost".parse::<Name>().unwrap();
    let refused = resolve("localhost", Reach::Public).resolve(name()).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("private address")));
    assert!(resolve("localhost", Reach::Loopback).resolve(name()).await.is_ok());
    // A proxy's name is not the provider's.
    assert!(resolve("api.example", Reach::Public).resolve(name()).await.is_ok());
}

#[test]
fn whoever_holds_a_key_hides_its_memory_and_environment() {
    use rustix::process::{DumpableBehavior, dumpable_behavior};
    check(SettingsLayer::User, None, None, "Held(ANTHROPIC_API_KEY)");
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
}

#[test]
fn a_client_for_https_can_be_made() {
    let settings = ProviderSettings {
        base_url: Some("https://proxy.example".to_owned()),
        ..vendor_settings(ProviderKind("openai"))
    };
    assert!(
        Endpoint::new("p", api(settings.kind.0).unwrap(), &settings, "m", &|_| None)
            .unwrap()
            .client()
            .is_ok()
    );
}
