//! How a program scales: several runs with different numbers of threads are compared, and the
//! loss against ideal scaling is divided by place and part.
//!
//! The measure is thread time: the duration times the number of threads. With ideal scaling, it
//! is the same as with the fewest threads. So the loss is:
//!
//! ```text
//! loss = thread time - thread time with the fewest threads
//!      = sum over places and parts of what the part takes more
//! loss in elapsed time = loss / number of threads
//! ```
//!
//! A place is a parallel region, or everything outside them. Each place's thread time is
//! divided into the parts of [`Part`], which come from the overhead analysis. The parts add up
//! to the thread time, so the parts of the loss add up to the loss: for each place, and in
//! total.
//!
//! Of several runs with the same number of threads, the run of median duration represents all
//! of them, since medians of parts would not add up. The intervals are computed from all runs.

mod csv;
mod forecast;
mod limit;
mod measured;
mod text;

pub use forecast::{Forecast, Tried};
pub use limit::{Inside, Limit, LimitCause};
pub use text::write_styled as write_text;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::analysis::Report;
use crate::analysis::words::{count, shared};
use crate::model::{BUSY_PERCENT, Profile};
use crate::printable::printable;
use crate::runs::{Common, OnProcessors, Sample, Site};
use measured::{Measured, measure};

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// The name that users give.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Writes it in this format.
    pub write: fn(&Scaling, &mut dyn Write) -> io::Result<()>,
}

/// Every format; the first one is the default.
pub const WRITERS: &[Writer] = &[
    Writer {
        name: "text",
        about: "to read, the places that lose most",
        write: text::write,
    },
    Writer {
        name: "csv",
        about: "comma separated values, one line per place and number of threads",
        write: csv::write,
    },
    Writer {
        name: "json",
        about: "everything as one JSON object, in nanoseconds",
        write: |scaling, out| {
            crate::printable::write_pretty_json(&mut *out, scaling)?;
            writeln!(out)
        },
    },
];

/// Why scaling cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// All runs had the same number of threads.
    #[error(
        "all runs had {}: give runs with several numbers, such as those of OMP_NUM_THREADS=1, 2 and 4 \
         (does the program set the number itself?)",
        count(*.0, "thread")
    )]
    OneWidth(u64),
    /// No profile is given.
    #[error("no profile is given")]
    NoRun,
}

/// A part of the thread time of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Work. If it grows with the number of threads, the same work takes longer, because of the
    /// memory's bandwidth or because threads take cache lines from each other; or there is more
    /// to do.
    Work,
    /// Waiting for other threads.
    Waiting,
    /// Outside parallel regions: the thread that worked, and the threads without work.
    Serial,
    /// Time of the OpenMP library itself.
    Runtime,
    /// Work for which threads had no processor: the machine was busy, or there were more
    /// threads than processors. If the kernel does not report it, it is counted as work.
    NotRun,
    /// Threads that small teams did not use.
    SmallTeams,
    /// Time that may have been work or not.
    Untold,
}

impl Part {
    /// All of them; the discriminant is the index.
    pub const ALL: [Self; 7] = [
        Self::Work,
        Self::Waiting,
        Self::Serial,
        Self::Runtime,
        Self::NotRun,
        Self::SmallTeams,
        Self::Untold,
    ];

    /// The title of its column.
    #[must_use]
    pub fn title(self) -> &'static str {
        [
            "work grew",
            "waiting",
            "serial",
            "runtime",
            "not run",
            "small teams",
            "not known",
        ][self as usize]
    }
}

/// Thread time in nanoseconds, by [`Part`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts(pub [i128; Part::ALL.len()]);

impl Amounts {
    /// The time of one part.
    #[must_use]
    pub fn of(&self, part: Part) -> i128 {
        self.0[part as usize]
    }

    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.0.iter().sum()
    }

    /// The largest part.
    #[must_use]
    pub fn largest(&self) -> Part {
        let largest = |part: &Part| self.of(*part);
        Part::ALL
            .into_iter()
            .max_by_key(largest)
            .unwrap_or(Part::Work)
    }

    fn add(&mut self, other: &Self) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            *mine += more;
        }
    }

    fn less(&self, other: &Self) -> Self {
        let mut rest = *self;
        for (mine, less) in rest.0.iter_mut().zip(other.0) {
            *mine -= less;
        }
        rest
    }
}

impl Serialize for Amounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named: BTreeMap<Part, i128> = Part::ALL
            .into_iter()
            .map(|part| (part, self.of(part)))
            .collect();
        named.serialize(serializer)
    }
}

