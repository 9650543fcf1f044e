//! Names that mean a model without any flow.toml.

use flow_core::model::ProviderKind;

/// Short names and the ids behind them, as Anthropic has them in November 2026.
pub(super) const ALIASES: &[(&str, &str)] =
    &[("sonnet", "claude-sonnet-5-5"), ("opus", "claude-opus-5-5"), ("haiku", "claude-haiku-5-5")];

/// The middle model of each vendor, which stands in where nothing is configured.
pub(super) fn middle_model(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Anthropic => "sonnet",
        ProviderKind::Openai => "gpt-5.4",
    }
}

/// The vendors, by the names that they have as providers.
pub(super) const VENDORS: &[(&str, ProviderKind)] =
    &[("anthropic", ProviderKind::Anthropic), ("openai", ProviderKind::Openai)];

/// The vendor whose model ids begin like this one.
pub(super) fn vendor_of(model: &str) -> Option<&'static str> {
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if model.starts_with("claude-") {
        Some("anthropic")
    } else if model.starts_with("gpt-")
        || model.starts_with("chatgpt-")
        || model.strip_prefix('o').is_some_and(numbered)
    {
        Some("openai")
    } else {
        None
    }
}

#[cfg(test)]
#[path = "alias_tests.rs"]
mod tests;
