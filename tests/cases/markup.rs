//! Texts from outside between a shell, a drawn graph, an output file and CI.

use super::{between, codes, play};

#[test]
fn n15_an_end_mark_in_a_text_adds_no_output_without_a_word() {
    let (flow, ran) = play("N15");
    let got = &flow.report()["outputs"]["got"];
    let told = ran.stderr.contains("EOF") || flow.task("t")["reason"] == "invalid_output";
    assert!(told, "taken for a good file: {got:#}\n{}", ran.stderr);
}

#[test]
fn n19_no_text_of_a_task_is_a_command_of_ci() {
    let (flow, ran) = play("N19");
    assert_eq!(codes(&ran), [1], "{ran:#?}");
    let out = format!("{}{}", flow.read("out"), flow.read("err"));
    for line in out.split(['\n', '\r']).map(|line| line.trim_start_matches([' ', '\t'])) {
        if line.starts_with("::") || line.starts_with("##[") {
            let own = ["::warning ", "::error ", "::notice ", "::group::", "::endgroup::"];
            assert!(own.iter().any(|own| line.starts_with(own)), "{line}");
            for word in ["forged", "add-mask", "stop-commands", "::cr", "::g", "from the model"] {
                assert!(
                    !line.starts_with("::group::g") && (!line.ends_with(word) || line.contains("title=")),
                    "{line}"
                );
            }
        }
    }
    // The key of an instance holds a line break: it is escaped.
    assert!(!out.contains("\n::error::key"), "{out}");
    // A fence with more backticks than any line of the text holds: none of it can begin a command or a heading.
    let summary = flow.read("sum.md");
    let mut fence = None;
    for line in summary.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open && line.trim_matches('`').is_empty() => fence = None,
            None => assert!(!line.starts_with("::") && !line.starts_with("##["), "{line}"),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "a fence that never closes:\n{summary}");
}

#[test]
fn n55_words_comments_and_here_documents_of_a_script_are_read_as_bash_reads_them() {
    let (flow, ran) = play("N55");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    let output = flow.run(&["logs", "latest", "t"]).exits(0).stdout;
    assert!(output.lines().all(|line| line.starts_with("ok ")), "{output}");
    // The script calls `ok` in twenty places.
    assert_eq!(output.lines().count(), 20, "{output}");
    assert!(!flow.exists("leak"));
}

#[test]
fn n57_a_limit_of_nothing_is_an_error_with_the_least_value() {
    let (_, ran) = play("N57");
    let files = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    for (index, file) in files.iter().enumerate() {
        let next = files.get(index + 1).map_or("rc=3\nrc=2".to_owned(), |next| format!("\n# {next}\n"));
        let part = between(&ran.stdout, &format!("# {file}\n"), &next);
        let errors = part.lines().filter(|line| line.starts_with("error["));
        // The least value: a number, a time or a size; a pool that is not there is a name.
        for line in errors {
            let least = ["takes ", "least", "or more", "no pool"].iter().any(|word| line.contains(word));
            assert!(least, "{file}: {line}");
        }
        assert!(part.contains("error["), "{file}: {part}");
    }
    let mut wanted = vec![3; 9];
    wanted.extend([2, 2, 2]);
    assert_eq!(codes(&ran), wanted, "{}", ran.stdout);
}

#[test]
fn n71_names_and_descriptions_draw_nothing_of_their_own() {
    let (flow, ran) = play("N71");
    let mermaid = between(&ran.stdout, "## mermaid\n", "rc=0");
    for word in ["end", "graph", "class"] {
        let named = mermaid.lines().map(str::trim).any(|line| {
            line.starts_with(&format!("{word}["))
                || line.split(' ').any(|part| part == word && !line.contains('"'))
        });
        assert!(!named, "{word}:\n{mermaid}");
    }
    for line in mermaid.lines().filter(|line| line.contains('[')) {
        assert!(line.contains("[\"") && line.trim_end().ends_with("\"]"), "{line}");
        assert!(!line.contains("<script>"), "{line}");
    }
    let dot = between(&ran.stdout, "## dot\n", "rc=0");
    for line in dot.lines().filter(|line| line.contains("label=")) {
        let bare = line.replace("\\\"", "");
        assert_eq!(bare.matches('"').count() % 2, 0, "{line}");
    }
    let json = flow.run(&["graph", "plan.yaml", "--format", "json"]).exits(0).json();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 4);
}