/// The runs with the same number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Width {
    /// The largest number of threads that were active at once.
    pub threads: u64,
    /// The number of processors; 0 if it is not known.
    pub processors: u64,
    /// The durations of the runs.
    pub duration: Sample,
    /// The duration of the run that represents all of them.
    pub duration_ns: u64,
    /// The speedup over the fewest threads.
    pub speedup: f64,
    /// The speedup, divided by the quotient of both numbers of threads.
    pub efficiency: f64,
    /// Thread time lost against ideal scaling.
    pub lost: Amounts,
}

impl Width {
    /// Whether each thread had a processor, as far as that is known.
    #[must_use]
    pub fn has_processors(&self) -> bool {
        self.processors == 0 || self.threads <= self.processors
    }

    /// The elapsed time that corresponds to a thread time.
    #[must_use]
    pub fn elapsed(&self, thread_ns: i128) -> i128 {
        thread_ns / i128::from(self.threads.max(1))
    }
}

/// A place with one number of threads.
#[derive(Clone, Debug, Default, Serialize)]
pub struct At {
    /// Its thread time.
    pub time: Amounts,
    /// The loss of thread time against ideal scaling.
    pub lost: Amounts,
    /// All parts together: the lowest and highest loss that the intervals of the runs allow.
    pub lost_interval: [i128; 2],
    /// Counter values, in the order of [`Scaling::counters`].
    pub counters: Vec<u64>,
}

/// How a place scales.
#[derive(Clone, Debug, Serialize)]
pub struct ScaledRegion {
    /// The parallel region; none for the time outside all of them.
    pub region: Option<Site>,
    /// The values for each number of threads, in the order of [`Scaling::widths`].
    pub at: Vec<At>,
    /// The construct in the region whose work grew most, if it has most of the growth.
    pub inside: Option<Inside>,
    /// The first cause of the place in the run with the judged number of threads.
    pub cause: Option<LimitCause>,
    /// Whether each thread seems to do all of the work.
    pub is_repeated: bool,
}

impl ScaledRegion {
    /// The place, in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let outside = || "outside parallel regions".to_owned();
        self.region.as_ref().map_or_else(outside, Site::in_words)
    }
}

/// How a program scales.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// The program.
    pub application: String,
    /// The numbers of threads, the smallest first.
    pub widths: Vec<Width>,
    /// The index of the judged number of threads: the largest one for which each thread had a
    /// processor.
    pub judged: usize,
    /// The names of the counters that all runs have.
    pub counters: Vec<String>,
    /// The places. Those that lose most at the judged number of threads stand first.
    pub places: Vec<ScaledRegion>,
    /// The limits.
    pub limits: Vec<Limit>,
    /// The forecast for twice as many threads; none if the smallest number is judged.
    pub forecast: Option<Forecast>,
    /// Facts that make the comparison doubtful.
    pub notes: Vec<String>,
}

/// Compares runs. Call [`crate::merge::fold`] on the profiles before.
///
/// # Errors
/// If all runs have the same number of threads, or there is no run.
pub fn scale(profiles: &[Profile]) -> Result<Scaling, ScaleError> {
    let reports: Vec<Report<'_>> = profiles.iter().map(Report::new).collect();
    let common = Common::new(profiles.iter().map(|profile| profile.regions.as_slice()));
    let counters = counters(profiles);
    let runs: Vec<Measured> = (0..reports.len())
        .map(|run| measure(&reports[run], run, &common, &counters))
        .collect();
    let groups = groups(&runs)?;
    let widths = widths(&runs, &groups);
    let judged = judged(&widths);
    let mut places = places(&runs, &groups, &common, &reports);
    for place in &mut places {
        limit::look_inside(place, &runs, &groups, judged, &common, &reports);
    }
    let mut places: Vec<ScaledRegion> = places.into_iter().map(|found| found.place).collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.at[judged].lost.total()));
    let forecast = forecast::forecast(&widths, &places, judged);
    let mut scaling = Scaling {
        application: printable(&profiles[0].run.application).into_owned(),
        notes: notes(&reports, &widths, judged),
        widths,
        judged,
        counters,
        places,
        limits: Vec::new(),
        forecast,
    };
    scaling.limits = limit::limits(&scaling);
    Ok(scaling)
}

/// The counters of every run.
fn counters(profiles: &[Profile]) -> Vec<String> {
    let Some((first, others)) = profiles.split_first() else {
        return Vec::new();
    };
    let in_all = |name: &&String| others.iter().all(|of| of.run.counters.contains(name));
    let known = first.run.counters.iter().filter(in_all);
    known.map(|name| printable(name).into_owned()).collect()
}

