//! Harness of the end-to-end tests: finds compilers, builds fixtures, compares
//! runs, and asks a saved profile for its shares.
//!
//! A fixture is a C program in `fixtures/` that checks its own results: it ends
//! with status 0 only if they are right. The flow of a test is [`fixture`] (what
//! the program's header asks for) -> [`toolchain`] (compilers, `rompcc`) ->
//! [`run`] (build plain and instrumented, run both) -> [`invariants`] (what is
//! true of every profile) and [`shares`] (what this one must show). A whole build
//! with its own tools is a [`project`].
//!
//! The harness never waits for time to pass, never skips a fixture because a tool is
//! missing, and does not know how the instrumenter or the runtime do their work.
//!
//! # The header of a fixture
//!
//! Lines of the file's first comment (Fortran: of the comment lines that it begins
//! with) that hold `romp-test:` are directives to
//! the harness. Each is a list of `key=value`, separated by blanks; keys of
//! lists take commas; a key may come again in another line.
//!
//! ```text
//! romp-test: std=c99,gnu17                 values of -std= (default: c99,gnu17)
//! romp-test: compilers=gcc                 compilers (default: gcc,clang)
//! romp-test: flags=-Wno-comment,-pthread   further flags of the compiler
//! romp-test: env=OMP_CANCELLATION=true     environment of the program
//! romp-test: threads=2                     OMP_NUM_THREADS (default: 4)
//! romp-test: regions=parallel:2,lock:*     measured constructs, by kind
//! romp-test: visits=parallel:8             entries of threads, by kind
//! romp-test: notes=1                       remarks of the run, such as regions left open (default: 0)
//! romp-test: form=free                     the only source form of a Fortran program (default: both)
//! romp-test: gap=preprocessed-input        why the profile can't yet be as the header says
//! ```
//!
//! `regions` is complete: a kind that isn't listed must not occur (`section`
//! excepted, whose number is that of another kind's parts). `*` stands for any
//! number but none; `regions=*` leaves the whole table open. `visits` is the sum
//! of the counts of `main`, for the kinds listed. Every fixture in `fixtures/c`
//! says its regions.
//!
//! A fixture with a `gap` must still compile and run as before, but its profile
//! must *not* yet be as the header says. If the gap has been closed, the test fails and asks
//! for the word to be removed.

#![deny(unsafe_code)]

pub mod call_sites;
pub mod ends;
pub mod fixture;
pub mod fuzz;
pub mod generate;
pub mod growth;
pub mod invariants;
// An allocator that counts can only be written so.
#[allow(unsafe_code)]
pub mod memory;
pub mod outside;
pub mod processors;
pub mod project;
pub mod random;
pub mod refused;
pub mod retries;
pub mod run;
pub mod shares;
#[path = "../../profile/tests/sums/mod.rs"]
mod sums;
pub mod toolchain;
mod waits;

/// Turns off the helper threads of LLVM's runtime. Release 14 may use one before it has started:
/// then a program is killed, as `newer_constructs.c` is on a busy machine, measured or not.
pub const NO_HELPERS: (&str, &str) = ("LIBOMP_NUM_HIDDEN_HELPER_THREADS", "0");

/// The result of a step of the harness, or a sentence about why it failed.
pub type Outcome<T> = Result<T, String>;
