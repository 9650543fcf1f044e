use super::*;

fn update(number: u32) -> Update {
    Update::Progress(Address::task("t"), Progress::Turn(number))
}

#[test]
fn a_watcher_that_does_not_read_never_blocks_the_run_and_hears_how_much_it_missed() {
    let (publisher, updates) = channel();
    for number in 0..20_000 {
        publisher.publish(update(number));
    }
    assert_eq!(updates.dropped(), 20_000 - WAITING as u64);
    assert!(matches!(updates.next(Duration::ZERO), Ok(Some(Update::Progress(_, Progress::Turn(0))))));
}

#[test]
fn a_dead_watcher_is_no_error_and_a_dead_run_ends_the_updates() {
    let (publisher, updates) = channel();
    assert_eq!(updates.next(Duration::ZERO).err(), Some(NothingYet));
    publisher.publish(update(1));
    drop(publisher);
    assert!(updates.next(Duration::ZERO).unwrap().is_some());
    assert!(updates.next(Duration::ZERO).unwrap().is_none());
    let (publisher, updates) = channel();
    drop(updates);
    publisher.publish(update(1));
    Publisher::silent().publish(update(1));
}

#[test]
fn what_was_read_makes_room_again() {
    let (publisher, updates) = channel();
    for number in 0..=WAITING {
        publisher.publish(update(u32::try_from(number).unwrap()));
    }
    assert_eq!(updates.dropped(), 1);
    assert!(updates.next(Duration::ZERO).unwrap().is_some());
    publisher.publish(update(0));
    publisher.publish(update(0));
    assert_eq!(updates.dropped(), 2);
}

#[test]
fn every_update_is_read_before_the_end_of_a_run_is_heard() {
    let (publisher, updates) = channel();
    let reader = std::thread::spawn(move || {
        let mut read = 0;
        // Long enough that only the end itself, not time, can end this.
        while updates.next(Duration::from_secs(3600)).unwrap().is_some() {
            read += 1;
        }
        read
    });
    let other = publisher.clone();
    for number in 0..500 {
        publisher.publish(update(number));
        other.publish(update(number));
    }
    drop((publisher, other));
    assert_eq!(reader.join().unwrap(), 1000);
}
