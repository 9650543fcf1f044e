use std::ffi::OsString;

use flow_core::model::Reason;

use super::*;
use crate::sys::stop::{StopOrder, stop_pair};

const CANCEL: StopOrder = StopOrder { reason: Reason::Cancelled, force: false };

fn short() -> io::Error {
    Errno::AGAIN.into()
}

#[tokio::test(start_paused = true)]
async fn a_start_is_tried_again_while_the_machine_is_short_of_something() {
    let (_switch, mut stop) = stop_pair();
    let mut tries = 0;
    let start = || {
        tries += 1;
        if tries < 3 { Err(short()) } else { Ok(tries) }
    };
    assert_eq!(patiently(start, &mut stop).await.unwrap(), 3);
    let mut tries = 0;
    let failed = patiently::<()>(
        || {
            tries += 1;
            Err(short())
        },
        &mut stop,
    );
    assert!(matches!(failed.await, Err(NotRun::Spawn(error)) if is_shortage(&error)));
    assert_eq!(tries, 3);
}

#[tokio::test(start_paused = true)]
async fn what_will_not_get_better_is_tried_once() {
    let (_switch, mut stop) = stop_pair();
    let mut tries = 0;
    let start = || {
        tries += 1;
        Err(io::Error::from(Errno::NOENT))
    };
    assert!(matches!(patiently::<()>(start, &mut stop).await, Err(NotRun::Spawn(_))));
    assert_eq!(tries, 1);
}

#[tokio::test(start_paused = true)]
async fn an_order_to_end_ends_the_tries() {
    let (switch, mut stop) = stop_pair();
    let mut tries = 0;
    let start = || {
        tries += 1;
        switch.stop(CANCEL);
        Err(short())
    };
    let never = patiently::<()>(start, &mut stop).await;
    assert!(matches!(never, Err(NotRun::Stopped(order)) if order == CANCEL), "{never:?}");
    let after = patiently::<()>(|| Ok(()), &mut stop).await;
    assert!(matches!(after, Err(NotRun::Stopped(_))), "nothing is started after an order");
    assert_eq!(tries, 1);
}

#[test]
fn a_program_is_looked_for_where_the_command_will_look() {
    let root = tempfile::tempdir().unwrap();
    let tool = root.path().join("bin/tool");
    std::fs::create_dir(root.path().join("bin")).unwrap();
    std::fs::write(&tool, "").unwrap();
    let find = |path: &str| {
        let env = super::super::Environment { removed: Vec::new(), set: vec![("PATH".into(), path.into())] };
        let command = Command {
            argv: &[],
            env: &env,
            dir: root.path(),
            tag: "",
            orphans: super::super::Orphans::Leave,
            limits: super::super::Limits::default(),
            grace: Duration::ZERO,
        };
        program(&command, OsStr::new("tool")).ok()
    };
    assert_eq!(find("bin"), None, "it may not be executed");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find("/nowhere:bin"), Some(OsString::from(&tool)));
    assert_eq!(find("/nowhere"), None);
}
