//! Merges several profiles into one: the ranks of an MPI job.
//!
//! Every thread keeps its rows. A thread is named by its rank and path, so no rows are summed
//! up and [`of_rank`] can restore each rank. Regions are the same if their
//! [identities](crate::identity) are, and call paths if their regions are.
//!
//! The run of a merged profile lasts as long as that of the slowest rank, and has the threads
//! of all ranks. The runs of the single ranks are kept as well.

mod waits;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::identity::{Identity, identities};
use crate::model::{Node, Profile, Region, Run, SCHEMA, SourceFile, Thread, VERSION};
use crate::order;
use crate::region_kind::PseudoRegion;
use waits::{Places, WaitLists};

/// A profile to be merged.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file that it was read from.
    pub path: PathBuf,
    /// The profile.
    pub profile: Profile,
}

/// Why profiles cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A profile does not say to which rank it belongs.
    #[error(
        "'{}' is not the profile of an MPI rank: neither the profile nor its name (.r<rank>.) has \
         the rank; --number numbers the files in the order in which they are given",
        path.display()
    )]
    NoRank {
        /// The file.
        path: PathBuf,
    },
    /// Two profiles have the same rank.
    #[error(
        "'{}' and '{}' are both of rank {rank}: give the files of one job",
        first.display(), second.display()
    )]
    SameRank {
        /// The rank.
        rank: u32,
        /// A file.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
}

/// Merges the ranks of a job. Profiles that were merged before are split into their ranks
/// first.
///
/// # Errors
/// If a rank is not known, or occurs twice.
pub fn merge(parts: &[Part]) -> Result<Profile, MergeError> {
    let mut ranks: BTreeMap<u32, (usize, Run)> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for (rank, run) in runs(part)? {
            if let Some((first, _)) = ranks.insert(rank, (index, run)) {
                return Err(MergeError::SameRank {
                    rank,
                    first: parts[first].path.clone(),
                    second: part.path.clone(),
                });
            }
        }
    }
    let mut builder = Builder::default();
    for (&rank, &(index, _)) in &ranks {
        builder.add_tree(&parts[index].profile, Select::Rank(rank));
    }
    // Once for each part, however many ranks it has.
    let mut pending: BTreeSet<usize> = (0..parts.len()).collect();
    for (&rank, (index, _)) in &ranks {
        let profile = &parts[*index].profile;
        let is_merged = !profile.ranks.is_empty();
        if pending.remove(index) {
            let select = if is_merged {
                Select::All
            } else {
                Select::Rank(rank)
            };
            builder.add_waits(profile, select);
        }
    }
    let ranks: Vec<Run> = ranks.into_values().map(|(_, run)| run).collect();
    Ok(builder.finish(job(&ranks), ranks))
}

/// Gives the parts the ranks 0, 1, ... in their order. Ranks that they already have are
/// ignored.
pub fn number(parts: &mut [Part]) {
    for (rank, part) in (0..).zip(parts) {
        part.profile.run.rank = Some(rank);
        part.profile.ranks.clear();
        for thread in &mut part.profile.threads {
            thread.rank = None;
        }
    }
}

/// The same profile in which regions with the same identity are one region. For instance, a
/// construct in a header that two translation units include has several regions.
#[must_use]
pub fn fold(profile: &Profile) -> Profile {
    let mut builder = Builder::default();
    builder.add_tree(profile, Select::All);
    builder.add_waits(profile, Select::All);
    builder.finish(profile.run.clone(), profile.ranks.clone())
}

/// The contribution of one rank to a merged profile, as a profile of its own. Data about all
/// threads together cannot be split and is left out: contention, and distributions that name no
/// thread.
#[must_use]
pub fn of_rank(profile: &Profile, rank: u32) -> Option<Profile> {
    let run = profile.ranks.iter().find(|run| run.rank == Some(rank))?;
    let mut builder = Builder::default();
    builder.add_tree(profile, Select::OnlyRank(rank));
    builder.add_waits(profile, Select::OnlyRank(rank));
    Some(builder.finish(run.clone(), Vec::new()))
}

