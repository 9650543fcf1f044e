use std::sync::Arc;

use flow_core::event::{Entry, Event, Instance, Launch, LaunchAgent};
use flow_core::ids::Attempt;
use flow_core::model::{AttemptEnd, Outcome, TaskState};
use flow_run::watch::{Limits, Progress, Update};

use super::*;

/// A run in the making.
#[derive(Default)]
struct Play(View);

impl Play {
    fn of(tasks: &[&str], concurrency: u32) -> Self {
        let mut play =
            Play(View::within(Limits { concurrency: Some(concurrency), expands: true, ..Limits::default() }));
        let event = Event::RunStarted {
            run: flow_core::ids::RunId::parse("20261130-181501-wvfdjt").unwrap(),
            plan: "p".to_owned(),
            path: "p.yaml".to_owned(),
            root: "/r".to_owned(),
            tasks: tasks.iter().map(|task| (*task).into()).collect(),
            edges: Vec::new(),
            concurrency,
            inputs: Default::default(),
            seed: 1,
            flow: "0".to_owned(),
            branch: None,
        };
        play.at(0, event);
        play
    }

    fn at(&mut self, seconds: u64, event: Event) -> &mut Self {
        let at = Millis(seconds * 1000);
        self.0.update(&Update::Event(Arc::new(Entry { v: 1, seq: 0, at, event })));
        self
    }

    fn expand(&mut self, task: &str, keys: &[String]) {
        let instance = |key: &String| Instance { key: key.clone(), item: key.as_str().into() };
        self.at(0, Event::TaskExpanded { task: task.into(), instances: keys.iter().map(instance).collect() });
    }

    /// A task begins; `model`: an agent of it, else a command.
    fn start(&mut self, seconds: u64, task: &str, model: Option<&str>) {
        let attempt = Attempt(1);
        self.at(seconds, Event::AttemptStarting { task: task.into(), attempt, slot: Some(0) });
        let agent = model.map(|model| LaunchAgent {
            id: String::new(),
            name: String::new(),
            source: String::new(),
            path: String::new(),
            hash: String::new(),
            version: None,
            model: model.to_owned(),
            at_once: Some(8),
            written: None,
            fork: None,
        });
        let launch = Launch {
            kind: String::new(),
            description: "cargo test --workspace".to_owned(),
            dir: "/r".to_owned(),
            background: false,
            agent,
        };
        self.at(seconds, Event::AttemptRunning { task: task.into(), attempt, launch });
    }

    fn say(&mut self, task: &str, progress: Progress) {
        self.0.update(&Update::Progress(task.into(), progress));
    }

    fn end(&mut self, seconds: u64, task: &str, state: TaskState) {
        let attempt = Attempt(1);
        let end = if state == TaskState::Completed { AttemptEnd::Completed } else { AttemptEnd::Failed };
        let outcome = Box::new(Outcome::bare(end, None, None));
        self.at(seconds, Event::AttemptEnded { task: task.into(), attempt, outcome });
        let (reason, message) = (None, None);
        self.at(seconds, Event::TaskEnded { task: task.into(), state, reason, message, allowed: false });
    }

    fn shown(&self, seconds: u64, lines: usize, columns: usize) -> String {
        let now = Millis(seconds * 1000);
        let frame = Frame { lines, columns, now, since: Duration::from_secs(seconds), ours: true };
        let text = area(&self.0, &frame);
        assert!(text.len() <= lines.saturating_sub(2).max(2), "{lines}x{columns}: {text:#?}");
        let text: Vec<String> = text
            .iter()
            .map(|line| {
                assert!(console::measure_text_width(line) < columns.max(2), "{lines}x{columns}: {line}");
                anstream::adapter::strip_str(line).to_string().trim_end().to_owned() + "\n"
            })
            .collect();
        text.concat()
    }
}

/// Six explorers, a command, and a task behind them.
fn small() -> Play {
    let mut play = Play::of(&["explore", "lint", "summary"], 12);
    let keys = ["sessions", "adapters", "auth", "cookies", "tests", "docs"].map(str::to_owned);
    play.expand("explore", &keys);
    for (at, key) in keys.iter().enumerate() {
        let task = format!("explore[{key}]");
        play.start(1, &task, Some("fake/m1"));
        play.say(&task, Progress::Turn(2 + at as u32));
        play.say(&task, Progress::Tokens { fresh: 1700 * (at as u64 + 1), cached: 90_000 * at as u64 });
    }
    play.start(2, "lint", None);
    play.say(
        "explore[sessions]",
        Progress::Tool("Bash".to_owned(), "wc -l README.md src/requests/*.py".to_owned()),
    );
    play.say("explore[adapters]", Progress::Text("The name shows up in more than one place".to_owned()));
    play.say("explore[auth]", Progress::Waiting(true));
    play.end(3, "explore[docs]", TaskState::Failed);
    play
}

