//! The filters, tests and functions of the language, and what to say of others.

use crate::text::did_you_mean;

/// Every filter.
pub(super) const FILTERS: &[&str] = &[
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "file",
    "first",
    "flatten",
    "float",
    "format",
    "fromjson",
    "groupby",
    "head",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "notifications",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "tail",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

/// Filters of minijinja that flow doesn't have: they are about HTML, or print internals.
pub(super) const REMOVED_FILTERS: &[&str] = &["e", "escape", "pprint", "safe"];

/// Filters that take text: whatever they are given becomes text by flow's rules first.
pub(super) const TEXT_FILTERS: &[&str] =
    &["capitalize", "head", "indent", "lines", "lower", "replace", "split", "tail", "title", "trim", "upper"];

/// Every test.
pub(super) const TESTS: &[&str] = &[
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "even",
    "false",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "null",
    "number",
    "odd",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "true",
    "undefined",
    "upper",
];

/// Tests of minijinja that flow doesn't have.
pub(super) const REMOVED_TESTS: &[&str] = &["escaped", "filter", "safe", "test"];

/// Operators that can be named where a test is named by text, as in `selectattr("n", ">", 3)`.
pub(super) const OPERATOR_TESTS: &[&str] = &["==", "!=", "<", "<=", ">", ">="];

/// Every function.
pub(super) const FUNCTIONS: &[&str] =
    &["always", "cancelled", "dict", "failure", "namespace", "range", "success"];

/// Functions that ask how the run stands.
pub(super) const STATUS: &[&str] = &["always", "cancelled", "failure", "success"];

/// What of the language a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Filter,
    Test,
    Function,
    Method,
}

impl Kind {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Filter => "filter",
            Kind::Test => "test",
            Kind::Function => "function",
            Kind::Method => "method",
        }
    }

    fn known(self) -> &'static [&'static str] {
        match self {
            Kind::Filter => FILTERS,
            Kind::Test => TESTS,
            Kind::Function => FUNCTIONS,
            Kind::Method => &[],
        }
    }
}

/// What to do about an unknown name.
pub(super) fn help_for(kind: Kind, name: &str) -> Option<String> {
    let foreign = match (kind, name) {
        (Kind::Function | Kind::Filter, "contains") => "write `needle in haystack`",
        (Kind::Function | Kind::Filter, "startsWith" | "startswith") => {
            "write `text is startingwith(\"prefix\")`"
        }
        (Kind::Function | Kind::Filter, "endsWith" | "endswith") => "write `text is endingwith(\"suffix\")`",
        (Kind::Method, "startswith" | "startsWith") => "write `text is startingwith(\"prefix\")`",
        (Kind::Method, "endswith" | "endsWith") => "write `text is endingwith(\"suffix\")`",
        (Kind::Function | Kind::Filter, "toJSON" | "toJson" | "to_json") => "write `value | tojson`",
        (Kind::Function | Kind::Filter, "fromJSON" | "fromJson" | "from_json") => "write `text | fromjson`",
        (Kind::Function, "len") => "write `value | length`",
        (Kind::Function, "hashFiles") => "run a shell task that prints the hash",
        (Kind::Filter, "e" | "escape" | "safe") => "values are never escaped; leave it out",
        (Kind::Filter, "pprint") | (Kind::Function, "debug") => "write `value | tojson`",
        (Kind::Method, "get") => "write `value[\"key\"] | default(…)`",
        _ => "",
    };
    if !foreign.is_empty() {
        return Some(foreign.to_owned());
    }
    if matches!(kind, Kind::Function | Kind::Method) && FILTERS.contains(&name) {
        return Some(format!("`{name}` is a filter: write `value | {name}`"));
    }
    if kind == Kind::Method {
        return Some("values have no methods; there are filters, as in `value | length`".to_owned());
    }
    did_you_mean(name, kind.known().iter().copied()).map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