/// The runs of a part, by rank.
fn runs(part: &Part) -> Result<Vec<(u32, Run)>, MergeError> {
    let no_rank = || MergeError::NoRank {
        path: part.path.clone(),
    };
    let profile = &part.profile;
    if profile.ranks.is_empty() {
        let rank = profile.run.rank.or_else(|| rank_in_name(&part.path));
        let rank = rank.ok_or_else(no_rank)?;
        let run = Run {
            rank: Some(rank),
            ..profile.run.clone()
        };
        return Ok(vec![(rank, run)]);
    }
    let runs = profile.ranks.iter();
    runs.map(|run| Ok((run.rank.ok_or_else(no_rank)?, run.clone())))
        .collect()
}

/// The rank in a name such as `app.r3.0.romp.json`.
fn rank_in_name(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.strip_suffix(".romp.json")?.rsplit('.');
    let _number: u64 = parts.next()?.parse().ok()?;
    parts.next()?.strip_prefix('r')?.parse().ok()
}

fn sum(ranks: &[Run], of: fn(&Run) -> u64) -> u64 {
    ranks.iter().map(of).fold(0, u64::saturating_add)
}

fn largest(ranks: &[Run], of: fn(&Run) -> u64) -> u64 {
    ranks.iter().map(of).max().unwrap_or(0)
}

/// The run of all ranks together.
fn job(ranks: &[Run]) -> Run {
    let all = |of: fn(&Run) -> &String| {
        let values: BTreeSet<&str> = ranks.iter().map(|run| of(run).as_str()).collect();
        let values: Vec<&str> = values.into_iter().filter(|v| !v.is_empty()).collect();
        values.join(", ")
    };
    let times = |of: fn(&Run) -> &String| ranks.iter().map(of).filter(|time| !time.is_empty());
    Run {
        application: all(|run| &run.application),
        romp_version: all(|run| &run.romp_version),
        // Times in UTC with the same number of digits can be compared as texts.
        start: times(|run| &run.start).min().cloned().unwrap_or_default(),
        end: times(|run| &run.end).max().cloned().unwrap_or_default(),
        duration_ns: ranks.iter().map(|run| run.duration_ns).max().unwrap_or(0),
        user_ns: sum(ranks, |run| run.user_ns),
        system_ns: sum(ranks, |run| run.system_ns),
        // Each rank has its own value.
        parallel_ns: None,
        max_threads: u32::try_from(sum(ranks, |run| u64::from(run.max_threads)))
            .unwrap_or(u32::MAX),
        // Several ranks may use one host, and each may have been given a part of it.
        processors: 0,
        processors_around: 0,
        scheduling: None,
        host: all(|run| &run.host),
        pid: 0,
        rank: None,
        clock: all(|run| &run.clock),
        pair_cost_ps: largest(ranks, |run| run.pair_cost_ps),
        passed_pair_cost_ps: largest(ranks, |run| run.passed_pair_cost_ps),
        // Counters that only some ranks have would be in the wrong columns.
        counters: all_alike(ranks, |run| &run.counters),
        formulas: all_alike(ranks, |run| &run.formulas),
        incremental: ranks.iter().any(|run| run.incremental),
        settings: alike(ranks, |run| &run.settings),
        annotations: alike(ranks, |run| &run.annotations),
        notes: notes(ranks),
        openmp_library: all(|run| &run.openmp_library),
        runtimes: all_alike(ranks, |run| &run.runtimes),
        unplaced: ranks.iter().any(|run| run.unplaced),
    }
}

/// The list that all ranks have; empty if the lists differ.
fn all_alike<T: Clone + PartialEq>(ranks: &[Run], of: fn(&Run) -> &Vec<T>) -> Vec<T> {
    let first = ranks.first().map(of).cloned().unwrap_or_default();
    match ranks.iter().all(|run| *of(run) == first) {
        true => first,
        false => Vec::new(),
    }
}

