use super::super::testing::Middle;
use super::*;
use crate::compile::testing::Trial;

const TOKEN: &str = "s3cret-value";

/// The variable `V` of a task, written so, as the attempt carries it and as whoever runs it opens it.
fn carried(value: &str) -> (Sealed, String) {
    let text = format!(
        "secrets: [TOKEN]\nenv: {{ AUTH: \"Bearer ${{{{ secrets.TOKEN }}}}\", LEN: \"${{{{ secrets.TOKEN | length }}}}\" }}\n\
         tasks:\n  t: {{ run: x, env: {{ V: \"{value}\" }} }}\n"
    );
    let run = Middle::compiled(Trial::of(&text).env("TOKEN", TOKEN)).env("TOKEN", TOKEN);
    let value = run.work("t").unwrap().env["V"].clone();
    let opened = value.open(|name| run.variable(name)).unwrap().into_owned();
    (value, opened)
}

#[test]
fn a_secret_is_carried_by_its_name_and_opens_to_its_value() {
    for (written, named, opened) in [
        ("${{ secrets.TOKEN }}", "\0TOKEN\0", "s3cret-value"),
        (
            "a ${{ secrets.TOKEN }} b${{ secrets.TOKEN }}",
            "a \0TOKEN\0 b\0TOKEN\0",
            "a s3cret-value bs3cret-value",
        ),
        ("${{ env.AUTH }}!", "Bearer \0TOKEN\0!", "Bearer s3cret-value!"),
        ("${{ secrets.TOKEN | default('none') }}", "\0TOKEN\0", "s3cret-value"),
    ] {
        assert_eq!(carried(written), (Sealed::Named(named.to_owned()), opened.to_owned()), "{written}");
    }
    assert_eq!(carried("plain"), (Sealed::Plain("plain".to_owned()), "plain".to_owned()));
}

#[test]
fn what_is_computed_from_a_secret_opens_to_its_value_and_can_not_be_written_down() {
    for (written, opened) in [
        ("${{ secrets.TOKEN | length }}", "12"),
        ("${{ secrets.TOKEN | upper }}", "S3CRET-VALUE"),
        ("${{ secrets.TOKEN[:2] }}", "s3"),
        ("${{ env.LEN }}", "12"),
        ("${{ 'is set' if secrets.TOKEN == 's3cret-value' else 'is not' }}", "is set"),
    ] {
        let (value, text) = carried(written);
        assert_eq!((&value, &*text), (&Sealed::Computed(opened.to_owned()), opened), "{written}");
        let error = serde_json::to_string(&value).unwrap_err().to_string();
        assert_eq!(error, "a value that is computed from a secret can't be carried by the secret's name");
        assert!(!format!("{value:?}").contains(opened), "{value:?}");
    }
}

#[test]
fn a_secret_that_is_not_there_is_named() {
    let value = Sealed::Named("Bearer \0TOKEN\0".to_owned());
    assert_eq!(value.open(|_| None), Err(MissingSecret("TOKEN".to_owned())));
}
