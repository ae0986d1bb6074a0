//! Reads a saved profile. If the file is not a profile of Romp, the message says what to do.
//! Every index in a profile that was read has been checked, so that it can be analysed.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::analysis::Report;
use crate::model::{Profile, SCHEMA, VERSION};
use crate::region_kind::PseudoRegion;

/// Why a file could not be read as a saved profile.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not JSON.
    #[error(
        "'{}' is not JSON ({source}): give the *.romp.json file that the measured program wrote; \
         if it is that file, it was cut short: run the program again",
        path.display()
    )]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The file is JSON, but not a profile of Romp.
    #[error(
        "'{}' is JSON, but no saved profile (its 'schema' is not '{SCHEMA}'): \
         give the *.romp.json file that the measured program wrote",
        path.display()
    )]
    NotAProfile {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer version.
    #[error(
        "'{}' has version {found} of the schema, this program reads up to {VERSION}: \
         use the romp that belongs to the library that wrote it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// Something is missing or inconsistent.
    #[error("'{}' is damaged: {what}; run the program again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
}

impl Profile {
    /// Reads a saved profile.
    ///
    /// # Errors
    /// As [`load`].
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        load(path)
    }

    /// Analyses the profile.
    #[must_use]
    pub fn analyse(&self) -> Report<'_> {
        Report::new(self)
    }
}

/// The part of a file that is read first, in any version.
#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
    version: Option<u64>,
}

