use super::AttemptEnd::{Completed, Failed, Killed, Lost};
use super::{AttemptEnd, Reason, TaskState};

#[test]
fn the_reason_decides_whether_an_end_is_a_kill() {
    let cases = [
        (Completed, None, TaskState::Completed),
        (Lost, Some(Reason::WorkerRestart), TaskState::Lost),
        (Failed, None, TaskState::Failed),
        (Failed, Some(Reason::ExitCode), TaskState::Failed),
        (Failed, Some(Reason::Cancelled), TaskState::Killed),
        (Failed, Some(Reason::FailFast), TaskState::Killed),
        (Killed, None, TaskState::Killed),
        (Killed, Some(Reason::Cancelled), TaskState::Killed),
        (Killed, Some(Reason::FailFast), TaskState::Killed),
        (Killed, Some(Reason::Timeout), TaskState::Failed),
    ];
    for (end, reason, state) in cases {
        assert_eq!(end.task_state(reason), state, "{end:?}, {reason:?}");
    }
}

#[test]
fn what_is_stopped_ends_in_the_state_that_its_reason_says() {
    for &reason in Reason::ALL {
        let end = AttemptEnd::when_stopped(reason);
        let state = if reason.is_deliberate() { TaskState::Killed } else { TaskState::Failed };
        assert_eq!(end.task_state(Some(reason)), state, "{reason:?}");
    }
}
