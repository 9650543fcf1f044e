use super::*;

#[test]
fn no_node_has_a_word_of_the_language_as_its_name() {
    for (name, node) in [
        ("a", "a"),
        ("end", "end_"),
        ("End", "End_"),
        ("end_", "end__"),
        ("graph", "graph_"),
        ("ends", "ends"),
    ] {
        assert_eq!(mermaid_name(name), node);
    }
}

#[test]
fn a_label_can_neither_end_nor_be_read_as_anything_but_text() {
    assert_eq!(mermaid_label("quo\"te ]--> b;\n<b>"), "quo#34;te ]--#62; b; #60;b#62;");
    assert_eq!(mermaid_label("`x` *y* #1 &c"), "#96;x#96; #42;y#42; #35;1 #38;c");
    assert_eq!(mermaid_label("review (run)"), "review (run)");
    assert_eq!(mermaid_label("timed_out _a_ b__c"), "timed_out #95;a#95; b#95;#95;c");
}