/// The values on which all ranks agree. Values that differ stay with the ranks.
fn alike(ranks: &[Run], of: fn(&Run) -> &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut common = ranks.first().map(of).cloned().unwrap_or_default();
    common.retain(|key, value| ranks.iter().all(|run| of(run).get(key) == Some(value)));
    common
}

/// The notes of the ranks, each once, and a note about missing ranks.
fn notes(ranks: &[Run]) -> Vec<String> {
    let mut by_text: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for run in ranks {
        for note in &run.notes {
            by_text.entry(note).or_default().extend(run.rank);
        }
    }
    let known: BTreeSet<u32> = ranks.iter().filter_map(|run| run.rank).collect();
    let last = known.last().copied().unwrap_or(0);
    let missing: Vec<u32> = (0..last).filter(|rank| !known.contains(rank)).collect();
    let missing = (!missing.is_empty()).then(|| {
        let number = missing.len();
        format!(
            "ranks of which no profile was given, {number}: {}",
            list(&missing)
        )
    });
    by_text
        .into_iter()
        .map(|(note, ranks)| match ranks.as_slice() {
            [rank] => format!("rank {rank}: {note}"),
            ranks => format!("ranks {}: {note}", list(ranks)),
        })
        .chain(missing)
        .collect()
}

/// `0, 2-5, 9`, for numbers in ascending order.
fn list(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let shown: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            run => run.iter().map(u32::to_string).collect(),
        })
        .collect();
    shown.join(", ")
}

/// Which threads are taken, and how they are renamed.
#[derive(Clone, Copy, Debug)]
enum Select {
    /// All threads, under their own names.
    All,
    /// The threads of this rank in a merged profile, or all threads of a profile of one
    /// process. They get this rank.
    Rank(u32),
    /// The threads of this rank in a merged profile. They get names without a rank.
    OnlyRank(u32),
}

impl Select {
    /// The new name of a thread; none if it is not taken.
    fn rename(self, thread: &Thread) -> Option<Thread> {
        let (takes, rank) = match self {
            Self::All => (true, thread.rank),
            Self::Rank(rank) => (thread.rank.is_none_or(|of| of == rank), Some(rank)),
            Self::OnlyRank(rank) => (thread.rank == Some(rank), None),
        };
        takes.then(|| Thread {
            rank,
            path: thread.path.clone(),
        })
    }
}

/// Identity of a node: parent, region, pseudo-region of the parent.
type NodeKey = (Option<usize>, usize, PseudoRegion);

/// A profile under construction.
#[derive(Debug, Default)]
struct Builder {
    regions: Vec<Region>,
    by_identity: HashMap<Identity, usize>,
    threads: Vec<Thread>,
    by_name: HashMap<Thread, usize>,
    nodes: Vec<Node>,
    by_key: HashMap<NodeKey, usize>,
    waits: WaitLists,
    sources: BTreeSet<SourceFile>,
}

impl Builder {
    /// The new indices of a profile's regions. New regions are added.
    fn regions(&mut self, profile: &Profile) -> Vec<usize> {
        let identities = identities(&profile.regions);
        let regions = profile.regions.iter().zip(identities);
        regions
            .map(|(region, identity)| self.region(region, identity))
            .collect()
    }

    /// The new indices of a profile's threads; none for threads that are not taken.
    fn threads(&mut self, profile: &Profile, select: Select) -> Vec<Option<usize>> {
        let threads = profile.threads.iter();
        threads
            .map(|thread| Some(self.thread(select.rename(thread)?)))
            .collect()
    }

