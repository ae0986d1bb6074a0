//! A measured run as it is saved: the versioned schema of `*.romp.json`.
//!
//! All times are integer nanoseconds, and all counts are exact; nothing is derived. A run has a
//! list of regions (static), a list of threads (named by their path through the teams), and one
//! call-path tree. Each node of the tree has one row per thread. A worker's rows are under the
//! call path of the thread that forked its team, so one tree contains all teams.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::region_kind::{PseudoRegion, RegionKind};

mod row;
mod scheduling;
mod waits;

pub use row::{Estimate, Row};
pub use scheduling::Scheduling;
pub use waits::{Arrivals, Bucket, Contention, ContentionSite, Distribution, GuardKind, Holder};

/// Value of [`Profile::schema`].
pub const SCHEMA: &str = "romp-profile";
/// Value of [`Profile::version`]. It is raised when readers must change. Adding an optional
/// field does not raise it, since readers ignore unknown fields.
pub const VERSION: u32 = 1;

/// One run of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Schema version, [`VERSION`] when written by this build.
    pub version: u32,
    /// Facts about the run; for several processes, see [`crate::merge`].
    pub run: Run,
    /// The runs of the processes that were merged into this profile, by rank; empty for a
    /// profile of one process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<Run>,
    /// Every registered region, including regions that never ran.
    pub regions: Vec<Region>,
    /// Every thread that had an event.
    pub threads: Vec<Thread>,
    /// The call-path tree, parents before children.
    pub nodes: Vec<Node>,
    /// The serial part, divided by the regions before and after it, longest first; empty if
    /// that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serial: Vec<Serial>,
    /// The distributions of the times of instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// The threads that came last to barriers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrivals>,
    /// The waits of threads for each other at locks, critical sections and atomics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contention: Vec<Contention>,
    /// The source files that the program was built from, as far as their hashes are known. A file
    /// stands here more than once if it was changed between the builds of two objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceFile>,
}

impl Profile {
    /// Whether each process has one initial thread, so that nothing else runs outside of its teams.
    pub(crate) fn has_one_initial_thread_each(&self) -> bool {
        let initial = self.threads.iter().filter(|thread| thread.is_initial());
        initial.count() <= self.ranks.len().max(1)
    }

    /// Facts that a reader should know, as sentences: the notes, the regions whose times are estimates, and
    /// the limits of a measurement from outside (of a program that was not built with Romp).
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.run.notes.clone();
        remarks.extend(self.remark_on_estimates());
        for runtime in &self.run.runtimes {
            let Runtime { path, threads, .. } = runtime;
            remarks.push(format!(
                "measured from outside, by its OpenMP runtime: {path}, teams of up to {threads}"
            ));
            if !runtime.not_visible.is_empty() {
                let file = path.rsplit('/').next().unwrap_or_default();
                let what = runtime.not_visible.join("; ");
                remarks.push(format!("not visible in this mode, with {file}: {what}"));
            }
        }
        remarks
    }

    /// A sentence with the regions of which only some executions were timed.
    fn remark_on_estimates(&self) -> Option<String> {
        let nodes = self.nodes.iter();
        let sampled = nodes.filter(|node| node.rows.iter().any(|row| row.estimate().is_some()));
        let regions: BTreeSet<usize> = sampled.map(|node| node.region).collect();
        let regions = regions
            .into_iter()
            .filter_map(|region| self.regions.get(region));
        let mut names: Vec<String> = regions
            .map(|region| {
                let kind = region.kind.row().full_name;
                let at = if region.near { "near" } else { "at" };
                format!("{kind} {at} {}:{}", region.file, region.begin[0])
            })
            .collect();
        names.dedup();
        (!names.is_empty()).then(|| {
            format!(
                "regions whose times are estimates, since only some of their many short executions \
                 were timed (ROMP_BUDGET; their counts are exact): {}",
                names.join(", ")
            )
        })
    }

    /// For each entry of the list of threads, the first one that is the same thread. A thread has an entry for
    /// each path by which it became a member of a team.
    pub(crate) fn same_threads(&self) -> Vec<usize> {
        let mut first = BTreeMap::new();
        let threads = self.threads.iter().enumerate();
        threads
            .map(|(index, thread)| {
                *first
                    .entry((thread.rank, thread.shortest_path()))
                    .or_insert(index)
            })
            .collect()
    }

    /// The region that creates the tasks that this one executes, if it executes tasks.
    pub(crate) fn creation_of(&self, execution: usize) -> Option<usize> {
        let execution = self.regions.get(execution)?;
        let creates = |region: &Region| region.creates(execution);
        let executes = execution.kind.is_task_execution();
        self.regions.iter().position(creates).filter(|_| executes)
    }

    /// Whether there are so many rows that several threads should work on them.
    #[must_use]
    pub fn is_large(&self) -> bool {
        rows_are_many(self.nodes.iter().map(|node| node.rows.len()).sum())
    }

    /// How many instances of each region were timed one by one, and how many there were. The times of
    /// the others are estimates.
    #[must_use]
    pub fn timed_instances(&self) -> Vec<[u64; 2]> {
        let mut instances = vec![[0_u64; 2]; self.regions.len()];
        for node in &self.nodes {
            let Some([timed, all]) = instances.get_mut(node.region) else {
                continue;
            };
            for row in &node.rows {
                *timed = timed.saturating_add(row.timed().timed);
                *all = all.saturating_add(row.main.count);
            }
        }
        instances
    }
}

