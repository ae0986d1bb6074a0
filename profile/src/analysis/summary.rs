//! Where the time went, in words: one line for the terminal, and a few lines
//! on top of the text report.

use std::borrow::Cow;

use super::dilation::Dilation;
use super::grain::Grain;
use super::labels::Label;
use super::overheads::{Overheads, Place};
use super::remedy::{master_before, tasks_while_waiting, too_little_work, work_column};
use super::tables::Table;
use super::words::{count, percent, time};
use super::{NEGLIGIBLE, Share};
use crate::advice::{TOO_FEW_TASKS, TOO_LITTLE_WORK, advice};
use crate::columns::Quantity;
use crate::model::Profile;
use crate::order;
use crate::overheads::Category;
use crate::printable::printable;

/// Where the time went, in words.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// One line, without the end of line.
    pub headline: String,
    /// A few lines, the worst first.
    pub lines: Vec<String>,
}

/// What the words are taken from.
pub(crate) struct Facts<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) labels: &'a [Label],
    pub(crate) threads: &'a [String],
    pub(crate) flat: &'a [Table],
    pub(crate) overheads: &'a Overheads,
    pub(crate) grains: &'a [Grain],
    pub(crate) dilation: Option<&'a Dilation>,
}

impl Facts<'_> {
    pub(crate) fn in_words(&self) -> Summary {
        if self.overheads.regions.is_empty() {
            return self.nothing_ran();
        }
        let mut lines = vec![self.duration()];
        let Overheads {
            idle, whole_sum, ..
        } = self.overheads;
        let is_serial = idle.ns > whole_sum.overhead.ns;
        lines.extend(self.untold());
        lines.extend(self.serial_part().filter(|_| is_serial));
        lines.push(self.losses());
        lines.extend(self.crowd());
        if let Some(worst) = self.overheads.places.first() {
            lines.push(format!(
                "{} of it was lost {}.",
                match self.is_most(worst) {
                    true => "Most",
                    false => "The largest part",
                },
                self.place_with_function(worst)
            ));
            if worst.lost.percent >= NEGLIGIBLE {
                lines.push(self.cause_and_remedy(worst));
            }
        }
        lines.extend(self.small_tasks());
        lines.extend(self.serial_part().filter(|_| !is_serial));
        lines.extend(self.small_teams());
        lines.extend(self.measuring());
        let dilated = self.dilated().map(|words| format!(" {words}."));
        Summary {
            headline: self.headline() + &dilated.unwrap_or_default(),
            lines,
        }
    }

    /// For a run without parallel regions.
    fn nothing_ran(&self) -> Summary {
        let regions = &self.profile.regions;
        let parallel = regions.iter().filter(|region| region.kind.is_parallel());
        let headline = "No parallel region ran, so that there is nothing to analyse.".to_owned();
        let why = match (parallel.count(), regions.len()) {
            (0, 0) => "None is known: was the program's OpenMP source compiled with rompcc and \
                  -fopenmp?"
                .to_owned(),
            (0, others) => {
                let others = count(others as u64, "region");
                format!("The program has {others}, but none for a team.")
            }
            (1, _) => "One is known, but this run did not reach it.".to_owned(),
            (known, _) => format!("{known} are known, but this run did not reach them."),
        };
        Summary {
            lines: vec![headline.clone(), why],
            headline,
        }
    }

    fn headline(&self) -> String {
        let overheads = self.overheads;
        let lost = overheads.whole_sum.overhead;
        let spent = self.spent_on_small_tasks();
        if spent.percent >= NEGLIGIBLE && spent.ns > lost.ns.max(overheads.idle.ns) {
            return self.small_tasks().unwrap_or_default();
        }
        let others = lost.ns.max(overheads.idle.ns);
        if let Some(untold) = self.untold().filter(|_| overheads.untold.ns > others) {
            return untold;
        }
        let is_most = overheads.small_teams.ns > others;
        if let Some(small) = self.small_teams().filter(|_| is_most) {
            return small;
        }
        let of = format!("{} of {}", time(lost.ns), time(overheads.thread_time_ns));
        if overheads.untold.percent < NEGLIGIBLE
            && lost.percent.max(overheads.idle.percent) < NEGLIGIBLE
        {
            return format!(
                "Overhead is negligible: threads lost {} of their time ({of}).",
                percent(lost.percent)
            );
        }
        if overheads.idle.ns > lost.ns {
            return format!(
                "Most thread time was lost in serial parts: for {} of {} only {} of {} had \
                 work ({} of the thread time).",
                time(overheads.serial.ns),
                time(overheads.duration_ns),
                match overheads.processes {
                    1 => "one".to_owned(),
                    processes => processes.to_string(),
                },
                count(overheads.threads, "thread"),
                percent(overheads.idle.percent)
            );
        }
        let most = overheads
            .places
            .first()
            .map(|place| format!(", {} {}", portion(self.is_most(place)), self.place(place)))
            .unwrap_or_default();
        let crowd = match self.is_crowded() {
            true => format!(
                " {} shared {}.",
                count(overheads.threads, "thread"),
                count(u64::from(self.profile.run.processors), "processor")
            ),
            false => String::new(),
        };
        format!(
            "Threads lost {} of their time ({of}){most}.{crowd}",
            percent(lost.percent)
        )
    }

    /// Whether half of what was lost, or more, was lost at one place.
    fn is_most(&self, place: &Place) -> bool {
        2 * place.lost.ns >= self.overheads.whole_sum.overhead.ns
    }

    /// Whether there were more threads than processors.
    fn is_crowded(&self) -> bool {
        let processors = u64::from(self.profile.run.processors);
        processors > 0 && self.overheads.threads > processors
    }

    /// What more threads than processors do to the times, if it may matter.
    fn crowd(&self) -> Option<String> {
        let lost = self.overheads.whole_sum.overhead;
        (self.is_crowded() && lost.percent >= NEGLIGIBLE).then(|| {
            format!(
                "{} shared {}: some of that was waiting for a processor, also where it looks like \
                 uneven work. Try no more threads than processors first.",
                count(self.overheads.threads, "thread"),
                count(u64::from(self.profile.run.processors), "processor")
            )
        })
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
        let ranks = match self.profile.ranks.len() as u64 {
            0 => String::new(),
            ranks => format!(" on {}", count(ranks, "rank")),
        };
        let application = match printable(&self.profile.run.application) {
            name if name.is_empty() => Cow::Borrowed("The program"),
            name => name,
        };
        format!(
            "{application} ran {} with {}{ranks}: {} of thread time. {} of the run ({}) was in \
             parallel regions.",
            time(duration_ns),
            match threads_are_least {
                false => format!("up to {}", count(threads, "thread")),
                true => format!("an unknown number of threads, at least {threads}"),
            },
            time(thread_time_ns),
            percent(coverage.percent),
            time(coverage.ns)
        )
    }

    fn losses(&self) -> String {
        let sum = &self.overheads.whole_sum;
        let mut parts: Vec<(Category, u64)> = Category::ALL
            .into_iter()
            .zip(sum.by_category.iter().map(|share| share.ns))
            .filter(|(_, ns)| *ns > 0)
            .collect();
        order::by_key(&mut parts, |(_, ns)| std::cmp::Reverse(*ns));
        let parts: Vec<String> = parts
            .into_iter()
            .map(|(category, ns)| format!("{} {}", category.in_words(), time(ns)))
            .collect();
        let is_known = self.overheads.untold.percent < NEGLIGIBLE;
        let verdict = match (sum.overhead.percent < NEGLIGIBLE, is_known) {
            (true, true) => "Overhead is negligible: t",
            (_, true) => "T",
            (_, false) => "As far as it was measured, t",
        };
        let of = format!("{} of their time", percent(sum.overhead.percent));
        if parts.is_empty() {
            return format!("{verdict}hreads lost {of}.");
        }
        format!(
            "{verdict}hreads lost {of} ({}): {}.",
            time(sum.overhead.ns),
            parts.join(", ")
        )
    }

    /// `at the implicit barrier of the LOOP at a.c:15: 4.05 s (16 %)`.
    fn place(&self, place: &Place) -> String {
        self.place_and(place, "")
    }

    fn place_with_function(&self, place: &Place) -> String {
        let function = self.labels[place.region].in_function();
        self.place_and(place, &function)
    }

    fn place_and(&self, place: &Place, function: &str) -> String {
        let label = &self.labels[place.region];
        format!(
            "{} the {}{function}: {}{} ({})",
            place.cost.place,
            label.in_words(),
            match place.is_estimated {
                true => "an estimated ",
                false => "",
            },
            time(place.lost.ns),
            percent(place.lost.percent)
        )
    }

    fn cause_and_remedy(&self, place: &Place) -> String {
        let region = &self.profile.regions[place.region];
        let remedy = advice(region.kind, place.category, region.schedule.as_deref());
        let Some(table) = self.flat.iter().find(|table| table.region == place.region) else {
            return remedy.unwrap_or_default().to_owned();
        };
        if let Some(tasks) = tasks_while_waiting(table, place.cost.quantity) {
            return format!(
                "While waiting there threads executed tasks for {}. {TOO_FEW_TASKS}",
                time(tasks)
            );
        }
        if let Some(work) = too_little_work(table, place.category, place.cost.quantity) {
            return format!(
                "All threads' work there was only {}, which does not explain it. {TOO_LITTLE_WORK}",
                time(work)
            );
        }
        if let Some((master, ns)) = master_before(self.profile, table, place) {
            return format!(
                "Meanwhile one thread executed the {} for {}. Spread what it does over the team.",
                self.labels[master].in_words(),
                time(ns)
            );
        }
        let cause = match place.category {
            Category::Imbal => self.uneven(table),
            Category::Synch => Some(each_wait(table, place)),
            Category::Limpar | Category::Mgmt => None,
        };
        let parts: Vec<String> = cause.into_iter().chain(remedy.map(str::to_owned)).collect();
        parts.join(" ")
    }

    /// Which threads had most and least to do, if that explains the waiting.
    fn uneven(&self, table: &Table) -> Option<String> {
        let work = work_column(table)?;
        let wait = table.column(Quantity::BarrierTime)?;
        let tasks = table.column(Quantity::TaskTime)?;
        let worked = || {
            table
                .rows()
                .map(|(t, cells)| (t, cells[work] + cells[tasks]))
        };
        let (most, most_ns) = worked().max_by_key(|x| x.1)?;
        let (least, least_ns) = worked().min_by_key(|x| x.1)?;
        let longest_wait = table.rows().map(|(_, cells)| cells[wait]).max()?;
        if ((most_ns - least_ns) as f64) < super::remedy::EXPLAINS * longest_wait as f64 {
            return Some("Threads took turns in being late.".to_owned());
        }
        Some(format!(
            "Work was uneven: thread {} worked {}, thread {} only {}.",
            self.threads[most],
            time(most_ns),
            self.threads[least],
            time(least_ns)
        ))
    }

    fn too_small_tasks(&self) -> impl Iterator<Item = &Grain> {
        self.grains.iter().filter(|grain| grain.is_too_small())
    }

    /// What it took to create tasks that are too small and to wait for them.
    fn spent_on_small_tasks(&self) -> Share {
        let ns = self.too_small_tasks().map(Grain::cost_ns).sum();
        Share::of(ns, self.overheads.thread_time_ns)
    }

    /// What too small tasks cost, if it is worth a line. That is none of ompP's
    /// overheads.
    fn small_tasks(&self) -> Option<String> {
        let worst = self.too_small_tasks().next()?;
        let spent = self.spent_on_small_tasks();
        let label = &self.labels[worst.region];
        (spent.percent >= NEGLIGIBLE).then(|| {
            format!(
                "Threads spent {} of their time ({}) on creating tasks that are too small and on \
                 waiting for them, most on those of the {}: {} to create one that works for {}.",
                percent(spent.percent),
                time(spent.ns),
                label.in_words(),
                time(worst.mean_creation_ns()),
                time(worst.mean_work_ns())
            )
        })
    }

    /// What measuring cost, if it makes a difference to the other figures.
    fn dilated(&self) -> Option<String> {
        let dilation = self.dilation?;
        dilation.culprit()?;
        let cost = percent(dilation.cost.percent);
        Some(format!("Measuring took at least {cost} of the time"))
    }

    /// The same with its cause and a remedy.
    fn measuring(&self) -> Option<String> {
        let dilation = self.dilation?;
        let most = dilation.culprit()?;
        let label = &self.labels[most.region];
        Some(format!(
            "{} ({}), {} of it the {}{}, measured {}: times there and around it are too long. \
             ROMP_THROTTLE=on counts short regions without timing them.",
            self.dilated()?,
            time(dilation.cost.ns),
            portion(2 * most.pairs >= dilation.pairs),
            label.in_words(),
            label.in_function(),
            count(most.pairs, "time")
        ))
    }

    /// Of how much nobody knows whether it was lost, if it is worth a line.
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
            "Of {} of the thread time ({}) it is not known whether it was work or overhead, {} in \
             the {}{}, {}{}.",
            percent(untold.percent),
            time(untold.ns),
            portion(2 * most.time.ns >= untold.ns),
            label.in_words(),
            label.in_function(),
            match most.is_outside {
                true => "which was measured from outside",
                false => "whose implicit barrier is not told from its work",
            },
            why.unwrap_or_default()
        ))
    }

    /// What teams cost that were smaller than the largest number of threads, if it is
    /// worth a line.
    fn small_teams(&self) -> Option<String> {
        let small = self.overheads.small_teams;
        (small.percent >= NEGLIGIBLE).then(|| {
            format!(
                "Teams of fewer than {} left {} of the thread time ({}) without a thread.",
                count(self.overheads.threads, "thread"),
                percent(small.percent),
                time(small.ns)
            )
        })
    }

    /// What the serial part cost, if it is worth a line.
    fn serial_part(&self) -> Option<String> {
        let Overheads { serial, idle, .. } = *self.overheads;
        (idle.percent >= NEGLIGIBLE).then(|| {
            format!(
                "The serial part, {} ({} of the run), left the other threads without work for \
                 {} of the thread time.",
                time(serial.ns),
                percent(serial.percent),
                percent(idle.percent)
            )
        })
    }
}

/// How a part is called, by whether it is half of the whole or more.
fn portion(is_most: bool) -> &'static str {
    match is_most {
        true => "most",
        false => "the largest part",
    }
}

/// How often and how long threads waited at a point of synchronisation.
fn each_wait(table: &Table, place: &Place) -> String {
    let executions = table
        .column(Quantity::ExecCount)
        .map_or(0, |column| table.sum[column]);
    format!(
        "Executed {}, {} lost each time on average.",
        count(executions, "time"),
        time(place.lost.ns / executions.max(1))
    )
}
