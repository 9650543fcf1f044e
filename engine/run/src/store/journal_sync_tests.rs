use std::sync::mpsc;

use super::*;

#[test]
fn many_writes_share_one_sync() {
    let (started, starts) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let shared = Arc::new(Shared::default());
    let theirs = Arc::clone(&shared);
    let body = move || {
        theirs.run(|| {
            started.send(()).unwrap();
            may_go.recv().map_err(io::Error::other)
        });
    };
    let thread = SyncThread { shared, thread: Some(std::thread::spawn(body)) };
    thread.written();
    starts.recv().unwrap();
    // These come while the first sync is under way, so they need a second one; but only one.
    (0..100).for_each(|_| thread.written());
    go.send(()).unwrap();
    go.send(()).unwrap();
    thread.sync().unwrap();
    assert_eq!(starts.try_iter().count(), 1);
}

#[test]
fn closing_brings_everything_to_the_disk_first() {
    let (done, count) = mpsc::channel();
    let shared = Arc::new(Shared::default());
    let theirs = Arc::clone(&shared);
    let body = move || theirs.run(|| done.send(()).map_err(io::Error::other));
    let thread = SyncThread { shared, thread: Some(std::thread::spawn(body)) };
    thread.written();
    drop(thread);
    assert_eq!(count.iter().count(), 1);
}

#[test]
fn a_failed_sync_is_not_tried_again() {
    let (done, count) = mpsc::channel();
    let shared = Arc::new(Shared::default());
    let theirs = Arc::clone(&shared);
    let body = move || {
        theirs.run(|| {
            done.send(()).unwrap();
            Err(io::Error::from_raw_os_error(5))
        });
    };
    let thread = SyncThread { shared, thread: Some(std::thread::spawn(body)) };
    thread.written();
    assert_eq!(thread.sync().unwrap_err().raw_os_error(), Some(5));
    thread.written();
    assert_eq!(thread.sync().unwrap_err().raw_os_error(), Some(5));
    drop(thread);
    assert_eq!(count.iter().count(), 1);
}
