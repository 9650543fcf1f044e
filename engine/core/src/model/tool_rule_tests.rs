use super::ToolRule;

#[test]
fn names_of_tools_match_whole_or_by_server() {
    for (rule, tool, expected) in [
        ("Bash", "Bash", true),
        ("bash", "Bash", false),
        ("Bash", "BashOutput", false),
        ("*", "Read", true),
        ("Re*", "Read", false),
        ("mcp__docs", "mcp__docs__search", true),
        ("mcp__docs", "mcp__docs2__search", false),
        ("mcp__docs__*", "mcp__docs__search", true),
        ("mcp__*", "mcp__docs__search", true),
        ("mcp__docs__search", "mcp__docs__search", true),
        ("mcp__docs__sea", "mcp__docs__search", false),
    ] {
        assert_eq!(ToolRule::parse(rule).names(tool), expected, "{rule} {tool}");
    }
}
