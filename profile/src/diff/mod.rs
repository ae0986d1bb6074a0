//! `romp diff`: compares two profiles, region by region and overhead by overhead. It shows
//! what a change of the program, or of the way it is run, did to its times.
//!
//! Regions are matched by [`crate::identity`]. A region's times are thread times: its
//! execution, including the regions below, and the time lost in it by category. These times can
//! only be compared directly if both runs had the same number of threads. If not, a note says
//! so.
//!
//! Each side may consist of several runs. Then medians are compared, and the intervals of the
//! runs distinguish a change from noise ([`Noise`]).

mod causes;
mod csv;
mod json;
mod noise;
mod side;
mod text;
mod verdict;

pub use causes::CauseChange;
pub use noise::Noise;
pub use side::Side;

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::analysis::words::percent;
use crate::identity::{Pair, pairs};
use crate::model::{BUSY_PERCENT, Profile, Region};
use crate::overheads::Category;
use crate::printable::printable;
use crate::region_kind::RegionKind;
use crate::runs::{Sample, location};
use noise::Compared;
use side::Analysed;

/// A format of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// The name that users give.
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

/// A time that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Duration of the run.
    WallTime,
    /// Thread time in a region, including the regions below.
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
    /// In both.
    Both,
    /// Only in the second.
    New,
    /// Only in the first.
    Vanished,
}

/// A region that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedRegion {
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
    /// Its index in the profile of the first run on the second side, if it is there.
    #[serde(skip)]
    pub index: Option<usize>,
}

impl ComparedRegion {
    /// `a.c:35`; the file alone if the line is not known.
    pub(crate) fn location(&self) -> String {
        location(&self.short_file, self.line)
    }
}

/// A time before and after.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The region; none for the whole program.
    pub region: Option<ComparedRegion>,
    /// Which time.
    pub subject: Subject,
    /// In the first runs, the median; 0 if the region was not there.
    pub before_ns: u64,
    /// In the second runs, the median; 0 if the region is not there.
    pub after_ns: u64,
    /// The first runs.
    pub before: Sample,
    /// The second runs.
    pub after: Sample,
    /// Time after minus time before.
    pub change_ns: i128,
    /// Time after divided by time before; none if the time before is 0 or a side has none.
    pub ratio: Option<f64>,
    /// Whether the change is too small to say anything.
    pub noise: bool,
}

/// Two sides compared.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// The first side.
    pub before: Side,
    /// The second side.
    pub after: Side,
    /// Facts that make the comparison doubtful.
    pub notes: Vec<String>,
    /// Times of the whole program.
    pub program: Vec<Change>,
    /// Causes that vanished, appeared or changed, largest change first; then those whose change
    /// is noise.
    pub causes: Vec<CauseChange>,
    /// Times of regions, largest change first, without those that are 0 on both sides.
    pub regions: Vec<Change>,
    /// Regions that are only in one of the programs: those that are new, then those that vanished.
    #[serde(skip)]
    pub one_sided: Vec<ComparedRegion>,
    /// The number of regions that are in both programs.
    #[serde(skip)]
    pub shared: usize,
    /// The result in one sentence.
    pub verdict: String,
}

/// Compares two profiles. Call [`crate::merge::fold`] on them before.
#[must_use]
pub fn diff(before: &Profile, after: &Profile, noise: Noise) -> Diff {
    let one = std::slice::from_ref;
    diff_runs(one(before), one(after), noise)
}

/// Compares two sides of at least one run each. Call [`crate::merge::fold`] on the profiles
/// before.
#[must_use]
pub fn diff_runs(before: &[Profile], after: &[Profile], noise: Noise) -> Diff {
    let (old, new) = (Analysed::new(before), Analysed::new(after));
    let whole_ns = old.thread_time_ns().max(new.thread_time_ns());
    let not_run_percent = f64::max(old.not_run_percent(), new.not_run_percent());
    let change =
        |region: Option<ComparedRegion>, subject: Subject, [before, after]: [Sample; 2]| {
            let compared = Compared {
                before,
                after,
                whole_ns,
                is_loss: matches!(subject, Subject::Lost(_)),
                not_run_percent,
            };
            change(region, subject, &compared, noise)
        };
    let mut regions = Vec::new();
    let pairs = pairs(old.regions(), new.regions());
    for &pair in &pairs {
        let Some(place) = place(&old, &new, pair) else {
            continue;
        };
        for subject in subjects(Subject::ExecTime) {
            let times = [(&old, pair.before), (&new, pair.after)].map(|(side, region)| {
                let none = || side.sample_of_nothing();
                region.map_or_else(none, |region| side.of_region(region, subject))
            });
            if times.iter().any(|times| times.high > 0) {
                regions.push(change(Some(place.clone()), subject, times));
            }
        }
    }
    regions.sort_by_key(|change| std::cmp::Reverse(change.change_ns.unsigned_abs()));
    let program: Vec<Change> = subjects(Subject::WallTime)
        .map(|subject| {
            let times = [old.of_program(subject), new.of_program(subject)];
            change(None, subject, times)
        })
        .collect();
    let duration_ns = program
        .first()
        .map_or(0, |wall| wall.before_ns.max(wall.after_ns));
    let is_noise = |before: Sample, after: Sample| {
        noise.covers(&Compared {
            before,
            after,
            whole_ns: duration_ns,
            is_loss: true,
            not_run_percent,
        })
    };
    let region = |pair| place(&old, &new, pair);
    let causes = causes::changes([&old, &new], &pairs, region, is_noise);
    let (shared, one_sided): (Vec<_>, Vec<_>) = pairs
        .iter()
        .filter_map(|&pair| place(&old, &new, pair))
        .partition(|region| region.status == Status::Both);
    let mut diff = Diff {
        causes,
        notes: notes(&old, &new, shared.len(), &one_sided),
        shared: shared.len(),
        one_sided,
        before: old.side(),
        after: new.side(),
        program,
        regions,
        verdict: String::new(),
    };
    diff.verdict = verdict::verdict(&diff, noise);
    diff
}

