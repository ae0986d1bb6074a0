//! What a change of the program, or of how it is run, did to its times: two
//! profiles compared, region by region and overhead by overhead.
//!
//! Regions are matched by [`crate::identity`]. A region's times are thread
//! times: execution with all that is below, and what was lost in it by
//! category. They can only be compared directly if both runs had as many
//! threads; a note says if not.

mod csv;
mod json;
mod text;

use std::collections::HashMap;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::analysis::Report;
use crate::columns::Quantity;
use crate::identity::{Pair, pairs};
use crate::model::{Profile, Region};
use crate::overheads::Category;
use crate::printable::printable;
use crate::region_kind::RegionKind;
use crate::units::{Nanoseconds, Percent, UnitError};

/// A format of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// What the user calls it.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Writes a comparison in this format.
    pub write: fn(&Diff, &mut dyn Write) -> io::Result<()>,
}

/// Every format; the first one is the default.
pub const WRITERS: &[Writer] = &[
    Writer {
        name: "text",
        about: "to read; changes that count as noise are left out",
        write: text::write,
    },
    Writer {
        name: "csv",
        about: "comma separated values, one line per change, nothing rounded or left out",
        write: csv::write,
    },
    Writer {
        name: "json",
        about: "the same as one JSON object, in nanoseconds",
        write: json::write,
    },
];

/// A change below any of these says nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Percent of the larger of both times.
    pub percent: Percent,
    /// A time.
    pub time: Nanoseconds,
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            percent: Percent(1.0),
            time: Nanoseconds(0),
        }
    }
}

impl Noise {
    /// Takes over what a user wrote: a percentage or a time.
    ///
    /// # Errors
    /// If it is neither.
    pub fn set(&mut self, text: &str) -> Result<(), UnitError> {
        match text.trim_end().ends_with('s') {
            true => self.time = text.parse()?,
            false => self.percent = text.parse()?,
        }
        Ok(())
    }

    fn covers(&self, before_ns: u64, after_ns: u64) -> bool {
        let change = before_ns.abs_diff(after_ns);
        let relative = self.percent.0 / 100.0 * before_ns.max(after_ns) as f64;
        change == 0 || (change as f64) < relative || change < self.time.0
    }
}

/// One of both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The program.
    pub application: String,
    /// When it started.
    pub start: String,
    /// Wall time of the run.
    pub duration_ns: u64,
    /// Largest number of threads.
    pub threads: u64,
    /// Number of processes.
    pub processes: u64,
}

/// A time that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Duration of the run.
    WallTime,
    /// Thread time in a region, with all that is below.
    ExecTime,
    /// Thread time lost.
    Lost(Category),
}

impl Subject {
    /// One word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WallTime => "wallT",
            Self::ExecTime => "execT",
            Self::Lost(category) => category.name(),
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Whether the region is in both programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is.
    Both,
    /// Only in the second.
    New,
    /// Only in the first.
    Vanished,
}

/// A region that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its kind.
    pub kind: RegionKind,
    /// Its file, as the second program names it.
    pub file: String,
    /// The same, as short as it can be.
    #[serde(skip)]
    pub short_file: String,
    /// Its first line in the second program; in the first if it vanished.
    pub line: u32,
    /// Its first line in the first program.
    pub line_before: Option<u32>,
    /// The enclosing function.
    pub function: Option<String>,
    /// Name of a critical section or user region.
    pub name: Option<String>,
    /// The directive.
    pub directive: Option<String>,
    /// The directive in the first program, if it was another one.
    pub directive_before: Option<String>,
    /// Whether it is in both programs.
    pub status: Status,
}

/// A time before and after.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The region; none for the whole program.
    pub region: Option<Place>,
    /// Which time.
    pub subject: Subject,
    /// In the first run; 0 if the region was not there.
    pub before_ns: u64,
    /// In the second run; 0 if the region is not there.
    pub after_ns: u64,
    /// After less before.
    pub change_ns: i128,
    /// After by before; none if before is 0, or one of them is not there.
    pub ratio: Option<f64>,
    /// Whether the change is too small to say anything.
    pub noise: bool,
}

/// Two runs compared.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// The first run.
    pub before: Side,
    /// The second run.
    pub after: Side,
    /// What makes the comparison doubtful.
    pub notes: Vec<String>,
    /// Times of the whole program.
    pub program: Vec<Change>,
    /// Times of regions, largest change first; not those that are 0 in both.
    pub regions: Vec<Change>,
}

