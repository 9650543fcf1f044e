use super::*;

#[test]
fn lengths_need_a_number_and_a_unit_in_range() {
    let ms = |text| parse_duration(text).map(|length| length.as_millis());
    assert_eq!(ms("500ms"), Ok(500));
    assert_eq!(ms("1.5s"), Ok(1500));
    assert_eq!(ms("1d"), Ok(86_400_000));
    assert_eq!(ms("1h30m"), Ok(5_400_000));
    assert_eq!(ms("2h04m"), Ok(7_440_000));
    assert_eq!(ms("1d2h3m4s5ms"), Ok(93_784_005));
    for bad in [
        "",
        "-1s",
        "5",
        "1e9s",
        "3 s",
        "s",
        "99999999999h",
        "1.2.3s",
        "5M",
        "30m1h",
        "1m1m",
        "1h30",
        "1h 30m",
    ] {
        assert!(ms(bad).is_err(), "{bad}");
    }
}

#[test]
fn lengths_are_shown_in_two_units_at_most() {
    for (ms, shown) in [(0, "0ms"), (999, "999ms"), (4_250, "4.2s"), (185_000, "3m05s"), (7_440_000, "2h04m")]
    {
        assert_eq!(format_duration(Duration::from_millis(ms)), shown);
    }
}
