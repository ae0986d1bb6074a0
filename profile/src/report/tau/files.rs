//! TAU's files, as a `tar` archive: `profile.NODE.CONTEXT.THREAD` with one timer per region,
//! and files of the same names in the folder `constructs` with one timer per kind of construct.
//!
//! ```text
//! 4 templated_functions_MULTI_TIME
//! # Name Calls Subrs Excl Incl ProfileCalls # <metadata>...</metadata>
//! ".TAU application" 1 1 12 1000 0 GROUP="TAU_DEFAULT"
//! "OpenMP LOOP [{a.c} {3,0}-{9,0}]" 1 0 988 988 0 GROUP="OpenMP"
//! 0 aggregates
//! ```
//!
//! Times are microseconds. A node is a process.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::timers::{APPLICATION, By, Thread, Timer, Timers};
use crate::analysis::Report;
use crate::printable::is_command;

/// Size of an archive's block in bytes.
const BLOCK: usize = 512;

/// Writes the archive.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (folder, by) in [("", By::Region), ("constructs/", By::Construct)] {
        let timers = Timers::new(report, by);
        for thread in &timers.threads {
            let name = format!("{folder}profile.{}.0.{}", thread.rank, thread.number);
            let metadata = metadata(report);
            file(&name, &text(&timers, thread, &metadata), out)?;
        }
    }
    out.write_all(&[0; 2 * BLOCK])
}

/// Facts about the run, in TAU's form.
fn metadata(report: &Report<'_>) -> String {
    let run = &report.profile.run;
    let facts = [
        ("Metric Name", "TIME"),
        ("Executable", &run.application),
        ("Hostname", &run.host),
        ("Local Time", &run.start),
    ];
    let attribute = |(name, value): (&str, &str)| {
        let value: String = value
            .chars()
            .filter(|c| !"<>&\"".contains(*c) && !is_command(*c))
            .collect();
        format!("<attribute><name>{name}</name><value>{value}</value></attribute>")
    };
    facts.map(attribute).concat()
}

fn text(timers: &Timers, thread: &Thread, metadata: &str) -> String {
    let flat = timers.flat(thread);
    let mut text = format!(
        "{} templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # \
         <metadata>{metadata}</metadata>\n",
        1 + flat.len() + thread.paths.len()
    );
    // Whole microseconds: readers accept no others in this line.
    let Timer {
        calls,
        below,
        exclusive,
        inclusive,
    } = thread.application;
    let (exclusive, inclusive) = (exclusive / 1000, inclusive / 1000);
    let _ = writeln!(
        text,
        "\"{APPLICATION}\" {calls} {below} {exclusive} {inclusive} 0 GROUP=\"TAU_DEFAULT\""
    );
    for (name, timer) in &flat {
        line(&timers.names[*name], *timer, "OpenMP", &mut text);
    }
    for (path, timer) in &thread.paths {
        let names = path.iter().map(|name| timers.names[*name].as_str());
        let names: Vec<&str> = std::iter::once(APPLICATION).chain(names).collect();
        line(
            &names.join(" => "),
            *timer,
            "OpenMP|TAU_CALLPATH",
            &mut text,
        );
    }
    text.push_str("0 aggregates\n");
    text
}

fn line(name: &str, timer: Timer, group: &str, text: &mut String) {
    let Timer {
        calls,
        below,
        exclusive,
        inclusive,
    } = timer;
    let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
    let (exclusive, inclusive) = (micros(exclusive), micros(inclusive));
    let _ = writeln!(
        text,
        "\"{name}\" {calls} {below} {exclusive} {inclusive} 0 GROUP=\"{group}\""
    );
}

/// A file in an archive of POSIX's format `ustar`.
fn file(name: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut head = [0u8; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000644\x000000000\x000000000\0");
    put(124, format!("{:011o}\0{:011o}\0", text.len(), 0).as_bytes());
    put(148, b"        0");
    put(257, b"ustar\x0000");
    let sum: u32 = head.iter().copied().map(u32::from).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.write_all(&head)?;
    out.write_all(text.as_bytes())?;
    out.write_all(&[0; BLOCK][..text.len().wrapping_neg() % BLOCK])
}