/// Compares two profiles; [`crate::merge::fold`] them before.
#[must_use]
pub fn diff(before: &Profile, after: &Profile, noise: Noise) -> Diff {
    let (old, new) = (Analysed::new(before), Analysed::new(after));
    let mut regions = Vec::new();
    for pair in pairs(&before.regions, &after.regions) {
        let Some(place) = place(&old, &new, pair) else {
            continue;
        };
        for subject in subjects(Subject::ExecTime) {
            let times = [(&old, pair.before), (&new, pair.after)]
                .map(|(side, region)| region.map_or(0, |region| side.of_region(region, subject)));
            if times != [0, 0] {
                regions.push(change(Some(place.clone()), subject, times, noise));
            }
        }
    }
    regions.sort_by_key(|change| std::cmp::Reverse(change.change_ns.unsigned_abs()));
    let program = subjects(Subject::WallTime)
        .map(|subject| {
            let times = [old.of_program(subject), new.of_program(subject)];
            change(None, subject, times, noise)
        })
        .collect();
    Diff {
        notes: notes(&old, &new),
        before: old.side(),
        after: new.side(),
        program,
        regions,
    }
}

/// One time, then what was lost of it.
fn subjects(first: Subject) -> impl Iterator<Item = Subject> {
    std::iter::once(first).chain(Category::ALL.map(Subject::Lost))
}

fn change(region: Option<Place>, subject: Subject, times: [u64; 2], noise: Noise) -> Change {
    let [before_ns, after_ns] = times;
    let in_both = region
        .as_ref()
        .is_none_or(|region| region.status == Status::Both);
    Change {
        region,
        subject,
        before_ns,
        after_ns,
        change_ns: i128::from(after_ns) - i128::from(before_ns),
        ratio: (in_both && before_ns > 0).then(|| after_ns as f64 / before_ns as f64),
        noise: noise.covers(before_ns, after_ns),
    }
}

fn place(old: &Analysed<'_>, new: &Analysed<'_>, pair: Pair) -> Option<Place> {
    let (shown, index, status) = match (pair.before, pair.after) {
        (Some(_), Some(after)) => (new, after, Status::Both),
        (None, Some(after)) => (new, after, Status::New),
        (Some(before), None) => (old, before, Status::Vanished),
        (None, None) => return None,
    };
    let region = &shown.report.profile.regions[index];
    let was = pair
        .before
        .map(|before| &old.report.profile.regions[before]);
    Some(Place {
        kind: region.kind,
        file: shown.report.labels[index].file.clone(),
        short_file: shown.report.labels[index].short_file.clone(),
        line: region.begin[0],
        line_before: was.map(|was| was.begin[0]),
        function: shown.report.labels[index].function.clone(),
        name: shown.report.labels[index].name.clone(),
        directive: directive(region),
        directive_before: was
            .filter(|was| was.directive != region.directive)
            .and_then(directive),
        status,
    })
}

fn directive(region: &Region) -> Option<String> {
    let directive = region.directive.as_deref();
    directive.map(|text| printable(text).into_owned())
}

fn notes(old: &Analysed<'_>, new: &Analysed<'_>) -> Vec<String> {
    let (before, after) = (old.side(), new.side());
    let mut notes = Vec::new();
    let mut differ = |what: &str, before: u64, after: u64| {
        if before != after {
            notes.push(format!(
                "the runs had {before} and {after} {what}: thread times grow with their number, \
                 so compare the wall time"
            ));
        }
    };
    differ("threads", before.threads, after.threads);
    differ("processes", before.processes, after.processes);
    if before.application != after.application {
        notes.push(format!(
            "the programs have different names, {} and {}",
            before.application, after.application
        ));
    }
    notes
}

/// A run with the sums that are compared.
struct Analysed<'p> {
    report: Report<'p>,
    lost: HashMap<(usize, Category), u64>,
    exec: HashMap<usize, u64>,
}

impl<'p> Analysed<'p> {
    fn new(profile: &'p Profile) -> Self {
        let report = Report::new(profile);
        let mut lost: HashMap<(usize, Category), u64> = HashMap::new();
        for place in &report.overheads.places {
            *lost.entry((place.region, place.category)).or_default() += place.lost.ns;
        }
        let exec = report
            .flat
            .iter()
            .filter_map(|table| {
                let column = table.column(Quantity::ExecTime)?;
                Some((table.region, table.sum[column]))
            })
            .collect();
        Self { report, lost, exec }
    }

    fn side(&self) -> Side {
        let run = &self.report.profile.run;
        Side {
            application: printable(&run.application).into_owned(),
            start: run.start.clone(),
            duration_ns: run.duration_ns,
            threads: self.report.overheads.threads,
            processes: self.report.overheads.processes,
        }
    }

    fn of_region(&self, region: usize, subject: Subject) -> u64 {
        let time = match subject {
            Subject::Lost(category) => self.lost.get(&(region, category)),
            Subject::WallTime | Subject::ExecTime => self.exec.get(&region),
        };
        time.copied().unwrap_or(0)
    }

    fn of_program(&self, subject: Subject) -> u64 {
        let overheads = &self.report.overheads;
        match subject {
            Subject::Lost(category) => overheads.whole_sum.by_category[category as usize].ns,
            Subject::WallTime | Subject::ExecTime => overheads.duration_ns,
        }
    }
}