    /// Adds a profile's regions, and the rows of the selected threads.
    fn add_tree(&mut self, profile: &Profile, select: Select) {
        self.sources.extend(profile.sources.iter().cloned());
        let regions = self.regions(profile);
        let threads = self.threads(profile, select);
        let mut places: Vec<Option<usize>> = Vec::with_capacity(profile.nodes.len());
        let wanted = wanted(profile, &threads);
        for (node, wanted) in profile.nodes.iter().zip(wanted) {
            let place = wanted.then(|| {
                let parent = node.parent.and_then(|parent| places[parent]);
                self.node((parent, regions[node.region], node.within))
            });
            places.push(place);
            let Some(place) = place else { continue };
            let rows = node.rows.iter().filter_map(|row| {
                let mut row = row.clone();
                row.thread = threads[row.thread]?;
                Some(row)
            });
            self.nodes[place].rows.extend(rows);
        }
    }

    /// Adds the lists beside the tree.
    fn add_waits(&mut self, profile: &Profile, select: Select) {
        let regions = self.regions(profile);
        let threads = self.threads(profile, select);
        let places = Places {
            regions: &regions,
            threads: &threads,
        };
        match select {
            Select::OnlyRank(_) => self.waits.add_threads(profile, &places),
            Select::All => self.waits.add(profile, &places, None),
            Select::Rank(rank) => self.waits.add(profile, &places, Some(rank)),
        }
    }

    fn region(&mut self, region: &Region, identity: Identity) -> usize {
        *self.by_identity.entry(identity).or_insert_with(|| {
            self.regions.push(region.clone());
            self.regions.len() - 1
        })
    }

    fn thread(&mut self, thread: Thread) -> usize {
        *self.by_name.entry(thread).or_insert_with_key(|thread| {
            self.threads.push(thread.clone());
            self.threads.len() - 1
        })
    }

    fn node(&mut self, key: NodeKey) -> usize {
        *self.by_key.entry(key).or_insert_with(|| {
            let (parent, region, within) = key;
            self.nodes.push(Node {
                parent,
                region,
                within,
                rows: Vec::new(),
            });
            self.nodes.len() - 1
        })
    }

    fn finish(mut self, run: Run, ranks: Vec<Run>) -> Profile {
        self.waits.finish();
        for node in &mut self.nodes {
            order::sort_by_key(&mut node.rows, |row| row.thread);
            node.rows.dedup_by(|next, row| {
                let is_same = next.thread == row.thread;
                if is_same {
                    *row += next;
                }
                is_same
            });
        }
        Profile {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            run,
            ranks,
            regions: self.regions,
            threads: self.threads,
            nodes: self.nodes,
            serial: self.waits.serial,
            distributions: self.waits.distributions,
            arrivals: self.waits.arrivals,
            contention: self.waits.contention,
            sources: self.sources.into_iter().collect(),
        }
    }
}

/// Which nodes have rows of the taken threads, or are above such nodes.
fn wanted(profile: &Profile, threads: &[Option<usize>]) -> Vec<bool> {
    let mut wanted = vec![false; profile.nodes.len()];
    // Children stand after their parents.
    for (index, node) in profile.nodes.iter().enumerate().rev() {
        wanted[index] |= node.rows.iter().any(|row| threads[row.thread].is_some());
        if let Some(parent) = node.parent.filter(|_| wanted[index]) {
            wanted[parent] = true;
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_stands_in_the_name() {
        let rank = |name: &str| rank_in_name(Path::new(name));
        assert_eq!(rank("out/app.r12.0.romp.json"), Some(12));
        assert_eq!(rank("app.r1.r3.4.romp.json"), Some(3));
        for none in ["app.0.romp.json", "app.r1.romp.json", "app.r.0.romp.json"] {
            assert_eq!(rank(none), None, "{none}");
        }
    }

    #[test]
    fn lists_of_ranks_are_short() {
        assert_eq!(list(&[0, 2, 3, 4, 5, 9]), "0, 2-5, 9");
        assert_eq!(list(&[7]), "7");
    }
}