/// The runs for each number of threads. The run that represents them stands first.
fn groups(runs: &[Measured]) -> Result<Vec<Vec<usize>>, ScaleError> {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (run, measured) in runs.iter().enumerate() {
        groups.entry(measured.threads).or_default().push(run);
    }
    let threads: Vec<u64> = groups.keys().copied().collect();
    match threads.as_slice() {
        [] => return Err(ScaleError::NoRun),
        [threads] => return Err(ScaleError::OneWidth(*threads)),
        _ => {}
    }
    let sorted = groups.into_values().map(|mut group| {
        group.sort_by_key(|run| runs[*run].duration_ns);
        let median = (group.len() - 1) / 2;
        group.swap(0, median);
        group
    });
    Ok(sorted.collect())
}

fn widths(runs: &[Measured], groups: &[Vec<usize>]) -> Vec<Width> {
    let base = &runs[groups[0][0]];
    let width = |group: &Vec<usize>| {
        let run = &runs[group[0]];
        let speedup = base.duration_ns as f64 / run.duration_ns.max(1) as f64;
        let times_more = run.threads as f64 / base.threads.max(1) as f64;
        Width {
            threads: run.threads,
            processors: run.processors,
            duration: Sample::of(group.iter().map(|run| runs[*run].duration_ns).collect()),
            duration_ns: run.duration_ns,
            speedup,
            efficiency: speedup / times_more,
            lost: run.total().less(&base.total()),
        }
    };
    groups.iter().map(width).collect()
}

/// The largest number of threads with a processor each. If that is only true for the smallest
/// number, the largest one.
fn judged(widths: &[Width]) -> usize {
    let last = widths.len() - 1;
    match widths.iter().rposition(Width::has_processors) {
        Some(0) | None => last,
        Some(width) => width,
    }
}

/// A place, and its number among the common regions.
struct NumberedPlace {
    place: ScaledRegion,
    region: Option<usize>,
}

fn places(
    runs: &[Measured],
    groups: &[Vec<usize>],
    common: &Common,
    reports: &[Report<'_>],
) -> Vec<NumberedPlace> {
    let ran = |region: &usize| runs.iter().any(|run| run.regions.contains_key(region));
    let regions = (0..common.regions.len()).filter(ran).map(Some);
    regions
        .chain([None])
        .map(|region| NumberedPlace {
            place: ScaledRegion {
                region: region.map(|region| common.site(reports, region)),
                at: groups
                    .iter()
                    .map(|group| at(runs, group, &groups[0], region))
                    .collect(),
                inside: None,
                cause: None,
                is_repeated: false,
            },
            region,
        })
        .collect()
}

/// A place in the runs with the same number of threads.
fn at(runs: &[Measured], group: &[usize], base: &[usize], region: Option<usize>) -> At {
    let time = |run: &usize| runs[*run].of(region);
    let sample = |group: &[usize]| {
        let total = |run: &usize| u64::try_from(time(run).total()).unwrap_or(0);
        let sample = Sample::of(group.iter().map(total).collect());
        [sample.low, sample.high].map(i128::from)
    };
    let ([low, high], [base_low, base_high]) = (sample(group), sample(base));
    let here = time(&group[0]);
    At {
        time: here,
        lost: here.less(&time(&base[0])),
        lost_interval: [low - base_high, high - base_low],
        counters: runs[group[0]].counted(region),
    }
}

fn notes(reports: &[Report<'_>], widths: &[Width], judged: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let run = |report: &Report<'_>| report.profile.run.clone();
    let first = run(&reports[0]);
    if reports
        .iter()
        .any(|other| run(other).application != first.application)
    {
        notes.push("the runs are of programs with different names".to_owned());
    }
    let many = widths.iter().filter(|width| !width.has_processors());
    for width in many {
        notes.push(format!(
            "{}: these runs do not show what a program gains by more threads",
            shared(width.threads, width.processors)
        ));
    }
    let lacked = reports.iter().filter(|report| {
        let run = &report.profile.run;
        !run.is_crowded_by(report.overheads.threads)
            && OnProcessors::of(report).missing_percent() >= BUSY_PERCENT
    });
    match lacked.count() {
        0 => {}
        lacked => notes.push(format!(
            "in {lacked} of {} runs threads had no processor for {BUSY_PERCENT} % of the time or more: \
             the machine was busy",
            reports.len()
        )),
    }
    if !widths[judged].has_processors() {
        notes.push("no run with several threads had a processor for each".to_owned());
    }
    if reports
        .iter()
        .any(|report| report.overheads.threads_are_least)
    {
        notes.push("some teams were measured as a whole: their threads are not all known".into());
    }
    notes
}
