use std::collections::HashSet;

use super::*;

#[test]
fn a_name_means_one_tool_here_and_elsewhere() {
    let mut seen = HashSet::new();
    for tool in TOOLS {
        assert!(seen.insert(tool.name.to_lowercase()), "{}", tool.name);
        for name in tool.elsewhere {
            assert_eq!(*name, name.to_lowercase());
            assert!(seen.insert((*name).to_owned()), "{name}");
        }
    }
}

#[test]
fn rules_are_shared_with_a_tool_that_has_some() {
    for tool in TOOLS {
        let Some(ruler) = tool.ruled_by else { continue };
        let ruler = known_tool(ruler).unwrap();
        assert_eq!((ruler.effect, ruler.ruled_by), (tool.effect, None), "{}", tool.name);
    }
}

#[test]
fn only_what_is_offered_is_a_tool_and_more_is_known() {
    let names: Vec<&str> = offered_tools().map(|tool| tool.name).collect();
    assert_eq!(names, ["Read", "Glob", "Grep", "Write", "Edit", "Bash"]);
    for name in ["Agent", "StructuredOutput"] {
        assert!(tool(name).is_none() && known_tool(name).is_some(), "{name}");
    }
    assert!(known_tool("bash").is_none());
}
