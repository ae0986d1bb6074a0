//! The places that limit scaling, and the likely reason for each, as far as several runs show
//! it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::measured::Measured;
use super::{NumberedPlace, Part, ScaledRegion, Scaling, Width};
use crate::analysis::words::time;
use crate::analysis::{Cause, NEGLIGIBLE, Report, Share};
use crate::region_kind::RegionKind;
use crate::runs::{Common, Site};

/// The most limits that are named.
const MOST_LIMITS: usize = 3;
/// If work takes more than this many times as long as the memory's bandwidth explains, there is
/// another reason.
const BEYOND_BANDWIDTH: f64 = 1.1;
/// From this percentage on, ideal scaling is clearly missed.
const MISSED_FROM_PERCENT: f64 = 5.0;
/// Each thread repeats all work if the work's growth differs from the number of threads by at
/// most this part.
const REPEATED: f64 = 0.15;

/// A construct in a parallel region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inside {
    /// The construct.
    pub region: Site,
    /// Its work with the fewest threads: thread time in nanoseconds.
    pub base_ns: u64,
    /// Its work with the judged number of threads: thread time in nanoseconds.
    pub ns: u64,
}

/// A cause for a place, from the list of causes of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LimitCause {
    /// The place, and what happened there.
    pub found: String,
    /// Advice.
    pub remedy: String,
}

/// A place that limits scaling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// Its index in [`Scaling::places`].
    pub place: usize,
    /// The part of the thread time that loses most.
    pub part: Part,
    /// The elapsed time that the place loses against ideal scaling.
    pub lost_ns: u64,
    /// The lost time, in percent of the duration.
    pub percent: f64,
    /// The place and the finding, in one sentence.
    pub found: String,
    /// Possible reasons and advice.
    pub advice: String,
}