/// A hundred reviews, forty at once, of which a provider takes eight.
fn large() -> Play {
    let mut play = Play::of(&["list", "review", "summary"], 40);
    play.end(0, "list", TaskState::Completed);
    let keys: Vec<String> =
        (0..100).map(|number| format!(".github/ISSUE_TEMPLATE/Feature_request-{number}.md")).collect();
    play.expand("review", &keys);
    let task = |number: usize| format!("review[{}]", keys[number]);
    for number in 0..63 {
        play.start(number as u64 / 10, &task(number), Some("fake/m1"));
    }
    for number in 0..20 {
        play.end(9, &task(number), TaskState::Completed);
    }
    for number in 20..23 {
        play.end(9, &task(number), TaskState::Failed);
    }
    for number in 23..63 {
        play.say(&task(number), Progress::Turn(3));
        play.say(&task(number), Progress::Tokens { fresh: 9600, cached: 21_000 });
        play.say(&task(number), Progress::Waiting(number < 55));
    }
    play.say(&task(60), Progress::Tool("Grep".to_owned(), "class Session".to_owned()));
    play
}

#[test]
fn what_is_drawn_fits_the_terminal_whatever_its_size() {
    for (lines, columns) in [(24, 80), (40, 120), (8, 60), (50, 200), (15, 60), (4, 20), (1, 1)] {
        large().shown(12, lines, columns);
        small().shown(12, lines, columns);
    }
}

#[test]
fn a_row_a_task_and_those_of_one_that_became_many_below_its_counts() {
    assert_eq!(small().shown(12, 24, 80), include_str!("snapshots/small_80x24.txt"));
    assert_eq!(small().shown(12, 40, 120), include_str!("snapshots/small_120x40.txt"));
}

#[test]
fn as_many_rows_as_the_screen_has_and_the_limit_that_holds() {
    assert_eq!(large().shown(12, 24, 80), include_str!("snapshots/large_80x24.txt"));
    assert_eq!(large().shown(12, 40, 120), include_str!("snapshots/large_120x40.txt"));
}

#[test]
fn the_columns_of_a_run_stay_where_they_are_whatever_begins_and_ends() {
    let mut play = large();
    let before = name_width(&play.0, 80);
    play.end(13, "review[.github/ISSUE_TEMPLATE/Feature_request-60.md]", TaskState::Completed);
    assert_eq!(name_width(&play.0, 80), before);
    assert_eq!(name_width(&Play::of(&["list", "review"], 4).0, 80), before, "before any name is known");
    let mut known = View::default();
    known.longest = 15;
    assert_eq!(name_width(&known, 80), 15);
}

#[test]
fn an_order_to_stop_says_what_the_key_does_and_every_row_stops() {
    let mut play = small();
    let kill = |reason, force| Event::KillRequested { task: None, reason, force };
    play.at(13, kill(Reason::Cancelled, false));
    let text = play.shown(13, 24, 80);
    assert_eq!(text.matches("stops").count(), 6, "{text}");
    assert!(text.ends_with("\nstopping, Ctrl-C again to kill\n"), "{text}");
    let task = |key: &str| Address::from(format!("explore[{key}]").as_str());
    let not_run = Event::TaskEnded {
        task: task("late"),
        state: TaskState::Killed,
        reason: Some(Reason::Cancelled),
        message: None,
        allowed: false,
    };
    play.at(13, not_run);
    let text = play.shown(13, 24, 80);
    assert!(text.contains("explore  1/6 · 1 failed · 1 not run\n"), "{text}");
    assert!(
        text.contains("1/8 done · 1 failed · 6 running · 1 not run"),
        "what was not run is not done: {text}"
    );
    play.at(14, kill(Reason::Cancelled, true));
    assert!(play.shown(14, 24, 80).ends_with("\nkilling what runs\n"));
    let mut play = small();
    play.at(13, kill(Reason::FailFast, false));
    assert!(play.shown(13, 24, 80).ends_with("\nstopping: a task failed (fail fast)\n"));
}

#[test]
fn a_line_that_is_too_wide_goes_on_below_its_name() {
    let line = "FAILED  review[LICENSE]      9.7s  2 turns  provider  the model answered 400: no (built-in)";
    assert_eq!(
        folded(line, 60),
        [
            "FAILED  review[LICENSE]      9.7s  2 turns  provider  the",
            "        model answered 400: no (built-in)"
        ]
    );
    assert_eq!(folded("short", 60), ["short"]);
    let word = "x".repeat(90);
    assert_eq!(folded(&word, 60), [word], "a word is not broken");
}
