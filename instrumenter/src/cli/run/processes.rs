//! What became of the processes of a run, by the list that they wrote (`profile::run_list`), and
//! what is said where a process left no profile.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use profile::run_list::{Entry, Mark};

use crate::wrapper::inherited::Ended;

/// What is known of the processes of a run.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// The written profiles, each with its process.
    pub(super) profiles: BTreeMap<PathBuf, u32>,
    /// Processes that used a runtime, and of which no profile came.
    silent: BTreeSet<u32>,
    /// Processes in which the library was not loaded again after an `exec`.
    replaced: BTreeSet<u32>,
    /// The marks that any process left.
    marks: Vec<Mark>,
}

impl Processes {
    pub(super) fn of(entries: Vec<Entry>) -> Self {
        let mut processes = Self::default();
        let mut sanitized = BTreeSet::new();
        for Entry {
            mark,
            process,
            path,
        } in entries
        {
            processes.marks.push(mark);
            match mark {
                Mark::Runtime if sanitized.contains(&process) => {}
                Mark::Runtime => {
                    processes.silent.insert(process);
                }
                Mark::Replaced => {
                    processes.replaced.insert(process);
                }
                Mark::Loaded => {
                    processes.replaced.remove(&process);
                    sanitized.remove(&process);
                }
                Mark::Saved => {
                    processes.profiles.insert(path, process);
                    processes.silent.remove(&process);
                }
                Mark::Lost | Mark::Nothing | Mark::Itself => {
                    processes.silent.remove(&process);
                }
                Mark::Sanitized => {
                    sanitized.insert(process);
                }
                Mark::NoTool => {}
            }
        }
        processes
    }

    fn has(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// Sentences on what is not measured, and why.
    pub(super) fn missing(&self, ended: &Ended, is_running: impl Fn(u32) -> bool) -> Vec<String> {
        let silent = self.silent.iter().map(|process| {
            let of = if *process == ended.process {
                "the program".to_owned()
            } else {
                format!("process {process}")
            };
            match ended.signal.filter(|_| *process == ended.process) {
                _ if is_running(*process) => format!(
                    "{of} still runs: it writes its profile when it ends, and 'romp report' \
                     shows it"
                ),
                Some(signal) => format!(
                    "{of} was killed by signal {} before it wrote a profile: \
                     ROMP_DUMP_INTERVAL=SECONDS has one written while it runs",
                    shown(signal)
                ),
                None => format!(
                    "{of} ended before it wrote a profile, as if it was killed: \
                     ROMP_DUMP_INTERVAL=SECONDS has one written while it runs"
                ),
            }
        });
        let mut said: Vec<String> = silent.collect();
        let mut say = |what: &str| said.push(what.to_owned());
        if self.has(Mark::Itself) {
            say("this program was built with Romp and measures itself: romp run adds nothing");
        }
        if self.has(Mark::Sanitized) {
            say(
                "a program with ThreadSanitizer can't be measured: it would report the measurement as \
                 data races. Build it without -fsanitize=thread",
            );
        }
        if self.has(Mark::NoTool) {
            say("OMP_TOOL=disabled forbids LLVM's OpenMP runtime to report events: leave it out");
        }
        let is_known = !self.profiles.is_empty() || self.has(Mark::Lost) || !said.is_empty();
        if !is_known {
            said.push(self.nothing(ended));
        }
        said
    }

    /// Why nothing at all was measured, where no process had anything to measure.
    fn nothing(&self, ended: &Ended) -> String {
        if self.has(Mark::Nothing) {
            return "no OpenMP construct that can be seen was reached; no profile is written"
                .to_owned();
        }
        if !self.has(Mark::Loaded) {
            return "the library that measures was not loaded into the program".to_owned();
        }
        if !self.replaced.is_empty() {
            return "a program was started without the library that measures: its environment was \
                    cleared (LD_PRELOAD), or it is linked statically"
                .to_owned();
        }
        let none = "used no OpenMP runtime that can be measured";
        match ended.signal {
            Some(signal) => format!(
                "the program {none} before it was killed by signal {}",
                shown(signal)
            ),
            None => format!("the program {none}"),
        }
    }
}

/// A signal with its name: `9 (SIGKILL)`.
fn shown(signal: i32) -> String {
    let ended = ExitStatus::from_raw(signal).to_string();
    ended.trim_start_matches("signal: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(list: &[u8], signal: Option<i32>, is_running: bool) -> String {
        let ended = Ended {
            process: 7,
            signal,
            code: 0,
        };
        let processes = Processes::of(profile::run_list::read(list));
        processes.missing(&ended, |_| is_running).join("\n")
    }

    #[test]
    fn what_is_said_is_what_the_list_tells() {
        for (list, signal, is_running, part) in [
            (&b"L7\0R7\0P7/a\0"[..], None, false, ""),
            (b"L7\0R7\0X7\0", None, false, ""),
            (
                b"L7\0R7\0",
                Some(9),
                false,
                "the program was killed by signal 9 (SIGKILL) before",
            ),
            (
                b"L7\0R7\0",
                None,
                false,
                "the program ended before it wrote",
            ),
            (b"L7\0L8\0R8\0", Some(9), false, "process 8 ended before"),
            (b"L7\0L8\0R8\0", None, true, "process 8 still runs"),
            (
                b"L7\0R7\0N7\0",
                None,
                false,
                "no OpenMP construct that can be seen",
            ),
            (b"L7\0E7\0", None, false, "environment was cleared"),
            (
                b"L7\0E7\0L7\0",
                None,
                false,
                "the program used no OpenMP runtime",
            ),
            (
                b"L7\0",
                Some(11),
                false,
                "before it was killed by signal 11 (SIGSEGV)",
            ),
            (b"", None, false, "was not loaded into the program"),
            (b"L7\0T7\0R7\0P7/a\0", None, false, "OMP_TOOL=disabled"),
            (b"L7\0Z7\0R7\0", None, false, "ThreadSanitizer"),
            (b"L7\0S7\0", None, false, "measures itself"),
        ] {
            let said = said(list, signal, is_running);
            let is_right = said.contains(part) && (said.is_empty() == part.is_empty());
            assert!(is_right && said.lines().count() <= 1, "{part}: {said}");
        }
    }
}
