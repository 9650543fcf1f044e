use super::*;

#[test]
fn a_count_has_at_most_four_characters_and_is_never_rounded_up() {
    let shown =
        [(0, "0"), (999, "999"), (1_000, "1.0k"), (9_999, "9.9k"), (10_000, "10k"), (999_999, "999k")];
    for (number, text) in
        shown.into_iter().chain([(1_250_000, "1.2M"), (31_000_000, "31M"), (2_000_000_000, "2.0G")])
    {
        assert_eq!(format_count(number), text, "{number}");
    }
}

#[test]
fn cached_tokens_stand_apart_where_there_are_any() {
    assert_eq!(format_tokens(31_234, 120_400), "31k tokens + 120k cached");
    assert_eq!(format_tokens(561, 0), "561 tokens");
}
