use super::*;

fn check(text: &str, expected: &[&str]) {
    let words: Vec<&str> = split_words(text).into_iter().map(|word| &text[word]).collect();
    assert_eq!(words, expected, "{text}");
}

#[test]
fn commas_and_blanks_split_outside_parentheses() {
    check("", &[]);
    check(" , ", &[]);
    check("Read", &["Read"]);
    check("Read, Grep", &["Read", "Grep"]);
    check("Read Grep Bash(git log:*) ", &["Read", "Grep", "Bash(git log:*)"]);
    check("Bash(git diff:*, git log:*), mcp__x__y", &["Bash(git diff:*, git log:*)", "mcp__x__y"]);
    check("Bash(echo (a, b)), Edit", &["Bash(echo (a, b))", "Edit"]);
    check("Bash (git log), Read", &["Bash (git log)", "Read"]);
    check("Bash, (git log)", &["Bash", "(git log)"]);
    check("Bash(git log", &["Bash(git log"]);
    check("审查, é", &["审查", "é"]);
}