/// Finds the construct of a parallel region in which the work grew, and whether threads repeat
/// the work.
pub(super) fn look_inside(
    found: &mut NumberedPlace,
    runs: &[Measured],
    groups: &[Vec<usize>],
    judged: usize,
    common: &Common,
    reports: &[Report<'_>],
) {
    let Some(region) = found.region else { return };
    let (base, run) = (groups[0][0], groups[judged][0]);
    let below = below(&reports[run], run, region, common);
    let grew = found.place.at[judged].lost.of(Part::Work);
    let work = |run: usize, region: usize| runs[run].work.get(&region).copied().unwrap_or(0);
    let growth = |region: &usize| i128::from(work(run, *region)) - i128::from(work(base, *region));
    let most = below.iter().copied().max_by_key(growth);
    found.place.inside = most
        .filter(|region| grew > 0 && 2 * growth(region) > grew)
        .map(|region| Inside {
            region: common.site(reports, region),
            base_ns: work(base, region),
            ns: work(run, region),
        });
    let is_bare = common.regions[region].kind == RegionKind::Parallel
        && !below
            .iter()
            .any(|region| shares_work(common.regions[*region].kind));
    let times_more = runs[run].threads as f64 / runs[base].threads.max(1) as f64;
    let ratio = ratio(&found.place, judged);
    found.place.cause = cause(&reports[run], run, region, &below, common);
    found.place.is_repeated =
        is_bare && ratio.is_some_and(|ratio| (ratio / times_more - 1.0).abs() < REPEATED);
}

/// The cause that a run's list contains for a parallel region, or for a construct in it.
fn cause(
    report: &Report<'_>,
    run: usize,
    region: usize,
    below: &BTreeSet<usize>,
    common: &Common,
) -> Option<LimitCause> {
    let numbers = below.iter().copied().chain([region]);
    let here: BTreeSet<usize> = numbers
        .filter_map(|number| common.in_profile(run, number))
        .collect();
    let is_here = |cause: &&Cause| {
        let mut regions = cause.place.regions.iter();
        cause.category.is_some() && regions.any(|region| here.contains(region))
    };
    let cause = report.causes.list.iter().find(is_here)?;
    Some(LimitCause {
        found: format!("{}: {}", cause.place.words, cause.what),
        remedy: cause.remedy.trim_end_matches('.').to_owned(),
    })
}

fn shares_work(kind: RegionKind) -> bool {
    use RegionKind::{
        GenericLoop, Loop, Master, Section, Sections, Single, Task, TaskExec, Taskloop, Workshare,
    };
    matches!(
        kind,
        GenericLoop
            | Loop
            | Master
            | Section
            | Sections
            | Single
            | Task
            | TaskExec
            | Taskloop
            | Workshare
    ) || kind.is_parallel()
}

/// The common regions that were called in this one, but not in a parallel region inside it.
fn below(report: &Report<'_>, run: usize, region: usize, common: &Common) -> BTreeSet<usize> {
    let Some(here) = common.in_profile(run, region) else {
        return BTreeSet::new();
    };
    let paths = &report.call_graph.paths;
    let kind = |path: usize| report.labels[paths[path].region].kind;
    // Callers stand before callees.
    let mut is_below = vec![false; paths.len()];
    let mut below = BTreeSet::new();
    for (index, path) in paths.iter().enumerate() {
        let Some(caller) = path.caller else { continue };
        is_below[index] = match kind(caller).is_parallel() {
            true => paths[caller].region == here,
            false => is_below[caller],
        };
        if is_below[index] {
            below.insert(path.region);
        }
    }
    let all = 0..common.regions.len();
    all.filter(|region| {
        let there = common.in_profile(run, *region);
        there.is_some_and(|there| below.contains(&there))
    })
    .collect()
}

/// The work divided by the work with the fewest threads; none if the latter is zero.
fn ratio(place: &ScaledRegion, judged: usize) -> Option<f64> {
    let [base, now] = [0, judged].map(|width| place.at[width].time.of(Part::Work) as f64);
    (base > 0.0).then(|| now / base)
}

/// The limits at the judged number of threads, worst first.
pub(super) fn limits(scaling: &Scaling) -> Vec<Limit> {
    let width = &scaling.widths[scaling.judged];
    let lost = |place: &ScaledRegion| width.elapsed(place.at[scaling.judged].lost.total());
    let places = scaling.places.iter().enumerate();
    let is_real = |(_, place): &(usize, &ScaledRegion)| {
        let at = &place.at[scaling.judged];
        let share = Share::of(u64::try_from(lost(place)).unwrap_or(0), width.duration_ns);
        // A loss within the differences between the runs is no limit.
        share.percent >= NEGLIGIBLE && at.lost_interval[0] > 0
    };
    places
        .filter(is_real)
        .take(MOST_LIMITS)
        .map(|(index, place)| {
            let lost_ns = u64::try_from(lost(place)).unwrap_or(0);
            let part = place.at[scaling.judged].lost.largest();
            let percent = Share::of(lost_ns, width.duration_ns).percent;
            let (what, advice) = finding_and_advice(scaling, width, place, part);
            Limit {
                place: index,
                part,
                lost_ns,
                percent,
                found: format!("{} loses {}: {what}", capital(&place.in_words()), {
                    let share = crate::analysis::words::percent(percent);
                    format!("{} of {} ({share})", time(lost_ns), time(width.duration_ns))
                }),
                advice: capital(&advice),
            }
        })
        .collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The finding, and the advice.
fn finding_and_advice(
    scaling: &Scaling,
    width: &Width,
    place: &ScaledRegion,
    part: Part,
) -> (String, String) {
    let is_of_run = matches!(part, Part::Waiting | Part::Runtime);
    if let Some(known) = place.cause.as_ref().filter(|_| is_of_run) {
        return (format!("most {}", known.found), known.remedy.clone());
    }
    let (found, advice) = match part {
        Part::Work => return work(scaling, width, place),
        Part::Serial => return serial(scaling, width, place),
        Part::Waiting => (
            "its threads wait for each other",
            "see where in the romp report of a run with the most threads",
        ),
        Part::Runtime => (
            "the OpenMP library starts and ends teams and hands out work",
            "make regions and chunks larger, or give small ones an if clause",
        ),
        Part::NotRun if !width.has_processors() => (
            "its threads had work, but shared processors",
            "give the program a processor for each thread (see what binds it to fewer, such as taskset or \
             mpirun --bind-to), or use fewer threads",
        ),
        Part::NotRun => (
            "its threads had work, but no processor",
            "the machine was busy: measure again, with no more threads than processors, and \
             several times",
        ),
        Part::SmallTeams => (
            "teams were smaller than the largest number of threads",
            "look at num_threads clauses and at nested regions",
        ),
        Part::Untold => (
            "what its threads did is not known",
            "see in romp list why a construct is not measured",
        ),
    };
    (found.to_owned(), advice.to_owned())
}

fn serial(scaling: &Scaling, width: &Width, place: &ScaledRegion) -> (String, String) {
    let elapsed = width.elapsed(place.at[scaling.judged].time.of(Part::Serial));
    let elapsed = time(u64::try_from(elapsed).unwrap_or(0));
    (
        "one thread works there while the others have nothing to do".to_owned(),
        format!(
            "no number of threads makes the run shorter than these {elapsed}: make this part parallel; \
             ROMP_FUNCTIONS shows which functions take the time"
        ),
    )
}

fn work(scaling: &Scaling, width: &Width, place: &ScaledRegion) -> (String, String) {
    let base = &scaling.widths[0];
    let times_more = width.threads as f64 / base.threads.max(1) as f64;
    let fewest = crate::analysis::words::count(base.threads, "thread");
    let Some(ratio) = ratio(place, scaling.judged) else {
        let advice =
            "another place may do its work then: look for one whose lost time is below zero";
        return (format!("it has no work with {fewest}"), advice.to_owned());
    };
    let mut found = format!("its work takes {ratio:.2} times the thread time of {fewest}");
    if let Some(inside) = &place.inside {
        let grew = inside.ns as f64 / inside.base_ns.max(1) as f64;
        found += &format!(" ({grew:.2} times in {})", inside.region.in_words());
    }
    let counted = counted(scaling, place);
    found += &counted
        .iter()
        .map(|(words, _)| format!("; {words}"))
        .collect::<String>();
    let has_more_to_do = counted.iter().any(|(_, has_more)| *has_more);
    let advice = if place.is_repeated {
        "each thread does all of it: share it by a worksharing construct (for, sections) or tasks"
    } else if has_more_to_do {
        "there is more work with more threads: what does each thread repeat, or search for?"
    } else if ratio > BEYOND_BANDWIDTH * times_more {
        "more threads take longer than fewer, which memory bandwidth alone does not explain: threads write to \
         the same cache lines (false sharing: give each thread variables on cache lines of its own; a shared \
         counter: a reduction), or take turns in a library (malloc, rand, a mutex)"
    } else if scaling.counters.is_empty() {
        "no thread waits, but the same work is slower: memory bandwidth, cache lines that several threads \
         write (false sharing), or processors that share a core; \
         ROMP_COUNTERS=instructions,cycles,LLC-load-misses shows more"
    } else {
        "no thread waits, but the same work is slower: memory bandwidth, cache lines that several threads \
         write (false sharing), or processors that share a core"
    };
    (found, advice.to_owned())
}

/// The changes of the counters, in words, and whether each means that there is more to do.
fn counted(scaling: &Scaling, place: &ScaledRegion) -> Vec<(String, bool)> {
    let [base, now] = [0, scaling.judged].map(|width| &place.at[width].counters);
    let both = scaling.counters.iter().zip(base.iter().zip(now));
    let grown = (ratio(place, scaling.judged).unwrap_or(1.0) - 1.0).max(0.0);
    both.filter(|(_, (base, _))| **base > 0)
        .map(|(name, (base, now))| {
            let factor = *now as f64 / *base as f64;
            let has_more = name == "instructions" && grown > 0.0 && factor - 1.0 > grown / 2.0;
            (format!("{name} {factor:.2} times"), has_more)
        })
        .collect()
}

/// A line that says that there is no limit, and why.
pub(super) fn nothing(width: &Width) -> String {
    let lost = 100.0 * (1.0 - width.efficiency);
    match lost >= MISSED_FROM_PERCENT {
        true => "No place loses more than its runs differ by: run the program more often, or on a less busy machine."
            .to_owned(),
        false => format!("Nothing limits up to {} threads.", width.threads),
    }
}
