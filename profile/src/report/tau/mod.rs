//! Profiles in TAU's form. Each thread has timers, which are the regions, each with the call
//! paths on which it ran.
//!
//! ```text
//! timers   the timers of each thread, by region and by kind of construct
//! files    profile.0.0.0 and so on, as an archive
//! pprof    tables by thread, with sums, means and standard deviations
//! ```

mod files;
mod pprof;
mod timers;

pub use files::write;
pub use pprof::write as write_pprof;
