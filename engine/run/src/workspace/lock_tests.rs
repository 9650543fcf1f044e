use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[test]
fn only_one_holds_a_repository_at_a_time() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(".lock");
    let (inside, barrier) = (AtomicUsize::new(0), Barrier::new(4));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..20 {
                    let _lock = hold(&path, Patience::default().flow).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
}

#[test]
fn only_a_lock_of_git_is_waited_for() {
    let locked = || Err(WorkspaceError::GitLocked { lock: "x.lock".to_owned() });
    let mut answers = vec![Ok(7), locked(), locked()];
    assert_eq!(patiently(Patience::default().git, || answers.pop().unwrap()).unwrap(), 7);
    let mut calls = 0;
    let failed = patiently(Patience::default().git, || -> Result<(), _> {
        calls += 1;
        Err(WorkspaceError::NoHome)
    });
    assert!(failed.is_err());
    assert_eq!(calls, 1);
}
