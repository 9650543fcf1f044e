use std::sync::Arc;
use std::time::Duration;

use flow_core::event::Event;
use flow_core::model::{AttemptEnd, Command, Outcome, Reason, RunStatus, TaskState};
use serde_json::json;
use tokio::sync::Barrier;

use super::super::testing::{Played, Rig, Scene, name_of, task_of, well};
use super::DriveError;

/// Announces the launch and ends well.
async fn go_well(mut scene: Scene) -> Outcome {
    scene.launch().await.unwrap();
    well()
}

/// Puts another file in the journal's place.
fn break_journal(scene: &Scene) {
    std::fs::remove_file(&scene.journal).unwrap();
    std::fs::write(&scene.journal, "").unwrap();
}

fn failed() -> Outcome {
    Outcome::failed(Reason::ExitCode, "no luck")
}

fn state(played: &Played, task: &str) -> TaskState {
    played.run.task(&task.into()).unwrap().state
}

#[tokio::test]
async fn nothing_of_an_attempt_begins_before_its_line_is_written() {
    let written = |scene: &Scene| {
        let task = scene.packet.address.as_str();
        let own = |event: &&Event| task_of(event).as_deref() == Some(task);
        scene.events().iter().filter(own).map(name_of).collect::<Vec<_>>().join(" ")
    };
    let played = Rig::of("tasks:\n  a: { run: x }\n  b: { needs: [a], run: x }\n")
        .play(move |mut scene| async move {
            assert_eq!(written(&scene), "task_ready attempt_starting");
            scene.launch().await.unwrap();
            assert_eq!(written(&scene), "task_ready attempt_starting attempt_running");
            well()
        })
        .await;
    assert_eq!(played.status.unwrap(), RunStatus::Completed, "{:?}", played.journal);
}

#[tokio::test]
async fn what_can_not_be_written_down_does_not_begin() {
    for late in [false, true] {
        let played = Rig::of("tasks:\n  a: { run: x }\n")
            .play(move |mut scene| async move {
                if late {
                    tokio::task::yield_now().await;
                }
                break_journal(&scene);
                if scene.launch().await.is_ok() {
                    scene.note("works");
                }
                well()
            })
            .await;
        assert!(matches!(played.status, Err(DriveError::Journal { .. })), "{:?}", played.status);
        assert_eq!(played.log, [""; 0], "late: {late}");
    }
}

#[tokio::test]
async fn the_packet_is_all_that_an_executor_needs_of_the_plan() {
    let played = Rig::of(
        "env: { GREETING: hello }\ntasks:\n  \
         a: { for_each: [x, y], run: \"say ${{ env.GREETING }} ${{ item }}\", max_output: 1KiB, timeout: { idle: 3s } }\n",
    )
    .play(|scene| async move {
        let text = serde_json::to_string(&scene.packet).unwrap();
        assert_eq!(serde_json::from_str::<flow_core::values::AttemptPacket>(&text).unwrap(), *scene.packet);
        assert_eq!(scene.packet.work.timeout.idle, Some(Duration::from_secs(3)));
        scene.note(&scene.packet.work.description);
        go_well(scene).await
    })
    .await;
    let mut log = played.log;
    log.sort();
    let shown = "say ${{ env.GREETING }} ${{ item }}";
    assert_eq!(log, [format!("a[x].1 {shown}"), format!("a[y].1 {shown}")]);
}

#[tokio::test]
async fn nothing_begins_of_an_attempt_whose_template_fails() {
    let played = Rig::of("tasks:\n  a: { isolation: worktree, run: \"echo ${{ [1][5] }}\" }\n")
        .play(|scene| async move {
            scene.note("begins");
            well()
        })
        .await;
    assert_eq!(played.log, [""; 0]);
    assert_eq!(played.events_of("a"), ["task_ready", "attempt_starting", "attempt_ended", "task_ended"]);
    assert!(played.message("a").starts_with("`run`:"), "{}", played.message("a"));
}

#[tokio::test]
async fn an_order_to_stop_reaches_an_attempt_that_has_announced_nothing_yet() {
    let played = Rig::of("tasks:\n  a: { run: x }\n  b: { needs: [a], run: x }\n")
        .play(|mut scene| async move {
            let stop = Command::StopTask { task: "a".into(), force: false };
            scene.commands.send(stop).await.unwrap();
            let order = scene.stop.stopped().await;
            scene.launch().await.unwrap();
            Outcome::bare(AttemptEnd::Killed, Some(order.reason), None)
        })
        .await;
    let events = played.events_of("a");
    let order = ["attempt_starting", "kill_requested", "attempt_running", "attempt_ended", "task_ended"];
    assert_eq!(events[1..], order);
    assert_eq!((state(&played, "a"), state(&played, "b")), (TaskState::Killed, TaskState::Blocked));
}

#[tokio::test]
async fn a_panic_of_an_executor_fails_its_attempt_and_not_the_run() {
    for late in [false, true] {
        let played = Rig::of("tasks:\n  a: { run: x, continue_on_error: true }\n  b: { run: x }\n")
            .play(move |mut scene| async move {
                if scene.packet.address.as_str() == "b" {
                    return go_well(scene).await;
                }
                if late {
                    scene.launch().await.unwrap();
                }
                panic!("it broke");
            })
            .await;
        assert_eq!(played.status.as_ref().unwrap(), &RunStatus::Completed);
        assert_eq!(played.message("a"), "bug: the executor panicked: it broke");
        assert_eq!(state(&played, "b"), TaskState::Completed);
    }
}

