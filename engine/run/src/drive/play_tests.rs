//! Random plans, with attempts that do what comes to their mind.

use std::collections::BTreeMap;
use std::fmt::Write;

use flow_core::event::Event;
use flow_core::ids::{Address, Attempt};
use flow_core::model::{AttemptEnd, Command, Outcome, Reason};

use super::testing::{Rig, Scene, name_of, well};

/// How many plans are played.
const PLANS: u64 = 60;

/// Numbers that are always the same for a seed.
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    /// From 0 up to the one before `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % sides
    }
}

fn plan(dice: &mut Dice) -> String {
    let mut text = "tasks:\n".to_owned();
    for task in 0..2 + dice.roll(7) {
        let mut keys = vec!["run: x".to_owned()];
        if task > 0 && dice.roll(3) > 0 {
            keys.push(format!("needs: {{ t{}: done }}", dice.roll(task)));
        }
        if dice.roll(3) == 0 {
            keys.push(format!("retry: {{ max: {}, delay: 1ms, jitter: false }}", dice.roll(3)));
        }
        match dice.roll(4) {
            0 => keys.push("for_each: [1, 2, 3], max_parallel: 2, fail_fast: true".to_owned()),
            1 => keys.push("on_lost: fail".to_owned()),
            2 => keys.push("continue_on_error: true".to_owned()),
            _ => {}
        }
        writeln!(text, "  t{task}: {{ {} }}", keys.join(", ")).unwrap();
    }
    text
}

/// An attempt that does what comes to its mind, as a decent executor may.
async fn act(mut scene: Scene, seed: u64) -> Outcome {
    let address = scene.packet.address.to_string();
    let own = address.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut dice = Dice(own.wrapping_add(u64::from(scene.packet.attempt.0)));
    let pause = async |dice: &mut Dice| {
        for _ in 0..dice.roll(4) {
            tokio::task::yield_now().await;
        }
    };
    pause(&mut dice).await;
    match dice.roll(24) {
        0 => panic!("before it began"),
        1 => return Outcome::failed(Reason::Spawn, "it never began"),
        2 => {
            let how = Command::StopRun { force: dice.roll(2) == 0, signal: None };
            scene.commands.try_send(how).unwrap();
        }
        3 => {
            let task = Address::from("t0");
            scene.commands.try_send(Command::StopTask { task, force: false }).unwrap();
        }
        _ => {}
    }
    scene.launch().await.unwrap();
    scene.note("works");
    pause(&mut dice).await;
    if let Some(order) = scene.stop.order() {
        return Outcome::bare(AttemptEnd::Killed, Some(order.reason), None);
    }
    match dice.roll(6) {
        0 => Outcome::failed(Reason::ExitCode, "no luck"),
        1 => panic!("in the middle of its work"),
        _ => well(),
    }
}

#[tokio::test]
async fn every_attempt_that_starts_ends_once_and_works_only_when_that_is_written() {
    for seed in 0..PLANS {
        let mut dice = Dice(seed);
        let text = plan(&mut dice);
        let at_once = 1 + u32::try_from(dice.roll(4)).unwrap();
        let played = Rig::of(&text).at_once(at_once).play(move |scene| act(scene, seed)).await;
        let said = || format!("seed {seed}:\n{text}{:#?}", played.journal);
        assert!(played.status.is_ok(), "{}", said());
        let mut seen: BTreeMap<(Address, Attempt), Vec<String>> = BTreeMap::new();
        let (mut live, mut most) = (0u32, 0);
        for event in &played.journal {
            let (task, attempt) = match event {
                Event::AttemptStarting { task, attempt, .. } => {
                    live += 1;
                    (task, attempt)
                }
                Event::AttemptEnded { task, attempt, .. } => {
                    live -= 1;
                    (task, attempt)
                }
                Event::AttemptRunning { task, attempt, .. } => (task, attempt),
                _ => continue,
            };
            most = most.max(live);
            seen.entry((task.clone(), *attempt)).or_default().push(name_of(event));
        }
        assert!(live == 0 && most <= at_once, "{live} live, {most} at once: {}", said());
        for ((task, attempt), events) in seen {
            let whole = ["attempt_starting", "attempt_running", "attempt_ended"];
            let works = played.log.contains(&format!("{task}.{attempt} works"));
            let expected = if works { &whole[..] } else { &["attempt_starting", "attempt_ended"] };
            assert_eq!(events, expected, "{task}.{attempt}: {}", said());
        }
    }
}