/// Reads a saved profile.
///
/// # Errors
/// If the file cannot be read, is no profile of Romp, is newer, or is damaged.
pub fn load(path: &Path) -> Result<Profile, LoadError> {
    let text = fs::read(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(path, &text)
}

/// Reads a saved profile from memory. Messages use `path` as its name.
///
/// # Errors
/// If it is no profile of Romp, is newer, or is damaged.
pub fn parse(path: &Path, text: &[u8]) -> Result<Profile, LoadError> {
    check_header(path, text)?;
    let damaged = |what| LoadError::Damaged {
        path: path.to_owned(),
        what,
    };
    let profile: Profile =
        serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
    check_indices(&profile)
        .and_then(|()| check_waits(&profile))
        .and_then(|()| check_sums(&profile))
        .map_err(damaged)?;
    Ok(profile)
}

fn check_header(path: &Path, text: &[u8]) -> Result<(), LoadError> {
    let path = path.to_owned();
    let header: Header = match serde_json::from_slice(text) {
        Ok(header) => header,
        Err(error) if error.is_data() => return Err(LoadError::NotAProfile { path }),
        Err(source) => return Err(LoadError::NotJson { path, source }),
    };
    if header.schema.as_deref() != Some(SCHEMA) {
        return Err(LoadError::NotAProfile { path });
    }
    match header.version {
        Some(found) if found > u64::from(VERSION) => Err(LoadError::Newer { path, found }),
        Some(_) => Ok(()),
        None => Err(LoadError::Damaged {
            path,
            what: "the field 'version' is missing".into(),
        }),
    }
}

fn check_indices(profile: &Profile) -> Result<(), String> {
    for (index, node) in profile.nodes.iter().enumerate() {
        if node.parent.is_some_and(|parent| parent >= index) {
            return Err(format!("node {index} stands before its parent"));
        }
        if node.region >= profile.regions.len() {
            return Err(format!(
                "node {index} names region {}, which is missing",
                node.region
            ));
        }
        if let Some(row) = node
            .rows
            .iter()
            .find(|row| row.thread >= profile.threads.len())
        {
            return Err(format!(
                "node {index} names thread {}, which is missing",
                row.thread
            ));
        }
        if !node.rows.is_sorted_by(|a, b| a.thread < b.thread) {
            return Err(format!("the rows of node {index} are out of order"));
        }
    }
    let ranks: HashSet<Option<u32>> = profile.ranks.iter().map(|run| run.rank).collect();
    for (index, thread) in profile.threads.iter().enumerate() {
        if thread.path.is_empty() {
            return Err(format!("thread {index} has no name"));
        }
        if thread.rank.is_some() && !ranks.contains(&thread.rank) {
            return Err(format!("thread {index} is of a rank that is missing"));
        }
    }
    Ok(())
}

/// Checks the indices in the lists beside the tree.
fn check_waits(profile: &Profile) -> Result<(), String> {
    let distributions = profile.distributions.iter();
    let sites = profile.contention.iter().flat_map(|guard| &guard.sites);
    let named = distributions
        .map(|of| ("a distribution", of.region, of.thread))
        .chain(
            profile
                .arrivals
                .iter()
                .map(|of| ("an arrival", of.region, Some(of.thread))),
        )
        .chain(profile.serial.iter().flat_map(|of| {
            let regions = [of.after, of.before].into_iter().flatten();
            regions.map(|region| ("a serial part", region, None))
        }))
        .chain(sites.flat_map(|site| {
            let holders = site.holders.iter();
            let holders = holders.map(|holder| ("a holder", holder.region, holder.thread));
            holders.chain([("a site of contention", site.region, None)])
        }));
    for (what, region, thread) in named {
        if region >= profile.regions.len() {
            return Err(format!("{what} names region {region}, which is missing"));
        }
        if let Some(thread) = thread.filter(|thread| *thread >= profile.threads.len()) {
            return Err(format!("{what} names thread {thread}, which is missing"));
        }
    }
    Ok(())
}

/// The sum of all times of a profile, and the sum of all its counts, must be less than this: 36
/// years of thread time. Analyses add each number up a few times, so their sums cannot
/// overflow.
const SUM: u128 = 1 << 60;

fn check_sums(profile: &Profile) -> Result<(), String> {
    let runs = profile.ranks.iter().chain([&profile.run]);
    let runs = runs.flat_map(|run| {
        [
            run.duration_ns,
            run.user_ns,
            run.system_ns,
            run.pair_cost_ps,
            run.passed_pair_cost_ps,
        ]
    });
    let scheduling = profile.run.scheduling.into_iter();
    let scheduling = scheduling.flat_map(|of| {
        [
            of.run_ns,
            of.ready_ns,
            of.most_ready_ns,
            of.helper_run_ns,
            of.first_run_ns,
            of.first_ready_ns,
        ]
    });
    let serial = profile.serial.iter().flat_map(|of| [of.ns, of.count]);
    let rows = || profile.nodes.iter().flat_map(|node| &node.rows);
    let spans = || rows().flat_map(|row| PseudoRegion::ALL.map(|part| row.span(part)));
    let waits = profile.contention.iter().flat_map(|guard| &guard.sites);
    let holders = waits.clone().flat_map(|site| &site.holders);
    let waits = waits.flat_map(|site| {
        let times = [site.wait_ns, site.max_wait_ns, site.hold_ns];
        times.into_iter().chain([site.acquisitions, site.waited])
    });
    let holders = holders.flat_map(|holder| [holder.waited, holder.wait_ns]);
    let members = profile.contention.iter().map(|guard| guard.members);
    let arrivals = profile.arrivals.iter();
    let arrivals = arrivals.flat_map(|of| [of.last, of.late_ns, of.after_first_ns]);
    let buckets = profile.distributions.iter().flat_map(|of| &of.histogram);
    let buckets = buckets.map(|bucket| bucket.count);
    for (what, sum) in [
        ("times of its run", sum(runs.chain(scheduling))),
        ("serial parts", sum(serial)),
        ("times", sum(spans().map(|span| span.ns))),
        ("counts", sum(spans().map(|span| span.count))),
        ("waits", sum(waits.chain(holders).chain(members))),
        ("arrivals", sum(arrivals)),
        ("distributions", sum(buckets)),
    ] {
        if sum >= SUM {
            return Err(format!("its {what} add up to {sum}, which cannot be"));
        }
    }
    let counters = rows().map(|row| row.counters().len());
    match counters.max().unwrap_or_default() > profile.run.counters.len() {
        true => Err("a row counts more than the run has counters".to_owned()),
        false => Ok(()),
    }
}

fn sum(numbers: impl Iterator<Item = u64>) -> u128 {
    numbers.map(u128::from).sum()
}
