use super::*;

#[test]
fn bytes_are_cut_between_characters() {
    assert_eq!((head_bytes("añb", 2), head_bytes("añb", 3), head_bytes("añb", 9)), ("a", "añ", "añb"));
}

#[test]
fn lines_are_counted_without_the_final_newline() {
    for (count, head, tail) in [(0, "", ""), (1, "a", "c"), (2, "a\nb", "b\nc"), (9, "a\nb\nc\n", "a\nb\nc")]
    {
        assert_eq!((head_lines("a\nb\nc\n", count), tail_lines("a\nb\nc\n", count)), (head, tail), "{count}");
    }
}

#[test]
fn one_line_folds_white_space_and_shows_a_cut() {
    assert_eq!(one_line("  a\n b\tc ", 80), "a b c");
    assert_eq!(one_line("alpha beta", 10), "alpha beta");
    assert_eq!(one_line("alpha beta", 9), "alpha be…");
    assert_eq!(one_line("éééé", 3), "éé…");
    for width in 1..24 {
        let line = one_line("alpha be gamma é delta", width);
        assert!(line.chars().count() <= width, "{width}: {line}");
    }
}

#[test]
fn a_long_name_loses_its_middle_and_keeps_its_end() {
    assert_eq!(middle("review[src/a.py]", 16), "review[src/a.py]");
    assert_eq!(middle("review[.github/ISSUE_TEMPLATE/Bug.md]", 20), "review…PLATE/Bug.md]");
    for width in 0..12 {
        let cut = middle("größenwahnsinnig", width);
        assert_eq!(cut.chars().count(), width, "{cut}");
    }
}
