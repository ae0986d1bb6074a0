//! The summary in words: one line for the terminal, and a few lines on top of the text
//! report. The reasons that it names are those of [`super::causes`].

use std::borrow::Cow;

use super::causes::{Cause, Causes, Kind as CauseKind, MOST_NAMED_CAUSES};
use super::dilation::Dilation;
use super::labels::Label;
use super::overheads::Overheads;
use super::tables::Table;
use super::words::{self, count, percent, time};
use super::{NEGLIGIBLE, Share};
use crate::columns::Quantity;
use crate::model::Profile;
use crate::order;
use crate::overheads::Category;
use crate::printable::printable;
use crate::region_kind::RegionKind;

/// Where the time went, in words.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// One line, without the end of line.
    pub headline: String,
    /// A few lines: the run, the losses, and the causes, most to win first.
    pub lines: Vec<String>,
}

/// If the program slept for at least this part of the run, in percent, the summary says so.
const MUCH_SLEEP: f64 = 5.0;

/// Constructs that may have teams, but whose parts are not measured.
const WHOLE: &[RegionKind] = &[
    RegionKind::Target,
    RegionKind::Teams,
    RegionKind::Distribute,
    RegionKind::GenericLoop,
];

/// If threads shared processors, a run can win less than its threads lost. The summary says so if
/// the win is below this part of the loss.
const MUCH_LESS_WIN_SHARE: f64 = 0.5;

/// Advice if threads hardly wait. One run does not show how fast they work.
const SCALE: &str = "`romp scale` shows whether caches or memory slow them down.";

/// Advice if threads hardly wait in a program that was not built with Romp.
const BUILD: &str = "Some constructs, such as atomic updates, cannot be seen in this mode: build with rompcc to \
                     see them.";

/// The data from which the words are made.
pub(crate) struct Facts<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) labels: &'a [Label],
    pub(crate) flat: &'a [Table],
    pub(crate) overheads: &'a Overheads,
    pub(crate) causes: &'a Causes,
    pub(crate) dilation: Option<&'a Dilation>,
}

