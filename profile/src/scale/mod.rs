//! How a program scales: runs of it with several numbers of threads side by side, and what
//! the loss against ideal scaling is made of, place by place.
//!
//! The measure is thread time, the duration times the number of threads. Ideal scaling
//! leaves it as it is with the fewest threads, so that
//!
//! ```text
//! loss = thread time - thread time with the fewest threads
//!      = sum over places and parts of what the part takes more
//! loss in elapsed time = loss / number of threads
//! ```
//!
//! A place is a parallel region, or what is outside all of them. The parts of its thread time
//! are told by [`Part`]; they come from the overhead analysis, and add up to the thread time,
//! so that the parts of the loss add up to the loss: per place and in total.
//!
//! Of several runs with one number of threads the one of median duration stands for all of
//! them: medians of parts would not add up. The intervals are from all runs.

mod csv;
mod forecast;
mod limit;
mod measured;
mod text;

pub use forecast::{Forecast, Tried};
pub use limit::{Inside, Known, Limit};
pub use text::write_styled as write_text;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::analysis::Report;
use crate::model::Profile;
use crate::printable::printable;
use crate::runs::{Common, OnProcessors, Sample, Site};
use measured::{Measured, measure};

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// What the user calls it.
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

/// Why there is nothing to say about scaling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// All runs had the same number of threads.
    #[error(
        "all runs had {0} threads: give runs with several numbers, such as those of \
         OMP_NUM_THREADS=1, 2 and 4 (does the program set the number itself?)"
    )]
    OneWidth(u64),
    /// No profile is given.
    #[error("no profile is given")]
    NoRun,
}

/// Percent of their work for which threads had no processor that are worth a note.
const BUSY: f64 = 5.0;

/// A part of the thread time of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What threads do. If that grows with their number, the same work takes longer: for the
    /// memory's bandwidth, for cache lines that threads take from each other, or since
    /// there is more to do.
    Work,
    /// Waiting for other threads.
    Waiting,
    /// Outside parallel regions: the thread that worked, and those that had nothing to do.
    Serial,
    /// What the OpenMP library does itself.
    Runtime,
    /// Work for which threads had no processor: the machine was busy, or there were more
    /// threads than processors. Nothing where the kernel does not tell: then it is work.
    NotRun,
    /// Threads that teams had no use for, since they were smaller.
    SmallTeams,
    /// Of which it is not known whether it was work.
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

    /// The title of a column.
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
    /// That of one part.
    #[must_use]
    pub fn of(&self, part: Part) -> i128 {
        self.0[part as usize]
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.0.iter().sum()
    }

    /// The part that is largest.
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

/// The runs with one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Width {
    /// The largest number of threads that were at work at once.
    pub threads: u64,
    /// How many processors there were; 0 if that is not known.
    pub processors: u64,
    /// The durations of the runs.
    pub duration: Sample,
    /// The duration of the run that stands for all.
    pub duration_ns: u64,
    /// How many times faster than with the fewest threads.
    pub speedup: f64,
    /// That, by how many times more threads there were.
    pub efficiency: f64,
    /// Thread time lost against ideal scaling.
    pub lost: Amounts,
}

impl Width {
    /// Whether the threads had a processor each, as far as one knows.
    #[must_use]
    pub fn has_processors(&self) -> bool {
        self.processors == 0 || self.threads <= self.processors
    }

    /// A thread time as the elapsed time that it stands for.
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
    /// What is lost of it against ideal scaling.
    pub lost: Amounts,
    /// All parts together: the lowest and highest that the intervals of the runs allow.
    pub lost_interval: [i128; 2],
    /// What was counted in it, in the order of [`Scaling::counters`].
    pub counters: Vec<u64>,
}

/// How a place scales.
#[derive(Clone, Debug, Serialize)]
pub struct ScaledRegion {
    /// The parallel region; none for what is outside all of them.
    pub region: Option<Site>,
    /// For each number of threads, in the order of [`Scaling::widths`].
    pub at: Vec<At>,
    /// The part of the region whose work grew most, if it is most of what grew.
    pub inside: Option<Inside>,
    /// What is known of it from one run at the judged width: the first of its causes.
    pub cause: Option<Known>,
    /// Whether each thread seems to do all of the work.
    pub is_repeated: bool,
}

impl ScaledRegion {
    /// Where it is, in words.
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
    /// The numbers of threads, the fewest first.
    pub widths: Vec<Width>,
    /// The index of the width that is judged: the most threads that had a processor each.
    pub judged: usize,
    /// The names of what was counted in all runs.
    pub counters: Vec<String>,
    /// The places, those that lose most at the judged width first.
    pub places: Vec<ScaledRegion>,
    /// What limits.
    pub limits: Vec<Limit>,
    /// What twice as many threads would bring; none where the fewest are judged.
    pub forecast: Option<Forecast>,
    /// What makes the comparison doubtful.
    pub notes: Vec<String>,
}

/// Compares runs; [`crate::merge::fold`] the profiles before.
///
/// # Errors
/// If all have the same number of threads.
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

/// What was counted in every run.
fn counters(profiles: &[Profile]) -> Vec<String> {
    let Some((first, others)) = profiles.split_first() else {
        return Vec::new();
    };
    let in_all = |name: &&String| others.iter().all(|of| of.run.counters.contains(name));
    let known = first.run.counters.iter().filter(in_all);
    known.map(|name| printable(name).into_owned()).collect()
}

/// The runs of each number of threads, the one that stands for them first.
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

/// The most threads that had a processor each; if only the fewest had, the most.
fn judged(widths: &[Width]) -> usize {
    let last = widths.len() - 1;
    match widths.iter().rposition(Width::has_processors) {
        Some(0) | None => last,
        Some(width) => width,
    }
}

/// A place, and its number among the common regions.
struct Found {
    place: ScaledRegion,
    region: Option<usize>,
}

fn places(
    runs: &[Measured],
    groups: &[Vec<usize>],
    common: &Common,
    reports: &[Report<'_>],
) -> Vec<Found> {
    let ran = |region: &usize| runs.iter().any(|run| run.regions.contains_key(region));
    let regions = (0..common.regions.len()).filter(ran).map(Some);
    regions
        .chain([None])
        .map(|region| Found {
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

/// A place in the runs of one number of threads.
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
            "{} threads shared {} processors: what a program gains by more threads is not \
             seen there",
            width.threads, width.processors
        ));
    }
    let lacked = reports.iter().filter(|report| {
        let processors = u64::from(report.profile.run.processors);
        let is_crowded = processors > 0 && report.overheads.threads > processors;
        !is_crowded && OnProcessors::of(report).missing_percent() >= BUSY
    });
    match lacked.count() {
        0 => {}
        lacked => notes.push(format!(
            "in {lacked} of {} runs threads had no processor for {BUSY} % of their work or more: \
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
        notes.push("some teams were measured from outside: their threads are not all known".into());
    }
    notes
}
