//! Writes archives of the Open Trace Format 2 through libotf2. The library is loaded at run time:
//! users who never export a trace do not need it.
//!
//! ```text
//! library      finds libotf2 and its functions      the only unsafe code: its ABI
//! archive      events of each location, then definitions
//! definitions  what the definitions may say
//! ```
//!
//! The numbers are those of OTF2 3.0's headers; 2.x has the same, and ignores the
//! arguments that it does not know. <https://www.vi-hps.org/projects/score-p>

#![deny(unsafe_code)]

mod archive;
mod definitions;
mod library;

pub use archive::{Archive, Events};
pub use definitions::{Definitions, Host, Location, Region, Role, Strings, Team};
pub use library::Library;

/// Why an archive cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no libotf2, or not a whole one.
    #[error(
        "libotf2 cannot be loaded: {0}\n  = help: install it (Debian: libopen-trace-format2 or \
         otf2-tools), or name its file in ROMP_OTF2"
    )]
    Library(String),
    /// A name holds a zero byte.
    #[error("'{0}' has a zero byte in it")]
    Name(String),
    /// The library refuses.
    #[error("libotf2 says {code} to {call}")]
    Refused {
        /// Its function.
        call: &'static str,
        /// The error code.
        code: i32,
    },
}
