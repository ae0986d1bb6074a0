//! The code that the instrumenter, the measurement library and the command line share:
//! region descriptors, saved profiles, their analyses and the report writers.
//!
//! The data flow is `descriptor` (written by the instrumenter, read by the runtime) ->
//! [`model`] (a measured run) -> [`analysis`] (its meaning) -> [`report`] (its presentation).
//! Three rules hold: nothing here knows how time was measured, nothing here knows a programming
//! language, and no report writer computes a result that an analysis could compute.
//!
//! ```
//! use profile::model::Profile;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/profiles/imbalance.romp.json");
//! # let path = std::path::Path::new(path);
//! let profile = Profile::open(path)?;
//! let report = profile.analyse();
//! println!("{}", report.summary.headline);
//! profile::report::text::write(&report, &mut std::io::stdout())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod advice;
pub mod analysis;
pub mod check;
pub mod columns;
pub mod counters;
pub mod descriptor;
pub mod diff;
pub mod environment;
pub mod event;
pub mod explain;
pub mod file_hash;
pub mod functions;
pub mod group;
pub mod identity;
pub mod load;
pub mod merge;
pub mod model;
pub mod order;
pub mod outside;
pub mod overheads;
pub mod parallel;
pub mod printable;
pub mod properties;
pub mod region_kind;
pub mod report;
pub mod run_list;
pub mod runs;
pub mod save;
pub mod scale;
mod schedule;
pub mod units;
