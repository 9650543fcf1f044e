use std::sync::Arc;

use super::super::{Code, SourceFile, Span};
use super::*;

#[test]
fn a_finding_says_its_place_its_help_and_what_else_it_points_at() {
    let file = Arc::new(SourceFile::new("plan.yaml", "a: 1\na: 2\n"));
    let found = Diagnostic::new(Code::DuplicateKey, &file, Span::new(5, 6), "`a` is written twice")
        .label(&file, Span::new(0, 1), "first here")
        .help("take one of them out");
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        concat!(
            r#"{"code":"F0107","severity":"error","message":"`a` is written twice","#,
            r#""file":"plan.yaml","line":2,"column":1,"help":"take one of them out","#,
            r#""related":[{"file":"plan.yaml","line":1,"column":1,"message":"first here"}]}"#
        )
    );
}

#[test]
fn a_finding_about_no_text_has_no_place() {
    let found = Diagnostic::at_no_place(Code::OtherModel, "m");
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.ends_with(r#""severity":"warning","message":"m"}"#), "{text}");
}
