//! The ways in which `fixtures/ends/ends.c` ends, and how many profiles are due.

/// A way to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The word on the program's command line.
    pub word: String,
    /// The number of profiles that are there afterwards if nothing prevents them.
    pub due: usize,
    /// Whether the few runs that test every change include it.
    pub is_basic: bool,
    /// Whether it is tried under every condition. The other signals behave like one that is.
    pub is_crossed: bool,
}

/// Ways without a signal: the word, the number of expected profiles, and whether the way is
/// basic.
const PLAIN: &[(&str, usize, bool)] = &[
    ("return", 1, true),
    ("exit", 1, false),
    ("atexit", 1, false),
    ("_exit", 1, true),
    ("_Exit", 1, false),
    ("quick_exit", 1, false),
    ("early-_exit", 0, false),
    // The library does not learn of these.
    ("exit_group", 0, false),
    ("abort", 0, true),
    ("overflow", 0, false),
    ("exit-in-master", 1, false),
    ("exit-in-worker", 1, true),
    ("exit-everywhere", 1, true),
    ("handler-_exit", 1, false),
    ("handler-exit", 1, false),
    ("execv", 1, true),
    ("execlp", 1, false),
    ("execve-fails", 1, false),
    ("exec-itself", 2, true),
    ("fork-exit", 1, false),
    ("fork-_exit", 1, true),
    ("fork-exec", 1, false),
    ("fork-abort", 1, false),
    ("vfork-_exit", 1, false),
    ("vfork-exec", 1, true),
    ("spawn", 1, false),
    ("system", 1, false),
    // The parent has a profile, and the child has one.
    ("daemon", 2, true),
    ("daemon-null", 2, false),
    ("chdir", 1, false),
    ("chroot", 0, false),
    ("setuid", 1, true),
    ("setuid-thread", 1, false),
    ("close-all", 1, false),
    ("files-reused", 1, true),
    ("numbers", 1, true),
    ("mask", 1, true),
];

/// Who sends a signal, and from where.
const SENDERS: &[&str] = &[
    "raise", "kill", "thread", "process", "region", "critical", "handled",
];

/// Signals by number. Those that stop a process are left out, and so is `SIGUSR1`, by which
/// the user asks for the profile.
const SIGNALS: std::ops::Range<u32> = 1..32;
const SIGUSR1: u32 = 10;
const STOPPING: &[u32] = &[19, 20, 21, 22];
/// Those that cannot be handled.
const SIGKILL: u32 = 9;
/// The profile is written before the program dies of these.
const WRITTEN_AT: &[u32] = &[2, 15, 24];
/// Signals that do nothing by default.
const HARMLESS: &[u32] = &[17, 18, 23, 28];

/// Signals that are sent under every condition: some of the sorts above, and those that the
/// system sends for writing.
const CROSSED: &[u32] = &[6, 13, 15, 17, 25];

/// All ways.
#[must_use]
pub fn all() -> Vec<Way> {
    let plain = PLAIN.iter().map(|(word, due, is_basic)| Way {
        word: (*word).to_owned(),
        due: *due,
        is_basic: *is_basic,
        is_crossed: true,
    });
    plain.chain(with_signals()).collect()
}

fn with_signals() -> impl Iterator<Item = Way> {
    SENDERS.iter().flat_map(|sender| {
        let signals = SIGNALS.filter(|signal| !STOPPING.contains(signal));
        let is_handled = *sender == "handled";
        let signals = signals.filter(move |signal| match *signal {
            SIGUSR1 => is_handled,
            SIGKILL => !is_handled,
            _ => true,
        });
        signals.map(move |signal| {
            let is_written = is_handled || [WRITTEN_AT, HARMLESS].concat().contains(&signal);
            Way {
                word: format!("{sender}:{signal}"),
                due: usize::from(is_written),
                is_basic: signal == 15 && *sender != "kill",
                is_crossed: CROSSED.contains(&signal) && *sender != "kill",
            }
        })
    })
}