impl Facts<'_> {
    pub(crate) fn in_words(&self) -> Summary {
        if self.overheads.regions.is_empty() {
            return self.nothing_ran();
        }
        let mut lines = vec![self.duration()];
        lines.extend(self.untold());
        lines.push(self.losses());
        lines.extend(self.crowd());
        let causes = &self.causes.list;
        for (index, cause) in causes.iter().take(MOST_NAMED_CAUSES).enumerate() {
            let before = &mut causes[..index].iter();
            let same = before.position(|other| other.remedy == cause.remedy);
            // The same advice is given only once.
            let remedy = match same {
                Some(first) if !cause.remedy.is_empty() => {
                    format!("The advice of item {} holds here, too.", first + 1)
                }
                _ => cause.remedy.clone(),
            };
            lines.push(self.cause(index + 1, cause, &remedy));
        }
        lines.extend(self.further());
        lines.extend(self.causes.notes.iter().cloned());
        if causes.is_empty() {
            lines.extend(self.advice_without_cause());
        }
        lines.extend(self.measuring());
        let dilated = self.dilated().map(|words| format!(" {words}."));
        Summary {
            headline: self.headline() + &dilated.unwrap_or_default(),
            lines,
        }
    }

    /// For a run without parallel regions.
    fn nothing_ran(&self) -> Summary {
        if let Some(summary) = self.only_as_a_whole() {
            return summary;
        }
        let regions = &self.profile.regions;
        let parallel = regions.iter().filter(|region| region.kind.is_parallel());
        let headline = "No parallel region ran, so there is nothing to analyse.".to_owned();
        let why = match (parallel.count(), regions.len()) {
            (0, 0) => "None is known: was the program's OpenMP source compiled with rompcc and \
                  -fopenmp?"
                .to_owned(),
            (0, others) => {
                let others = count(others as u64, "region");
                format!("The program has {others}, but none of them is a parallel region.")
            }
            (1, _) => "One is known, but this run did not reach it.".to_owned(),
            (known, _) => format!("{known} are known, but this run did not reach them."),
        };
        Summary {
            lines: vec![headline.clone(), why],
            headline,
        }
    }

    /// For a run whose teams stand in constructs that are measured as a whole, such as
    /// `target teams distribute parallel for`.
    fn only_as_a_whole(&self) -> Option<Summary> {
        let time_of = |table: &&Table| {
            let column = table.column(Quantity::ExecTime);
            column.map_or(0, |column| table.sum[column])
        };
        let is_whole = |table: &&Table| WHOLE.contains(&self.profile.regions[table.region].kind);
        let whole = || self.flat.iter().filter(is_whole);
        let longest = whole().max_by_key(time_of)?;
        let headline = format!(
            "It is not known what the threads of {} did. The longest is the {}: {} of {}.",
            count(whole().count() as u64, "construct"),
            self.labels[longest.region].in_words(),
            time(time_of(&longest)),
            time(self.overheads.duration_ns)
        );
        let why = "They are measured as a whole, since they may run on a device.".to_owned();
        Some(Summary {
            lines: vec![headline.clone(), why],
            headline,
        })
    }

    fn headline(&self) -> String {
        let overheads = self.overheads;
        let worst = self.causes.list.first();
        let likely = worst.map_or(0.0, |cause| cause.likely.percent);
        if let Some(untold) = self.untold().filter(|_| overheads.untold.percent > likely) {
            return untold;
        }
        let Some(worst) = worst else {
            return self.crowd().unwrap_or_else(|| self.nothing_to_win());
        };
        let crowd = match self.crowd() {
            Some(_) => format!(" {}.", self.crowded()),
            None => String::new(),
        };
        format!(
            "Most to win: {} of {} ({}), {}: {}.{crowd}",
            likely_time(worst),
            time(overheads.duration_ns),
            percent(worst.likely.percent),
            worst.place.words,
            worst.what
        )
    }

    /// For a run without a cause that matters.
    fn nothing_to_win(&self) -> String {
        if let Some(note) = self.causes.notes.first() {
            return note.clone();
        }
        if let Some(cause) = &self.causes.doubtful {
            return self.perhaps(cause);
        }
        let overheads = self.overheads;
        let lost = overheads.whole_sum.overhead;
        let is_negligible = self.is_negligible();
        let verdict = match is_negligible {
            true if self.is_from_outside() => {
                "As far as it can be seen in this mode, overhead is negligible:"
            }
            true => "Overhead is negligible:",
            false => "No one change would win much:",
        };
        let next = match self.next_step() {
            Some(next) => format!(". {next}"),
            None if is_negligible => ".".to_owned(),
            None if overheads.threads <= 1 => {
                ", the cost of the constructs themselves for one thread.".to_owned()
            }
            None => ", little in each place.".to_owned(),
        };
        format!(
            "{verdict} threads lost {} of their time ({} of {}){next}",
            percent(lost.percent),
            time(lost.ns),
            time(overheads.thread_time_ns),
        )
    }

    /// The next step if no wait is worth removing; none for a program with one thread.
    fn next_step(&self) -> Option<&'static str> {
        let next = match self.is_from_outside() {
            true => BUILD,
            false => SCALE,
        };
        (self.is_negligible() && self.overheads.threads > 1).then_some(next)
    }

    /// Advice if there is no cause. Notes and the sentence on crowded processors contain their own.
    fn advice_without_cause(&self) -> Option<String> {
        if let Some(cause) = &self.causes.doubtful {
            return Some(format!("{} {}", self.perhaps(cause), cause.remedy));
        }
        let says_nothing = self.causes.notes.is_empty() && self.crowd().is_none();
        let is_known = says_nothing && !self.is_negligible();
        let known = match self.overheads.threads <= 1 {
            true => "The time that one thread lost is the cost of the constructs themselves.",
            false => "No one change would win much: threads lost little in each place.",
        };
        let next = self.next_step();
        next.or(is_known.then_some(known)).map(str::to_owned)
    }

    /// A doubtful cause in sentences.
    fn perhaps(&self, cause: &Cause) -> String {
        format!(
            "Perhaps {} of {} ({}) to win, {}: {}. The machine or chance may be the reason: see whether \
             further runs show the same.",
            likely_time(cause),
            time(self.overheads.duration_ns),
            percent(cause.likely.percent),
            cause.place.words,
            cause.what
        )
    }

    /// Whether threads lost little, and the loss is separated from work and from the cost of measuring.
    fn is_negligible(&self) -> bool {
        self.all_is_told()
            && self.overheads.whole_sum.overhead.percent < 2.0 * NEGLIGIBLE
            && self.dilated().is_none()
    }

    /// A cause in one line: what it would win, where, why, and what to try.
    fn cause(&self, number: usize, cause: &Cause, remedy: &str) -> String {
        let first = cause.place.regions.first();
        let function = first.map_or_else(String::new, |&region| {
            self.labels[region].in_function_after(&cause.place.words)
        });
        let mut line = format!(
            "{number}. {} ({}) to win {}{function}: {}.",
            likely_time(cause),
            percent(cause.likely.percent),
            cause.place.words,
            cause.what
        );
        if !remedy.is_empty() {
            line.push(' ');
            line.push_str(remedy);
        }
        line
    }

    /// The number of causes that are not described.
    fn further(&self) -> Option<String> {
        let further = self
            .causes
            .list
            .get(MOST_NAMED_CAUSES..)
            .unwrap_or_default();
        let ns: u64 = further.iter().map(|cause| cause.likely.ns).sum();
        (!further.is_empty()).then(|| {
            format!(
                "{} would win {} ({}) together.",
                count(further.len() as u64, "further cause"),
                time(ns),
                percent(Share::of(ns, self.overheads.duration_ns).percent)
            )
        })
    }

    /// Whether there were more threads than processors.
    fn is_crowded(&self) -> bool {
        self.profile.run.is_crowded_by(self.overheads.threads)
    }

    /// The effect of more threads than processors on the times, if it may matter.
    fn crowd(&self) -> Option<String> {
        let lost = self.overheads.whole_sum.overhead;
        if !self.is_crowded() || lost.percent < NEGLIGIBLE {
            return None;
        }
        let crowded = self.crowded();
        if self.profile.run.scheduling.is_none() {
            return Some(format!(
                "{crowded}: some of the lost time was waiting for a processor, even where it looks like uneven \
                 work. First try no more threads than processors."
            ));
        }
        let Causes { list, most, .. } = self.causes;
        let is_said = list.iter().any(|it| it.kind == CauseKind::Oversubscription);
        let is_limited = most.percent < MUCH_LESS_WIN_SHARE * lost.percent;
        let won = match most.percent < NEGLIGIBLE {
            true => "next to nothing".to_owned(),
            false => format!("no more than {} of the run", time(most.ns)),
        };
        (is_limited && !is_said).then(|| {
            format!(
                "{crowded}: while one thread waited, mostly another one computed, so {won} can be won. Run as \
                 many threads as processors to see what waiting costs."
            )
        })
    }

    /// `4 threads shared 2 processors`.
    fn crowded(&self) -> String {
        words::shared(self.overheads.threads, self.profile.run.processors.into())
    }

    /// `2 processors`.
    fn processors(&self) -> String {
        count(u64::from(self.profile.run.processors), "processor")
    }

    fn duration(&self) -> String {
        let Overheads {
            duration_ns,
            threads,
            threads_are_least,
            thread_time_ns,
            coverage,
            ..
        } = *self.overheads;
        let on = match self.profile.ranks.len() as u64 {
            0 if self.is_crowded() => format!(" on {}", self.processors()),
            0 => String::new(),
            ranks => format!(" on {}", count(ranks, "rank")),
        };
        let application = match printable(&self.profile.run.application) {
            name if name.is_empty() => Cow::Borrowed("The program"),
            name => name,
        };
        format!(
            "{application} ran {} with {}{on}: {} of thread time. {} of the run ({}) was in \
             parallel regions{}.",
            time(duration_ns),
            match threads_are_least {
                false => format!("up to {}", count(threads, "thread")),
                true => format!("an unknown number of threads, at least {threads}"),
            },
            time(thread_time_ns),
            percent(coverage.percent),
            time(coverage.ns),
            self.sleep()
        )
    }

    /// The time in which the program did nothing outside of parallel regions, if it is worth a word.
    fn sleep(&self) -> String {
        let slept = self.causes.slept;
        match slept.percent < MUCH_SLEEP {
            true => String::new(),
            false => format!(
                "; for {} of the rest it slept, or waited for a file or another process",
                time(slept.ns)
            ),
        }
    }

    /// Whether the program was not built with Romp. Then some constructs cannot be seen.
    fn is_from_outside(&self) -> bool {
        !self.profile.run.runtimes.is_empty()
    }

    /// Whether overhead is separated from work wherever it matters.
    fn all_is_told(&self) -> bool {
        let mut causes = self.causes.list.iter();
        self.overheads.untold.percent < NEGLIGIBLE
            && self.causes.notes.is_empty()
            && !causes.any(|cause| cause.kind.is_counted_as_work())
    }

    fn losses(&self) -> String {
        let sum = &self.overheads.whole_sum;
        let mut parts: Vec<(Category, u64)> = Category::ALL
            .into_iter()
            .zip(sum.by_category.iter().map(|share| share.ns))
            .filter(|(_, ns)| *ns > 0)
            .collect();
        order::sort_by_key(&mut parts, |(_, ns)| std::cmp::Reverse(*ns));
        let parts: Vec<String> = parts
            .into_iter()
            .map(|(category, ns)| format!("{} {}", category.in_words(), time(ns)))
            .collect();
        let is_small = self.is_negligible() && self.causes.list.is_empty();
        let verdict = match (is_small, self.all_is_told()) {
            (true, _) if self.is_from_outside() => "As far as it can be seen in this mode, t",
            (true, _) => "Overhead is negligible: t",
            (false, true) => "T",
            (false, false) => "As far as it was measured, t",
        };
        let of = format!("{} of their time", percent(sum.overhead.percent));
        if parts.is_empty() {
            return format!("{verdict}hreads lost {of}.");
        }
        format!(
            "{verdict}hreads lost {of} ({}): {}.{}",
            time(sum.overhead.ns),
            parts.join(", "),
            self.not_in_the_sum(sum.overhead.percent)
        )
    }

    /// A sentence about the first cause if the losses do not contain it, though it wins more.
    fn not_in_the_sum(&self, lost_percent: f64) -> &'static str {
        let first = self.causes.list.first();
        let is_missed =
            |cause: &Cause| cause.kind.is_counted_as_work() && cause.likely.percent > lost_percent;
        match first.is_some_and(is_missed) {
            true => " Item 1 is not in this sum: its time counts as work.",
            false => "",
        }
    }

    /// The cost of the measurement, if it affects the other figures.
    fn dilated(&self) -> Option<String> {
        let dilation = self.dilation?;
        dilation.culprit()?;
        let cost = percent(dilation.cost.percent);
        Some(format!(
            "Measuring took at least {cost} of the processor time"
        ))
    }

    /// The same with its cause and a remedy.
    fn measuring(&self) -> Option<String> {
        let dilation = self.dilation?;
        let most = dilation.culprit()?;
        let creation = self.profile.creation_of(most.region);
        let label = &self.labels[creation.unwrap_or(most.region)];
        let executed = match creation {
            Some(_) => "tasks of the ",
            None => "",
        };
        let kind = self.labels[most.region].kind;
        let cheaper = most.cheaper(kind).map(|words| format!(" {words}"));
        Some(format!(
            "{} ({}), {} of it for the {executed}{}, measured {}: the times there and around it are too long.{}",
            self.dilated()?,
            time(dilation.cost.ns),
            portion(2 * most.pairs >= dilation.pairs),
            label.in_words_and_function(),
            count(most.pairs, "time"),
            cheaper.unwrap_or_default()
        ))
    }

    /// How much time may or may not have been lost, if that is worth a line.
    fn untold(&self) -> Option<String> {
        let untold = self.overheads.untold;
        let most = self.overheads.untold_places.first()?;
        if untold.percent < NEGLIGIBLE {
            return None;
        }
        let label = &self.labels[most.region];
        let why = self.profile.regions[most.region].unsplit.as_deref();
        let why = why.map(|why| format!(", since {}", printable(why)));
        Some(format!(
            "It is not known whether {} of the thread time ({}) was work or overhead, {} of it in the {}, {}{}.",
            percent(untold.percent),
            time(untold.ns),
            portion(2 * most.time.ns >= untold.ns),
            label.in_words_and_function(),
            match (most.is_outside, most.may_have_tasks) {
                (true, _) => "which was measured as a whole",
                (_, true) => "where threads may have executed the tasks of a taskloop",
                _ => "whose implicit barrier is not separated from its work",
            },
            why.unwrap_or_default()
        ))
    }
}

/// `1.05 s`, or `about 1.05 s` if it was estimated.
fn likely_time(cause: &Cause) -> String {
    match cause.is_estimated {
        true => format!("an estimated {}", time(cause.likely.ns)),
        false => time(cause.likely.ns),
    }
}

/// The words for a part, depending on whether it is at least half of the whole.
fn portion(is_most: bool) -> &'static str {
    match is_most {
        true => "most",
        false => "the largest part",
    }
}
