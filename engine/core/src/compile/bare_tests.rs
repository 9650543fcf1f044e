use crate::compile::testing::check;

/// What is said of a text, in a plan with the input `x`, the task `a` and a matrix with the axis `os`.
fn said(key: &str, text: &str) -> Option<(String, String)> {
    let quoted = serde_json::to_string(text).unwrap();
    let value = if key == "env" { format!("{{ V: {quoted} }}") } else { quoted };
    let run = if key == "prompt" {
        "tools: [Read]"
    } else if key == "run" {
        "dir: ."
    } else {
        "run: 'true'"
    };
    let report = check(&format!(
        "inputs: {{ x: {{ default: a }} }}\ntasks:\n  a: {{ run: 'true' }}\n  b: {{ matrix: {{ os: [m] }}, {run}, {key}: {value} }}\n"
    ));
    let message = report.lines().next()?.strip_prefix("warning[W0202]: ")?.to_owned();
    let help = report.lines().find_map(|line| line.trim().strip_prefix("= help: "))?.to_owned();
    Some((message, help))
}

#[test]
fn values_in_the_form_of_another_system_are_warned_of() {
    for (key, text, meant) in [
        ("run", "echo {{ inputs.x }}", "${{ inputs.x }}"),
        ("run", "echo {{ x }}", "${{ inputs.x }}"),
        ("prompt", "{{ matrix.os }}", "${{ matrix.os }}"),
        ("prompt", "{% if inputs.x %}yes{% endif %}", "${% if inputs.x %}"),
        ("run", "echo ${inputs.x}", "${{ inputs.x }}"),
        ("prompt", "see $(tasks.a.output)", "${{ tasks.a.output }}"),
        ("env", "tasks.a.output", "${{ tasks.a.output }}"),
        ("env", "inputs.x", "${{ inputs.x }}"),
    ] {
        let (message, help) = said(key, text).unwrap_or_else(|| panic!("{key} {text}"));
        assert!(message.ends_with("is text here, not a value"), "{message}");
        assert_eq!(help, format!("write `{meant}`"), "{text}");
    }
}

#[test]
fn what_other_programs_read_is_left_alone() {
    for (key, text) in [
        ("run", "docker ps --format '{{ .Names }}' && git log --format='%h' ${p%%}"),
        ("run", "jinja '{% if user.x %}{{ user.y }}{% endif %}' $(run.sh) ${x} $(inputs.sh)"),
        ("run", "echo tasks.a.output"),
        ("prompt", "Explain tasks.a.output and {{ y }} and {% raw %}."),
        ("env", "inputs.json"),
        ("env", "tasks.a"),
    ] {
        assert_eq!(said(key, text), None, "{text}");
    }
}

#[test]
fn an_output_that_is_a_bare_reference_is_warned_of() {
    let text = "tasks:\n  a: { run: 'true' }\noutputs: { r: tasks.a.output }\n";
    assert!(check(text).contains("write `${{ tasks.a.output }}`"), "{}", check(text));
}
