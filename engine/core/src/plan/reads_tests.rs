use crate::compile::testing::Trial;

/// What the task `r` of a plan reads of `a`; `?` behind what it copes without.
fn reads(task: &str) -> String {
    let text = format!(
        "tasks:\n  a: {{ prompt: p }}\n  b: {{ isolation: worktree, merge: patch, run: x }}\n  r: {task}\n\
         outputs: {{ o: \"${{{{ tasks.b.patch }}}}\" }}\n"
    );
    let trial = Trial::of(&text);
    let plan = trial.compile().plan.unwrap_or_else(|| panic!("{}", trial.report()));
    let all = plan.reads();
    assert_eq!(all.last().map(|outputs| outputs.len()), Some(1), "those of `outputs` stand last");
    let words = all[2].iter().map(|read| {
        let name = &plan.tasks[read.from.index()].address;
        format!("{name}.{}{}", read.field, if read.defaulted { "?" } else { "" })
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_place_of_a_task_is_looked_at() {
    let hole = |task: &str| reads(&task.replace('@', "${{ tasks.a.output }}"));
    for task in [
        "{ run: 'echo @' }",
        "{ run: [echo, '@'] }",
        "{ run: x, description: '@' }",
        "{ run: x, env: { A: '@' } }",
        "{ run: x, dir: '@' }",
        "{ run: x, artifacts: ['@'] }",
        "{ run: x, isolation: worktree, base: '@' }",
        "{ run: x, isolation: worktree, setup: ['echo @'] }",
        "{ run: x, for_each: '@' }",
        "{ run: x, for_each: ['@'] }",
        "{ run: x, for_each: [{ b: ['@'] }] }",
        "{ run: x, for_each: [1], key: '@' }",
        "{ run: x, matrix: { m: '@' } }",
        "{ prompt: '@' }",
        "{ prompt: p, checks: ['test @'] }",
        "{ run: x, if: tasks.a.output == 'x' }",
        "{ run: x, expect: { that: tasks.a.output == 'x' } }",
        "{ run: x, retry: { max: 1, if: tasks.a.output == 'x' } }",
    ] {
        assert_eq!(hole(task), "a.output", "{task}");
    }
}

#[test]
fn an_edge_alone_reads_nothing_and_a_fork_reads_what_was_said() {
    assert_eq!(reads("{ needs: [a, b], run: x }"), "");
    assert_eq!(reads("{ fork: a, prompt: p }"), "a.conversation");
    assert_eq!(reads("{ needs: [a, b], isolation: fork, prompt: p }"), "a.notification b.notification");
}

#[test]
fn a_value_is_defaulted_only_where_every_text_copes_without_it() {
    let read = "${{ tasks.a.output | default('x') }}";
    assert_eq!(reads(&format!("{{ run: \"echo {read} ${{{{ tasks.b.branch }}}}\" }}")), "a.output? b.branch");
    assert_eq!(reads(&format!("{{ run: \"echo {read} ${{{{ tasks.a.output }}}}\" }}")), "a.output");
}

#[test]
fn a_plan_speaks_of_what_any_text_of_it_names() {
    let speaks = |text: &str| Trial::of(text).plan().speaks_of("git");
    assert!(!speaks("tasks:\n  a: { run: 'git status; echo git.branch' }\n"));
    for text in [
        "tasks:\n  a: { run: 'echo ${{ git.branch }}' }\n",
        "tasks:\n  a: { run: x, if: \"git.tag == 'v1'\" }\n",
        "env: { B: \"${{ git['branch'] }}\" }\ntasks:\n  a: { run: x }\n",
        "tasks:\n  a: { run: x }\noutputs: { b: \"${{ git.branch }}\" }\n",
        "lock: \"l-${{ git.branch }}\"\ntasks:\n  a: { run: x }\n",
    ] {
        assert!(speaks(text), "{text}");
    }
    assert!(
        Trial::of("tasks:\n  a: { prompt: { file: p.md }, tools: [Read] }\n")
            .file("p.md", "On ${{ git.branch }}")
            .plan()
            .speaks_of("git")
    );
}
