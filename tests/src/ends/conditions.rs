//! The conditions under which `fixtures/ends/launch.c` runs a program.

/// A condition.
#[derive(Debug)]
pub struct Condition {
    /// The word on the launcher's command line.
    pub word: &'static str,
    /// Where the files go: `ROMP_OUTPUT`, if it is set.
    pub output: Option<&'static str>,
    /// Whether nothing prevents the profile, and signals have their usual effect.
    pub leaves_profile: bool,
    /// Whether the few runs that test every change include it.
    pub is_basic: bool,
}

impl Condition {
    /// Whether the condition changes the effect of signals, or changes nothing.
    #[must_use]
    pub fn is_about_signals(&self) -> bool {
        let words = ["none", "all-ignored", "all-blocked"];
        words.contains(&self.word) && self.output.is_none()
    }
}

const fn row(word: &'static str, leaves_profile: bool, is_basic: bool) -> Condition {
    Condition {
        word,
        output: None,
        leaves_profile,
        is_basic,
    }
}

const fn writing_to(output: &'static str, leaves_profile: bool) -> Condition {
    Condition {
        output: Some(output),
        ..row("none", leaves_profile, false)
    }
}

/// The conditions.
pub const ALL: &[Condition] = &[
    row("none", true, true),
    row("user", true, false),
    row("stdin-closed", true, false),
    row("stdout-closed", true, false),
    row("stderr-closed", true, false),
    row("all-closed", true, true),
    row("stderr-nobody-reads", true, true),
    row("stdout-nobody-reads", false, false),
    row("stderr-pipe-full", true, true),
    row("stderr-socket-full", true, false),
    row("stderr-fifo-full", true, false),
    row("stderr-device-full", true, false),
    row("stdout-device-full", true, false),
    row("cwd-removed", false, false),
    row("cwd-read-only", false, false),
    row("disk-full", false, false),
    row("no-proc", false, false),
    row("fsize=0", false, true),
    row("fsize=4096", false, false),
    row("fsize=70000", false, false),
    row("nofile=4", false, true),
    row("nofile=6", false, false),
    row("nofile=64", true, false),
    row("as=200", false, false),
    row("as=512", false, false),
    row("data=32", false, false),
    row("data=128", false, false),
    row("stack=20", false, true),
    row("stack=128", false, false),
    row("stack=1024", true, false),
    row("nproc=2", false, true),
    row("nproc=3", false, false),
    row("child-ignored", false, false),
    row("all-ignored", false, true),
    row("all-blocked", false, true),
    writing_to("new/directory", true),
    writing_to("/dev/full", false),
    writing_to("/dev/null", false),
    writing_to("/proc", false),
];