/// Whether this number of rows is worth several threads.
#[must_use]
pub fn rows_are_many(rows: usize) -> bool {
    const LARGE: usize = 5_000;
    rows > LARGE
}

/// Facts about the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Name of the program, without directory.
    pub application: String,
    /// Version of the measurement library.
    pub romp_version: String,
    /// Start of measurement, RFC 3339 in UTC with seconds.
    pub start: String,
    /// End of measurement, likewise.
    pub end: String,
    /// Wall time from start to end, in nanoseconds.
    pub duration_ns: u64,
    /// CPU time in user mode of the whole process, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel of the whole process, in nanoseconds.
    pub system_ns: u64,
    /// Largest number of threads that were active at once: in teams, including nested teams and
    /// the teams of several initial threads. A team of unknown size counts as one thread: the
    /// thread that forked it.
    pub max_threads: u32,
    /// Wall time during which at least one initial thread had a team, in nanoseconds. Absent if
    /// there was only one initial thread. The time is then the `seq` of its outermost parallel
    /// regions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_ns: Option<u64>,
    /// Number of processors that the process could use; 0 if unknown, and for several
    /// processes.
    #[serde(skip_serializing_if = "has_no")]
    pub processors: u32,
    /// The most processors that a process around this one may use, such as its shell; 0 if unknown, and
    /// where no team had more threads than processors.
    #[serde(skip_serializing_if = "has_no")]
    pub processors_around: u32,
    /// How the threads got processors, as the kernel reports it; absent if the kernel did not,
    /// and for several processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Host name.
    pub host: String,
    /// Process id; 0 for several processes.
    pub pid: u32,
    /// Rank of the process, if it belonged to an MPI program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The clock that was read: `tsc` or `monotonic`.
    pub clock: String,
    /// Calibrated cost of one pair of events (an enter and its exit) in this run, in
    /// picoseconds; 0 if it is not known. See [`Row::pairs`].
    #[serde(skip_serializing_if = "is_zero")]
    pub pair_cost_ps: u64,
    /// Mean cost of a pair in an instance that was not timed, or was timed by a coarse clock, in
    /// picoseconds; 0 if it is not known.
    /// See [`Row::passed_pairs`].
    #[serde(skip_serializing_if = "is_zero")]
    pub passed_pair_cost_ps: u64,
    /// The counters besides time, by the names of [`crate::counters`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<String>,
    /// Formulas over the counters that reports show, as `NAME=FORMULA`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub formulas: Vec<String>,
    /// Whether the program continued after this profile was saved.
    #[serde(skip_serializing_if = "is_false")]
    pub incremental: bool,
    /// The environment variables for OpenMP runtimes that were set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Facts that the program reported about its run, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Facts that a reader should know: unmatched events, regions still open, ...
    pub notes: Vec<String>,
    /// The file of the OpenMP runtime that the program calls, if it was built with Romp and the runtime is a
    /// shared library; otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub openmp_library: String,
    /// The OpenMP runtimes that were found, if the program was not built with Romp.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<Runtime>,
    /// Whether the places of its regions in the source are still to be found, which `romp run`
    /// does when the program has ended.
    #[serde(skip_serializing_if = "is_false")]
    pub unplaced: bool,
}

