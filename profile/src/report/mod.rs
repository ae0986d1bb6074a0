//! The report writers: the presentation of an analysed run. No writer computes results about
//! the program; [`crate::analysis`] does that.
//!
//! To add a format, write a file with a `write` function and add a row to
//! [`WRITERS`]; the command line takes its choices and its help from there.

pub mod analyses;
pub mod csv;
pub mod csv_ompp_old;
mod escape;
pub mod folded;
pub mod html;
pub mod json;
pub(crate) mod sink;
pub mod tau;
pub mod text;
pub mod xml;

use std::io::{self, Write};

pub use sink::Style;

use crate::analysis::Report;
use crate::model::Run;
use crate::printable::printable;

/// A report format.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// The name that users give.
    pub name: &'static str,
    /// Extension of files, without dot.
    pub extension: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Whether the output is the whole profile, whatever is selected.
    pub is_whole: bool,
    /// Writes a report in this format.
    pub write: fn(&Report<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every format; the first one is the default.
pub const WRITERS: &[Writer] = &[
    Writer {
        name: "text",
        extension: "txt",
        about: "ompP's report, to read",
        is_whole: false,
        write: text::write,
    },
    Writer {
        name: "csv",
        extension: "csv",
        about: "ompP's report as comma separated values, nothing rounded",
        is_whole: false,
        write: csv::write,
    },
    Writer {
        name: "csv-ompp-old",
        extension: "csv",
        about: "the same in the grammar of older versions of ompP, which TAU's ParaProf reads",
        is_whole: false,
        write: csv_ompp_old::write,
    },
    Writer {
        name: "json",
        extension: "json",
        about: "the saved profile itself",
        is_whole: true,
        write: |report, out| json::write(report.profile, out),
    },
    Writer {
        name: "analysis",
        extension: "json",
        about: "what the analyses found, as JSON",
        is_whole: false,
        write: analyses::write,
    },
    Writer {
        name: "xml",
        extension: "xml",
        about: "POMPROF's summary and detail views as XML",
        is_whole: false,
        write: xml::write,
    },
    Writer {
        name: "html",
        extension: "html",
        about: "one page for a browser, with everything in it",
        is_whole: true,
        write: html::write,
    },
    Writer {
        name: "folded",
        extension: "folded",
        about: "folded stacks of thread time in ns, for flame graphs",
        is_whole: false,
        write: folded::write,
    },
    Writer {
        name: "tau",
        extension: "tar",
        about: "TAU's profile.0.0.0 and so on, as an archive: | tar x, then pprof or paraprof",
        is_whole: false,
        write: tau::write,
    },
    Writer {
        name: "pprof",
        extension: "txt",
        about: "timers by thread, by region and by construct, with means and standard deviations",
        is_whole: false,
        write: tau::write_pprof,
    },
];

/// The format of this name.
#[must_use]
pub fn writer(name: &str) -> Option<&'static Writer> {
    WRITERS.iter().find(|writer| writer.name == name)
}

/// The process's id; nothing for several processes.
fn process(run: &Run) -> String {
    match run.pid {
        0 => String::new(),
        pid => pid.to_string(),
    }
}

/// The lines of ompP's section "General Information", in its order. `seconds` writes a time in
/// nanoseconds in the style of the format.
fn general_facts(run: &Run, seconds: impl Fn(u64) -> String) -> [(&'static str, String); 12] {
    let shown = |text: &str| printable(text).into_owned();
    [
        ("Start Date", shown(&run.start)),
        ("End Date", shown(&run.end)),
        ("Duration", seconds(run.duration_ns)),
        ("Application Name", shown(&run.application)),
        ("Type of Report", report_type(run).to_owned()),
        ("User Time", seconds(run.user_ns)),
        ("System Time", seconds(run.system_ns)),
        ("Max Threads", run.max_threads.to_string()),
        ("Romp Version", shown(&run.romp_version)),
        ("Host", shown(&run.host)),
        ("Process", process(run)),
        ("Clock", shown(&run.clock)),
    ]
}

/// ompP's word for whether the program continued afterwards.
fn report_type(run: &Run) -> &'static str {
    if run.incremental {
        "incremental"
    } else {
        "final"
    }
}
