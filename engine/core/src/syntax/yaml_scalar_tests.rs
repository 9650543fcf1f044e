use super::*;

#[test]
fn plain_scalars_follow_the_core_schema() {
    let text = |value: &str| NodeKind::Text { value: value.into(), plain: true };
    for (written, expected) in [
        ("", NodeKind::Null),
        ("~", NodeKind::Null),
        ("null", NodeKind::Null),
        ("True", NodeKind::Bool(true)),
        ("FALSE", NodeKind::Bool(false)),
        ("yes", text("yes")),
        ("no", text("no")),
        ("on", text("on")),
        ("tRUE", text("tRUE")),
        ("12", NodeKind::Int(12)),
        ("-3", NodeKind::Int(-3)),
        ("+3", NodeKind::Int(3)),
        ("007", NodeKind::Int(7)),
        ("0o17", NodeKind::Int(15)),
        ("0xFf", NodeKind::Int(255)),
        ("0o8", text("0o8")),
        ("0x", text("0x")),
        ("1.10", NodeKind::Float(1.1)),
        (".5", NodeKind::Float(0.5)),
        ("5.", NodeKind::Float(5.0)),
        ("1e3", NodeKind::Float(1000.0)),
        ("-1.5E-1", NodeKind::Float(-0.15)),
        ("9223372036854775807", NodeKind::Int(i64::MAX)),
        ("9223372036854775808", text("9223372036854775808")),
        ("123456789012345678901234567890", text("123456789012345678901234567890")),
        ("1e400", text("1e400")),
        ("-.inf", NodeKind::Float(f64::NEG_INFINITY)),
        (".", text(".")),
        ("-", text("-")),
        ("e3", text("e3")),
        (".e3", text(".e3")),
        ("1e", text("1e")),
        ("1.2.3", text("1.2.3")),
        ("1_000", text("1_000")),
        ("12:30", text("12:30")),
        ("2026-11-30", text("2026-11-30")),
        ("infinity", text("infinity")),
        ("nan", text("nan")),
    ] {
        assert_eq!(plain_scalar(written.into()), expected, "{written}");
    }
    assert!(matches!(plain_scalar(".NaN".into()), NodeKind::Float(number) if number.is_nan()));
}
