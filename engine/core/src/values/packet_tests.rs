use super::super::testing::Middle;
use super::*;
use crate::compile::testing::Trial;
use crate::event::Event;
use crate::model::Usage;
use crate::report::testing::{What, exit};

const TOKEN: &str = "s3cret-value";

/// A plan with everything that a packet can carry.
const PLAN: &str = r#"
secrets: [TOKEN]
briefing: Small steps.
env: { KEY: "Bearer ${{ secrets.TOKEN }}", FILE: "${{ secrets.TOKEN | file }}", PLAIN: p }
tasks:
  shell:
    isolation: worktree
    base: main
    merge: squash
    include: [.env]
    setup: ["make ${{ env.PLAIN }}"]
    run: echo ${{ env.PLAIN }} ${{ 'long' | file }}
    output: { type: object }
    artifacts: [out.txt]
    expect: { files: [out.txt], changes: true }
    timeout: { run: 1m, idle: 2s }
  words: { run: [echo, "${{ env.PLAIN }}"], output: lines }
  agent:
    needs: { shell: done }
    isolation: fork
    prompt: "Use ${{ env.PLAIN }}."
    tools: [Read, "Bash(git *)"]
    permissions: { deny: ["Bash(rm *)"] }
    output: { type: object }
    checks: [make test]
  fork: { fork: agent, prompt: Go on. }
"#;

fn run() -> Middle {
    let mut run = Middle::compiled(Trial::of(PLAN).env("TOKEN", TOKEN)).env("TOKEN", TOKEN);
    run.journal.run("shell", 1, What::Shell, exit(1));
    run
}

#[test]
fn a_packet_survives_being_written_down() {
    for task in ["shell", "words", "agent", "fork"] {
        let packet = run().packet(task);
        let text = serde_json::to_string(&packet).unwrap();
        assert_eq!(serde_json::from_str::<AttemptPacket>(&text).unwrap(), packet, "{text}");
    }
}

#[test]
fn no_secret_is_written_down_with_a_packet_and_each_opens_where_it_runs() {
    let run = run();
    for task in ["shell", "words", "agent"] {
        let text = serde_json::to_string(&run.packet(task)).unwrap();
        assert!(!text.contains(TOKEN), "{text}");
        let packet: AttemptPacket = serde_json::from_str(&text).unwrap();
        let open = |value: &super::super::Sealed| value.open(|name| run.variable(name)).unwrap().into_owned();
        assert_eq!(open(&packet.work.env["KEY"]), format!("Bearer {TOKEN}"));
        let (path, held) = &packet.work.files[0];
        assert_eq!(
            (open(held), path.display().to_string()),
            (TOKEN.to_owned(), open(&packet.work.env["FILE"]))
        );
        assert_eq!(packet.work.open_env().collect::<Vec<_>>(), [("PLAIN", "p")]);
    }
}

#[test]
fn only_a_conversation_that_was_cut_off_is_gone_on_with_and_what_it_reported_adds_up() {
    let usage = |turns| Some(Usage { turns, ..Usage::default() });
    let ended = |end: AttemptEnd, turns| Outcome {
        agent_id: Some("a1".to_owned()),
        usage: usage(turns),
        ..Outcome::bare(end, None, None)
    };
    let earlier = |ends: &[AttemptEnd]| {
        let mut run = Middle::of("tasks:\n  t: { prompt: p }\n");
        for (attempt, end) in (1..).zip(ends) {
            run.journal.start("t", attempt, What::Agent).attempt_ended("t", attempt, ended(*end, attempt));
        }
        run.journal.start("t", u32::try_from(ends.len()).unwrap() + 1, What::Agent);
        run.packet("t").earlier.map(|earlier| (earlier.agent_id, earlier.usage.turns))
    };
    assert_eq!(earlier(&[]), None);
    assert_eq!(earlier(&[AttemptEnd::Failed]), None);
    assert_eq!(earlier(&[AttemptEnd::Killed]), Some(("a1".to_owned(), 1)));
    assert_eq!(earlier(&[AttemptEnd::Killed, AttemptEnd::Lost]), Some(("a1".to_owned(), 3)));
    assert_eq!(earlier(&[AttemptEnd::Killed, AttemptEnd::Completed]), None);
}

/// The tree in which the next attempt of an agent that died goes on.
fn tree_after(events: impl IntoIterator<Item = Event>) -> Option<EarlierTree> {
    let mut run = Middle::of("tasks:\n  t: { prompt: p, isolation: worktree }\n");
    run.journal.start("t", 1, What::Agent);
    for event in events {
        run.journal.add(event);
    }
    run.journal.resumed(2, &["t"], &[]).start("t", 2, What::Agent);
    run.packet("t").earlier.unwrap().tree
}

#[test]
fn a_cut_off_agent_goes_on_in_its_tree_where_all_of_its_work_is_on_a_branch() {
    let (task, attempt) = (Address::task("t"), Attempt::FIRST);
    let made = |branch: Option<&str>| {
        let (path, base) = ("/trees/t.1".to_owned(), branch.map(|_| "b".to_owned()));
        let branch = branch.map(str::to_owned);
        Event::WorktreeMade { task: task.clone(), attempt, path, branch, base }
    };
    let ended = |commit: Option<&str>| {
        let commit = commit.map(str::to_owned);
        Event::WorktreeEnded { task: task.clone(), attempt, kept: true, commit }
    };
    let whole = EarlierTree {
        path: "/trees/t.1".to_owned(),
        branch: "flow/r/t.1".to_owned(),
        base: "b".to_owned(),
        commit: "c".to_owned(),
    };
    assert_eq!(tree_after([made(Some("flow/r/t.1")), ended(Some("c"))]), Some(whole));
    // Its branch went with it, or an earlier flow did not say where it ends.
    assert_eq!(tree_after([made(Some("flow/r/t.1")), ended(None)]), None);
    // Nobody could settle it.
    assert_eq!(tree_after([made(Some("flow/r/t.1"))]), None);
    // It is a copy, or there was none.
    assert_eq!(tree_after([made(None), ended(None)]), None);
    assert_eq!(tree_after([]), None);
}
