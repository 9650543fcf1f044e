//! Processes, signals, limits of time and of what runs at once.

use std::time::Duration;

use super::{codes, play, set_up};
use crate::support::alive;

#[test]
fn n08_a_time_limit_counts_from_the_start_of_the_task() {
    let (flow, ran) = play("N08");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert_eq!(flow.report()["counts"]["completed"], 4);
}

#[test]
fn n10_neither_a_delay_nor_an_unready_task_holds_a_slot() {
    let (_, ran) = play("N10");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    let at = |file: &str| -> f64 {
        let line =
            ran.stdout.lines().find(|line| line.starts_with(file)).unwrap_or_else(|| panic!("{ran:#?}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(at("other.at") < 1.9, "before `first` ends: {ran:#?}");
    assert!(at("waits.at") >= 2.0 && at("waits.at") < at("t.a"), "{ran:#?}");
    assert!(at("t.a") >= 3.0, "{ran:#?}");
}

#[test]
fn n12_commands_start_with_no_signal_ignored_or_blocked() {
    let (flow, command) = set_up("N12");
    // As under `nohup`, and behind `&` in a script.
    for before in ["", "trap '' HUP INT PIPE; "] {
        no_signal_is_ignored(&flow.shell(&format!("{before}{command}")));
    }
}

fn no_signal_is_ignored(ran: &crate::support::Ran) {
    let text = &ran.stdout;
    let mut masks = 0;
    for line in text.lines().filter(|line| line.starts_with("SigBlk") || line.starts_with("SigIgn")) {
        let mask = u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap();
        // HUP, INT and PIPE are the numbers 1, 2 and 13.
        assert_eq!(mask & (1 | 1 << 1 | 1 << 12), 0, "{line}");
        masks += 1;
    }
    assert_eq!(masks, 6, "under `run`, in the list form and in the agent's Bash: {text}");
    assert!(!text.to_lowercase().contains("broken pipe"), "{text}");
    assert!(ran.stdout.contains("default_int_handler> 0\n"), "{}", ran.stdout);
}

#[test]
fn n45_what_a_killed_run_held_is_free_and_a_live_one_is_named() {
    let (flow, ran) = play("N45");
    assert_eq!(codes(&ran), [137, 0, 9, 143], "{ran:#?}");
    assert!(!ran.stdout.contains("alive"), "{}", ran.stdout);
    let live = flow.newest_run().file_name().unwrap().to_str().unwrap().to_owned();
    ran.says(&[&format!("the lock `only-one` is held by run `{live}`")]);
}

#[test]
fn n59_a_closed_terminal_ends_the_run_with_all_its_processes_and_nohup_keeps_it() {
    let (flow, ran) = play("N59");
    assert_eq!(codes(&ran), [129, 143], "{ran:#?}");
    let first = ran.stdout.split("RUN ").next().unwrap();
    assert_eq!(first.matches("hup").count(), 1, "the handler ran once: {}", ran.stdout);
    assert!(
        !ran.stdout.lines().any(|line| ["alive", "kid-alive", "later"].contains(&line)),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("nohup run lives"), "{}", ran.stdout);
    assert!(!alive(&flow.read("kid")) && !alive(&flow.read("pid")));
    ran.says(&["flow resume "]);
}

#[test]
fn n65_a_server_in_the_background_ends_with_its_call_and_every_call_is_told_how_it_ended() {
    let (flow, ran) = play("N65");
    assert_eq!(codes(&ran), [0], "{ran:#?}");
    assert!(
        ran.took < Duration::from_secs(25),
        "within seconds, before the limit of the task: {:?}",
        ran.took
    );
    assert!(!ran.stdout.contains("alive"), "{}", ran.stdout);
    assert!(!alive(&flow.read("kid1")) && !alive(&flow.read("kid2")) && !alive(&flow.read("slow")));
    let results = results(&flow);
    assert_eq!(results.len(), 7, "{results:#?}");
    assert!(results[3].contains("[exit code 3]"), "{}", results[3]);
    assert!(results[4].contains("time limit of 1s"), "{}", results[4]);
    let long = &results[5];
    assert!(long.len() < 40_000 && long.contains("END"), "{} bytes", long.len());
    assert!(long.contains("bytes"), "says how much there was: {}", &long[..200]);
    assert!(results[6].contains("stdin-closed"));
}

/// What the calls of task `t` gave, in order.
fn results(flow: &crate::support::Flow) -> Vec<String> {
    let text = std::fs::read_to_string(flow.newest_run().join("tasks/t/context.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let messages = lines.filter(|line| line["item"] == "message");
    let blocks = messages.flat_map(|line| line["message"]["content"].as_array().unwrap().clone());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].as_str().unwrap().to_owned()).collect()
}