#[tokio::test]
async fn when_the_journal_can_not_be_written_everything_is_killed_and_nothing_more_begins() {
    let all_are_there = Arc::new(Barrier::new(3));
    let plan = "tasks:\n  a: { run: x }\n  b: { run: x }\n  c: { run: x }\n  d: { needs: [a], run: x }\n";
    let played = Rig::of(plan)
        .play(move |mut scene| {
            let all_are_there = Arc::clone(&all_are_there);
            async move {
                match scene.packet.address.as_str() {
                    "a" => {
                        scene.launch().await.unwrap();
                        all_are_there.wait().await;
                        break_journal(&scene);
                        well()
                    }
                    "b" => {
                        scene.launch().await.unwrap();
                        all_are_there.wait().await;
                        let order = scene.stop.forced().await;
                        scene.note(order.reason.as_str());
                        Outcome::bare(AttemptEnd::Failed, Some(order.reason), None)
                    }
                    // It announces itself to nobody who could write it down.
                    _ => {
                        all_are_there.wait().await;
                        scene.stop.forced().await;
                        let written = scene.launch().await.is_ok();
                        scene.note(if written { "works" } else { "does not begin" });
                        well()
                    }
                }
            }
        })
        .await;
    assert!(matches!(played.status, Err(DriveError::Journal { .. })), "{:?}", played.status);
    let mut log = played.log;
    log.sort();
    assert_eq!(log, ["b.1 internal", "c.1 does not begin"]);
}

#[tokio::test]
async fn an_attempt_that_failed_is_tried_again_and_each_try_has_a_packet_of_its_own() {
    let played = Rig::of(
        "tasks:\n  a: { retry: { max: 2, delay: 1ms, on: [exit_code] }, run: \"x ${{ attempt }}\" }\n",
    )
    .play(|mut scene| async move {
        scene.launch().await.unwrap();
        scene.note("works");
        if scene.packet.attempt.0 < 3 { failed() } else { well() }
    })
    .await;
    assert_eq!(played.status.as_ref().unwrap(), &RunStatus::Completed);
    assert_eq!(played.log, ["a.1 works", "a.2 works", "a.3 works"]);
    let tries = played.events_of("a");
    assert_eq!(tries.iter().filter(|event| *event == "task_retry").count(), 2, "{tries:?}");
}

#[tokio::test]
async fn a_fan_out_runs_as_many_at_once_as_it_may() {
    let played = Rig::of("tasks:\n  a: { for_each: [1, 2, 3, 4, 5], max_parallel: 2, run: x }\n")
        .play(|mut scene| async move {
            scene.launch().await.unwrap();
            scene.note("begins");
            tokio::task::yield_now().await;
            scene.note("ends");
            well()
        })
        .await;
    let (mut live, mut most) = (0, 0);
    for line in &played.log {
        live += if line.ends_with("begins") { 1 } else { -1 };
        most = most.max(live);
    }
    assert_eq!((live, most, played.log.len()), (0, 2, 10), "{:?}", played.log);
}

#[tokio::test]
async fn what_the_plan_expects_of_an_outcome_is_judged_by_the_driver() {
    let plan = "tasks:\n  a: { run: x, output: json, expect: { that: \"task.output.ok\" } }\n";
    for ok in [true, false] {
        let played = Rig::of(plan)
            .play(move |scene| async move {
                Outcome { output: Some(json!({ "ok": ok })), ..go_well(scene).await }
            })
            .await;
        let ended = if ok { TaskState::Completed } else { TaskState::Failed };
        assert_eq!(state(&played, "a"), ended);
        let message = if ok { "" } else { "`expect.that` does not hold: task.output.ok" };
        assert_eq!(played.message("a"), message);
    }
}

#[tokio::test]
async fn the_work_of_a_private_tree_comes_home_once_its_attempt_is_done() {
    let checkout = crate::workspace::testing::Checkout::new();
    let root = checkout.root.clone();
    let played = Rig::of("tasks:\n  a: { isolation: worktree, merge: apply, run: x }\n")
        .within(&root)
        .play(|mut scene| async move {
            let order = scene.packet.tree.clone().unwrap();
            let (address, attempt) = (scene.packet.address.clone(), scene.packet.attempt);
            let tree = Arc::new(scene.trees.make(&address, attempt, &order).unwrap());
            scene.sink.tree(Arc::clone(&tree)).await.unwrap();
            let made = scene.events().iter().any(|event| matches!(event, Event::WorktreeMade { .. }));
            assert!(made, "the tree is in the journal before anything works in it");
            scene.launch().await.unwrap();
            std::fs::write(tree.dir().join("new.txt"), "new\n").unwrap();
            well()
        })
        .await;
    assert_eq!(played.status.as_ref().unwrap(), &RunStatus::Completed, "{}", played.message("a"));
    let events = played.events_of("a");
    assert_eq!(
        events[1..],
        [
            "attempt_starting",
            "worktree_made",
            "attempt_running",
            "merge_started",
            "merge_ended",
            "worktree_ended",
            "attempt_ended",
            "task_ended"
        ]
    );
    assert_eq!(std::fs::read_to_string(root.join("new.txt")).unwrap(), "new\n");
}

#[tokio::test]
async fn a_tree_whose_attempt_panics_is_settled_all_the_same() {
    let checkout = crate::workspace::testing::Checkout::new();
    let root = checkout.root.clone();
    let played = Rig::of("tasks:\n  a: { isolation: worktree, merge: apply, run: x }\n")
        .within(&root)
        .play(|mut scene| async move {
            let order = scene.packet.tree.clone().unwrap();
            let tree = scene.trees.make(&scene.packet.address, scene.packet.attempt, &order).unwrap();
            scene.sink.tree(Arc::new(tree)).await.unwrap();
            panic!("it broke")
        })
        .await;
    assert_eq!(
        played.events_of("a")[1..],
        ["attempt_starting", "worktree_made", "worktree_ended", "attempt_ended", "task_ended"]
    );
}
