use super::super::testing::Middle;
use super::super::{Beginning, WorkKind};
use crate::model::{AttemptEnd, Outcome, OutputSlice};
use crate::report::testing::{Journal, What, exit, said};

const PLAN: &str = "
tasks:
  one: { run: echo }
  two: { run: echo }
  agent: { prompt: p }
  fork: { needs: [one, two, agent], isolation: fork, prompt: What happened? }
  reads: { needs: [one, two], prompt: 'Look: ${{ tasks.two.notification }}' }
  asks: { needs: [one], prompt: \"${{ 'good' if 'completed' in tasks.one.notification else 'bad' }}\" }
  shell: { needs: [one], run: 'echo ${{ tasks.one.notification }}' }
";

/// Two commands that printed into one slot, the second in its second attempt, and an agent.
fn run() -> Middle {
    let mut run = Middle::of(PLAN);
    let printed = |journal: &mut Journal, start, len| Outcome {
        stdout: Some(OutputSlice { start, len, ..journal.text("out/0.out", "firstsecond") }),
        ..exit(0)
    };
    let first = printed(&mut run.journal, 0, 5);
    run.journal.run("one", 1, What::Shell, first);
    run.journal.start("two", 1, What::Shell).attempt_ended(
        "two",
        1,
        Outcome::bare(AttemptEnd::Failed, None, None),
    );
    let second = printed(&mut run.journal, 5, 6);
    run.journal.run("two", 2, What::Shell, second);
    let text = run.journal.text("tasks/agent/output.txt", "Done.");
    run.journal.run("agent", 1, What::Agent, said(text));
    run
}

/// The prompt of an agent with what stands before it, and the outputs that it names.
fn told(task: &str) -> (String, Vec<(u64, String)>) {
    let WorkKind::Agent(work) = run().work(task).unwrap().kind else { panic!("`{task}` is no agent") };
    let known = match &work.beginning {
        Beginning::New(conversation) => conversation.known.join("\n"),
        Beginning::Fork(_) => String::new(),
    };
    let named = work.named.iter().map(|named| (named.slice.start, named.file.clone())).collect();
    (known + &work.prompt, named)
}

#[test]
fn each_output_that_a_prompt_names_has_an_address_of_its_own() {
    let (prompt, named) = told("fork");
    let files = ["tasks/one/output.1", "tasks/two/output.2", "tasks/agent/output.txt"];
    assert_eq!(named, [0, 5, 0].into_iter().zip(files.map(str::to_owned)).collect::<Vec<_>>());
    for file in files {
        assert!(prompt.contains(&format!("<output_file>/runs/r/{file}</output_file>")), "{prompt}");
    }
    let (prompt, named) = told("reads");
    assert_eq!(named, [(5, "tasks/two/output.2".to_owned())]);
    assert!(prompt.contains("/runs/r/tasks/two/output.2"), "{prompt}");
}

#[test]
fn what_was_looked_at_and_is_not_in_the_prompt_is_not_named() {
    assert_eq!(told("asks"), ("good".to_owned(), Vec::new()));
}

#[test]
fn a_command_is_told_where_an_output_was_written() {
    let (_, variables) = run().script("shell");
    let text: String = variables.into_values().collect();
    assert!(text.contains("<output_file>/runs/r/out/0.out</output_file>"), "{text}");
}