/// A time, followed by the losses in it by category.
fn subjects(first: Subject) -> impl Iterator<Item = Subject> {
    std::iter::once(first).chain(Category::ALL.map(Subject::Lost))
}

fn change(region: Option<ComparedRegion>, subject: Subject, of: &Compared, noise: Noise) -> Change {
    let Compared { before, after, .. } = *of;
    let [before_ns, after_ns] = [before, after].map(|times| times.median);
    let in_both = region
        .as_ref()
        .is_none_or(|region| region.status == Status::Both);
    Change {
        region,
        subject,
        before_ns,
        after_ns,
        before,
        after,
        change_ns: i128::from(after_ns) - i128::from(before_ns),
        ratio: (in_both && before_ns > 0).then(|| after_ns as f64 / before_ns as f64),
        noise: noise.covers(of),
    }
}

fn place(old: &Analysed<'_>, new: &Analysed<'_>, pair: Pair) -> Option<ComparedRegion> {
    let (shown, index, status) = match (pair.before, pair.after) {
        (Some(_), Some(after)) => (new, after, Status::Both),
        (None, Some(after)) => (new, after, Status::New),
        (Some(before), None) => (old, before, Status::Vanished),
        (None, None) => return None,
    };
    let region = &shown.regions()[index];
    let label = shown.common.label(&shown.reports, index);
    let was = pair.before.map(|before| &old.regions()[before]);
    Some(ComparedRegion {
        kind: region.kind,
        file: label.file.clone(),
        short_file: label.short_file.clone(),
        line: region.begin[0],
        line_before: was.map(|was| was.begin[0]),
        function: label.function.clone(),
        name: label.name.clone(),
        directive: directive(region),
        directive_before: was
            .filter(|was| was.directive != region.directive)
            .and_then(directive),
        status,
        index: pair
            .after
            .and_then(|region| new.common.in_profile(0, region)),
    })
}

fn directive(region: &Region) -> Option<String> {
    let directive = region.directive.as_deref();
    directive.map(|text| printable(text).into_owned())
}

impl Change {
    /// The time on the only side that has the region.
    #[must_use]
    pub fn one_sided(&self) -> Sample {
        match &self.region {
            Some(region) if region.status == Status::Vanished => self.before,
            _ => self.after,
        }
    }
}

impl Diff {
    /// The times of regions that are in both programs. A region that is in one program only is no
    /// change.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        let status = |change: &Change| change.region.as_ref().map(|region| region.status);
        let changes = self.regions.iter();
        changes.filter(move |change| status(change) == Some(Status::Both))
    }

    /// The regions that are only in one of the programs: those that took time there, most time
    /// first, with this time; then the others.
    #[must_use]
    pub fn one_sided_times(&self) -> Vec<(&ComparedRegion, Option<&Change>)> {
        let mut timed: Vec<_> = (self.regions.iter())
            .filter(|change| change.subject == Subject::ExecTime)
            .filter_map(|change| Some((change.region.as_ref()?, Some(change))))
            .filter(|(region, _)| region.status != Status::Both)
            .collect();
        let is_timed = |one: &ComparedRegion| timed.iter().any(|(region, _)| *region == one);
        let never: Vec<_> = (self.one_sided.iter())
            .filter(|one| !is_timed(one))
            .map(|one| (one, None))
            .collect();
        timed.extend(never);
        timed
    }

    /// Whether nothing but the programs as a whole can be compared.
    #[must_use]
    pub fn has_nothing_in_common(&self) -> bool {
        self.shared == 0 && !self.one_sided.is_empty()
    }
}

fn notes(
    old: &Analysed<'_>,
    new: &Analysed<'_>,
    shared: usize,
    one_sided: &[ComparedRegion],
) -> Vec<String> {
    let (before, after) = (old.side(), new.side());
    let mut notes = Vec::new();
    if shared > 0 && !one_sided.is_empty() {
        let of = |status| {
            one_sided
                .iter()
                .filter(|region| region.status == status)
                .count() as u64
        };
        notes.push(format!(
            "constructs in both programs: {shared}, only before: {}, only after: {}",
            of(Status::Vanished),
            of(Status::New)
        ));
    }
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
    for (side, which) in [(&before, "first"), (&after, "second")] {
        if side.not_run_percent >= BUSY_PERCENT {
            notes.push(format!(
                "in the {which} runs threads had no processor for {} of the time: the machine \
                 was busy",
                percent(side.not_run_percent)
            ));
        }
    }
    if shared > 0 && before.application != after.application {
        notes.push(format!(
            "the programs have different names, {} and {}",
            before.application, after.application
        ));
    }
    notes
}
