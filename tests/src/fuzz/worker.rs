//! Checks inputs one after the other, in a process that an input may kill.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Mutex;

use super::Target;
use super::pool::{Input, Pool};

/// Which inputs a process checks.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The seed of all inputs.
    pub seed: u64,
    /// The number of the first one.
    pub first: u64,
    /// The distance from the number of one input to that of the next.
    pub step: u64,
    /// The numbers of all inputs are smaller.
    pub end: u64,
}

/// The last panic's place and first words.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Checks a share; the number of the input at hand stands in the file `progress`. Each
/// failure is a line of standard output: its number, a tab and its kind.
///
/// # Errors
/// If the file or standard output can't be written.
pub fn work(target: &'static Target, share: Share, progress: &Path) -> std::io::Result<()> {
    let pool = Pool::new(target);
    let progress = File::create(progress)?;
    let mut number = share.first;
    while number < share.end {
        progress.write_all_at(&number.to_le_bytes(), 0)?;
        if let Some(kind) = failure(target, &pool.input(share.seed, number)) {
            writeln!(std::io::stdout(), "{number}\t{kind}")?;
        }
        number += share.step;
    }
    Ok(())
}

/// Checks one input: the kind of failure, the same for all inputs that fail in this way.
#[must_use]
pub fn failure(target: &Target, input: &Input) -> Option<String> {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), ToString::to_string);
        let payload = info.payload();
        let words = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or_default();
        let words = words.chars().filter(|c| !c.is_ascii_digit() && *c != '\t');
        let words: String = words.take(120).collect();
        if let Ok(mut panic) = PANIC.lock() {
            *panic = format!("{place}: {}", words.replace('\n', " "));
        }
    }));
    let begin = processor_time();
    let checked = panic::catch_unwind(AssertUnwindSafe(|| {
        (target.check)(&input.bytes, input.variant);
    }));
    let took = processor_time().saturating_sub(begin);
    match checked {
        Err(_) => PANIC.lock().ok().map(|panic| panic.clone()),
        Ok(()) if took > allowed(input.bytes.len()) => Some("takes too long".into()),
        Ok(()) => None,
    }
}

/// Nanoseconds that an input of a length may take. This is several times the usual time, so
/// that only a time that grows faster than the input exceeds it.
fn allowed(bytes: usize) -> u64 {
    300_000_000 + 100_000 * bytes as u64
}

/// Nanoseconds that this thread had a processor; 0 if the system doesn't say.
#[must_use]
pub fn processor_time() -> u64 {
    processor_time_of("thread-self")
}

/// Nanoseconds that the first thread of a process had a processor; 0 if the system doesn't say.
#[must_use]
pub fn processor_time_of(process: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let first = text.split(' ').next();
    first.and_then(|word| word.parse().ok()).unwrap_or_default()
}
