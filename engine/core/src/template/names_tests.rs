use super::super::{Context, Template};
use super::*;

#[test]
fn every_listed_name_exists() {
    let message = |source: String| {
        let template = Template::expression(&source).unwrap();
        template.value(&Context::new()).err().map(|error| error.message).unwrap_or_default()
    };
    for filter in FILTERS {
        let error = message(format!("['x'] | map('{filter}') | list"));
        assert!(!error.contains("unknown"), "{filter}: {error}");
    }
    for test in TESTS.iter().chain(OPERATOR_TESTS) {
        let error = message(format!("['x'] | select('{test}') | list"));
        assert!(!error.contains("unknown"), "{test}: {error}");
    }
    for function in FUNCTIONS {
        let error = message(format!("{function}()"));
        assert!(!error.contains("unknown"), "{function}: {error}");
    }
}

#[test]
fn names_that_are_left_out_are_gone_at_run_time_too() {
    let mut context = Context::new();
    for filter in REMOVED_FILTERS {
        context.set("name", (*filter).into());
        let template = Template::expression("['x'] | map(name) | list").unwrap();
        let error = template.value(&context).unwrap_err().message;
        assert!(error.contains("unknown filter"), "{filter}: {error}");
    }
    for test in REMOVED_TESTS {
        context.set("name", (*test).into());
        let template = Template::expression("['x'] | select(name) | list").unwrap();
        let error = template.value(&context).unwrap_err().message;
        assert!(error.contains("unknown test"), "{test}: {error}");
    }
}

#[test]
fn tables_are_sorted() {
    for table in [FILTERS, TESTS, FUNCTIONS, TEXT_FILTERS] {
        assert!(table.is_sorted());
    }
}
