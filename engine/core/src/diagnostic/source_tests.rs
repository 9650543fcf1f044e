use super::*;

#[test]
fn columns_count_characters_and_offsets_inside_one_round_down() {
    let file = SourceFile::new("p.yaml", "a\né: x\n");
    assert_eq!(file.line_column(0), (1, 1));
    assert_eq!(file.line_column(2), (2, 1));
    assert_eq!(file.line_column(3), (2, 1));
    assert_eq!(file.line_column(4), (2, 2));
    assert_eq!(file.at(999), "p.yaml:3:1");
}
