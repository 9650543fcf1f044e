use std::process::Command;

use super::*;

#[tokio::test]
async fn every_order_is_heard() {
    let mut orders = Orders::listen().unwrap();
    for (signal, order) in [
        (Signal::INT, Order::Interrupt),
        (Signal::QUIT, Order::Terminate),
        (Signal::TERM, Order::Terminate),
        (Signal::HUP, Order::HangUp),
        (Signal::TSTP, Order::Suspend),
    ] {
        kill_process(getpid(), signal).unwrap();
        assert_eq!(orders.next().await, order);
    }
}

#[tokio::test]
async fn suspending_stops_the_groups_with_us_and_continuing_wakes_them() {
    // The child waits for us to stand still, notes that, and continues us. It is in a group that gets stopped too, so
    // what continues us has to be outside: a plain child.
    let us = getpid();
    let mut sleeper = process::Leader::spawn(Command::new("sleep").arg("1000")).unwrap();
    let script = format!("while ! grep -q '^State:.T' /proc/{us}/status; do :; done; kill -CONT {us}");
    let mut waker = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    suspend().unwrap();
    assert!(waker.wait().unwrap().success());
    sleeper.signal(Signal::TERM);
    sleeper.wait().await.unwrap();
}

#[test]
fn what_nohup_ignores_is_seen() {
    let output = Command::new("sh").args(["-c", "trap '' HUP; exec cat /proc/self/status"]).output().unwrap();
    assert_eq!(parse_ignored(&String::from_utf8(output.stdout).unwrap()) & 1, 1);
    assert_eq!(parse_ignored(""), 0);
}
