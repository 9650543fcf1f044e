use std::sync::Arc;

use flow_core::event::{Entry, Event, VERSION};
use flow_core::ids::{Attempt, Millis};

use super::*;

#[test]
fn a_job_that_says_nothing_gives_a_sign_of_life_each_minute() {
    let mut silence = Silence::default();
    let mut said = Vec::new();
    for second in 0..=200 {
        if second == 70 {
            silence.is_broken();
        }
        if silence.is_too_long(Duration::from_secs(second)) {
            said.push(second);
        }
    }
    assert_eq!(said, [60, 130, 190]);
}

#[test]
fn a_sign_of_life_names_what_runs_on_one_line() {
    let mut view = View::default();
    for (seq, task) in ["a\n::error::b", "b", "c", "d", "e", "f"].into_iter().enumerate() {
        let event = Event::AttemptStarting { task: task.into(), attempt: Attempt(1), slot: Some(0) };
        let entry = Entry { v: VERSION, seq: seq as u64, at: Millis(0), event };
        view.update(&Update::Event(Arc::new(entry)));
    }
    let told = sign_of_life(&view, Duration::from_secs(60));
    assert_eq!(told, "...     0/0 done · 6 running · 1m00s: a\\n::error::b, b, c, d and 2 more");
}
