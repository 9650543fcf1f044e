//! Names of signals, as Linux numbers them on the machines that flow runs on.

const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The name of a signal; real-time ones and strangers by their number.
pub(super) fn signal_name(number: i32) -> String {
    let index = usize::try_from(number - 1).ok();
    match index.and_then(|index| NAMES.get(index)) {
        Some(name) => (*name).to_owned(),
        None => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::Signal;

    use super::*;

    #[test]
    fn numbers_have_the_names_of_this_machine() {
        let named = [
            (Signal::HUP, "SIGHUP"),
            (Signal::KILL, "SIGKILL"),
            (Signal::SEGV, "SIGSEGV"),
            (Signal::TERM, "SIGTERM"),
            (Signal::XFSZ, "SIGXFSZ"),
            (Signal::SYS, "SIGSYS"),
        ];
        named.iter().for_each(|(signal, name)| assert_eq!(signal_name(signal.as_raw()), *name));
        assert_eq!(signal_name(34), "signal 34");
        assert_eq!(signal_name(0), "signal 0");
    }
}
