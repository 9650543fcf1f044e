use super::*;

/// Sun, 06 Nov 1994 08:49:37 GMT.
const NOW: Millis = Millis(784_111_777_000);

#[track_caller]
fn check(header: &str, expected: Option<Duration>) {
    assert_eq!(retry_after(header, NOW), expected, "{header}");
}

#[test]
fn seconds_are_read() {
    check("3", Some(Duration::from_secs(3)));
    check(" 0 ", Some(Duration::ZERO));
    check("1.5", Some(Duration::from_millis(1500)));
}

#[test]
fn dates_are_read_against_now() {
    check("Sun, 06 Nov 1994 08:51:37 GMT", Some(Duration::from_secs(120)));
    check("Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::ZERO));
    check("Sat, 05 Nov 1994 08:49:37 GMT", Some(Duration::ZERO));
}

#[test]
fn anything_else_says_nothing() {
    for header in ["", "soon", "-1", "NaN", "inf", "1e400", "Sun, 36 Nov 1994 08:49:37 GMT"] {
        check(header, None);
    }
}
