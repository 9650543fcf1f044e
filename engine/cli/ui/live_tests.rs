use flow_core::ids::{Attempt, Millis};

use flow_run::watch::Spent;

use super::*;

fn view(tasks: &[&str]) -> View {
    let running = |activity: &str| RunningTask {
        attempt: Attempt(1),
        since: Millis(0),
        launch: None,
        turn: 0,
        spent: Spent::default(),
        activity: activity.to_owned(),
        waiting: false,
    };
    let mut view = View::default();
    for task in tasks {
        view.running.insert(Address::task(task), running(&"works ".repeat(60)));
    }
    view
}

#[test]
fn what_is_drawn_fits_the_terminal_whatever_its_size() {
    let long = "n".repeat(90);
    let names: Vec<String> = (0..30).map(|number| format!("{long}{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (lines, columns) in [(24, 80), (8, 60), (50, 200), (4, 20), (1, 1)] {
        let text = area(&view(&names), Duration::from_secs(3), lines, columns);
        assert!(text.lines().count() <= (lines.saturating_sub(2)).max(2), "{lines}x{columns}:\n{text}");
        for line in text.lines() {
            assert!(console::measure_text_width(line) < columns.max(2), "{lines}x{columns}: {line}");
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_counted() {
    let text = area(&view(&["a", "b", "c", "d"]), Duration::ZERO, 6, 80);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("4 running") && text.contains("1 more not shown"), "{text}");
}