impl Run {
    /// Processor time of the whole process, in nanoseconds; 0 if it is not known.
    #[must_use]
    pub fn processor_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// The same of the program's own threads, without the library's own.
    #[must_use]
    pub fn processor_ns_of_program(&self) -> u64 {
        let helper = self.scheduling.map_or(0, |all| all.helper_run_ns);
        self.processor_ns().saturating_sub(helper)
    }

    /// How many of a number of threads can run at the same time: as many as the process has processors.
    #[must_use]
    pub fn at_once(&self, threads: u64) -> u64 {
        match self.processors {
            0 => threads,
            processors => threads.min(processors.into()),
        }
    }

    /// Whether the program is known to call GCC's runtime, and no other one.
    #[must_use]
    pub fn calls_gnu_runtime(&self) -> bool {
        match &self.runtimes[..] {
            [] => self.openmp_library.split(", ").all(is_gnu),
            runtimes => runtimes.iter().all(Runtime::is_gnu),
        }
    }

    /// Whether this many threads are more than the process has processors.
    #[must_use]
    pub fn is_crowded_by(&self, threads: u64) -> bool {
        self.at_once(threads) < threads
    }

    /// The cost of measuring the times in a row of a construct of this kind, in picoseconds.
    #[must_use]
    pub fn measuring_ps(&self, row: &Row, kind: RegionKind) -> u128 {
        let timed = u128::from(row.pairs(kind)) * u128::from(self.pair_cost_ps);
        let passed = u128::from(row.passed_pairs(kind)) * u128::from(self.passed_pair_cost_ps);
        timed.max(Self::measured_ps(row)) + passed
    }

    /// The measured cost of timing a row's instances, in picoseconds; 0 if it was not measured.
    fn measured_ps(row: &Row) -> u128 {
        row.estimate()
            .map_or(0, |estimate| u128::from(estimate.cost_ns) * 1000)
    }

    /// The part of that cost during which threads waited for each other, in picoseconds. The
    /// rest was spent on events.
    #[must_use]
    pub fn measuring_wait_ps(&self, row: &Row, kind: RegionKind) -> u128 {
        let timed = u128::from(row.pairs(kind)) * u128::from(self.pair_cost_ps);
        Self::measured_ps(row).saturating_sub(timed)
    }
}

/// An OpenMP runtime in a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Its file.
    pub path: String,
    /// Members of its largest team.
    pub threads: u32,
    /// Descriptions of the parts of its constructs that cannot be seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_visible: Vec<String>,
}

impl Runtime {
    /// Whether it is GCC's.
    #[must_use]
    pub fn is_gnu(&self) -> bool {
        is_gnu(&self.path)
    }
}

/// Whether the file of a runtime is that of GCC's.
fn is_gnu(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.starts_with("libgomp")
}

/// Time for which the initial thread worked alone between two regions that start teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serial {
    /// Index of the region that ended before; none at the beginning of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// Index of the region that began afterwards; none at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// The number of such stretches.
    pub count: u64,
    /// Their total time, in nanoseconds.
    pub ns: u64,
}

/// Threads without a processor are worth a note from this percentage of their work on.
pub(crate) const BUSY_PERCENT: f64 = 5.0;

/// One construct of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// The kind, in ompP's classification.
    pub kind: RegionKind,
    /// The kind as spelled in the source language.
    pub region_type: String,
    /// File of the begin.
    pub file: String,
    /// First and last line of the directive.
    pub begin: [u32; 2],
    /// First and last line of the end.
    pub end: [u32; 2],
    /// Column of the directive, 1-based; 0 if unknown.
    #[serde(default)]
    pub column: u32,
    /// Name of a critical section or user region; routine of a lock call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Enclosing function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The directive as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directive: Option<String>,
    /// The number of this directive among those with the same text in its function, from 0.
    #[serde(default)]
    pub ordinal: u32,
    /// Argument of the `schedule` clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The one variable that an `atomic` construct writes, if it is certain that all executions
    /// in a parallel region write the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Number of sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_sections: Option<u32>,
    /// The reason why the implicit barrier was not made explicit; none if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsplit: Option<String>,
    /// For a function: where its machine code is. For a construct of a program that was not
    /// built with Romp: where its call or its body is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Whether the construct is only known to be near these lines.
    #[serde(default, skip_serializing_if = "is_false")]
    pub near: bool,
}

