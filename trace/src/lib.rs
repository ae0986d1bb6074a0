//! Traces of measured programs: every event with its time and thread.
//!
//! ```text
//! record     one event as 64-bit words                     written by the library,
//! layout     slots of a file, header, definitions          read here
//! clock      ticks to nanoseconds
//! complete   what regions are in the source, said when the program has ended
//! read       a file as streams of records, page by page
//! schedule   how loops are shared out
//! replay     records as regions that open and close
//! naming     names of regions
//! stats      counts and times, as the profile of the same run has them
//! check      what must be true of every trace
//! depend     on what tasks depend: names in the source, and the order by addresses
//! export     the formats of other tools
//! timeline   what the page draws: bins, and slices of a small trace
//! analysis   iterations that cost more than others, when sets and tasks ran, and who
//!            kept others waiting
//! ```
//!
//! ```
//! use trace::analysis::waits::waits;
//! use trace::read::Trace;
//!
//! # let folder = std::env::temp_dir().join(format!("romp-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("app.0.romp.trace");
//! # let header = trace::layout::Header { is_complete: true, bytes: 128, ..Default::default() };
//! # std::fs::write(&path, header.to_bytes())?;
//! let trace = Trace::open(&path)?;
//! println!("{}: {}", path.display(), trace.state());
//! for (name, resource) in waits(&trace)?.resources {
//!     println!("{name:?}: {} waits", resource.waits.count());
//! }
//! # assert!(trace.is_complete());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/trace-format.md` describes the format for readers in other languages.
//! Reading takes memory for one page and the open regions of one thread, however
//! large the trace is. Nothing here knows the OpenMP runtime.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod check;
pub mod clock;
pub mod complete;
pub mod depend;
pub mod export;
pub mod layout;
mod naming;
pub mod read;
pub mod record;
mod recursion;
pub mod replay;
pub mod schedule;
pub mod stats;
pub mod timeline;