/// The words of a text of the source, such as the names of clauses, in lower case.
pub(crate) fn words_of_source(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl Region {
    /// A construct of this kind, of which nothing else is known.
    ///
    /// ```
    /// use profile::{model::Region, region_kind::RegionKind};
    ///
    /// let region = Region {
    ///     file: "a.c".to_owned(),
    ///     begin: [3, 4],
    ///     ..Region::of_kind(RegionKind::Critical)
    /// };
    /// assert_eq!(region.region_type, "critical");
    /// ```
    pub fn of_kind(kind: RegionKind) -> Self {
        let types = kind.row().region_types;
        Self {
            kind,
            region_type: types.first().copied().unwrap_or_default().to_owned(),
            file: String::new(),
            begin: [0; 2],
            end: [0; 2],
            column: 0,
            name: None,
            function: None,
            directive: None,
            ordinal: 0,
            schedule: None,
            variable: None,
            num_sections: None,
            unsplit: None,
            code: None,
            near: false,
        }
    }

    /// Whether both regions belong to one construct, such as a task's creation and its
    /// executions.
    pub(crate) fn is_of_construct(&self, other: &Self) -> bool {
        let place = |region: &Self| (region.begin, region.column);
        place(self) == place(other) && self.file == other.file && self.code == other.code
    }

    /// Whether it creates the tasks that an execution region executes.
    pub(crate) fn creates(&self, execution: &Self) -> bool {
        (self.kind.is_task_creation() || self.kind == RegionKind::Taskloop)
            && execution.is_of_construct(self)
    }
}

/// A source file, as it was when the program was built.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name in the regions.
    pub file: String,
    /// Its [hash](crate::file_hash).
    pub hash: String,
}

/// Where the machine code of a function is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Code {
    /// The program or shared library, with its path.
    pub module: String,
    /// The address in that file, as in its symbols and debug information.
    pub offset: u64,
    /// The symbol there, as the linker knows it; none if the file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

/// A thread, named by its path: `[0]` is the initial thread. `[0, 3, 2]` is thread 2 of the
/// team forked by thread 3 of the team that thread 0 forked. The first number distinguishes
/// initial threads (a program with its own pthreads has several). In a merged profile, the rank
/// stands in front.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Thread {
    /// Rank of its process; none unless several processes were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Thread numbers from the initial thread down.
    pub path: Vec<u32>,
}

impl Thread {
    /// Whether it is an initial thread.
    pub(crate) fn is_initial(&self) -> bool {
        self.path.len() == 1
    }

    /// Whether it forked the team that it is a member of: so does the first member.
    pub(crate) fn is_first_member(&self) -> bool {
        self.path.len() > 1 && self.path.last() == Some(&0)
    }

    /// The shortest path of the same thread: that in the outermost team of which it is a member and that it did
    /// not fork.
    fn shortest_path(&self) -> &[u32] {
        let zeros = self.path.iter().skip(1).rev();
        let zeros = zeros.take_while(|number| **number == 0).count();
        &self.path[..self.path.len() - zeros]
    }
}

impl std::fmt::Display for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(rank) = self.rank {
            write!(f, "r{rank}:")?;
        }
        for (depth, number) in self.path.iter().enumerate() {
            write!(f, "{}{number}", if depth > 0 { "->" } else { "" })?;
        }
        Ok(())
    }
}

/// One node of the call-path tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Index of the parent in [`Profile::nodes`]; none below the program.
    pub parent: Option<usize>,
    /// Index in [`Profile::regions`].
    pub region: usize,
    /// The parent's pseudo-region in which this node was entered.
    pub within: PseudoRegion,
    /// One row per thread that was here, in the order of [`Profile::threads`].
    pub rows: Vec<Row>,
}

fn has_no(number: &u32) -> bool {
    *number == 0
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Time and count of one pseudo-region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Number of completed instances.
    pub count: u64,
    /// Their summed time in nanoseconds.
    pub ns: u64,
}

impl Span {
    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.ns = self.ns.saturating_add(other.ns);
    }
}
