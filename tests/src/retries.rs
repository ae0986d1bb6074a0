//! Measuring again where a share of time was wrong. Other work on the machine shifts shares
//! in one run, a fault of the measurement in every run. Each retry is reported on the
//! terminal, and too many of them fail: a fault that shows now and then must not hide
//! behind them.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Outcome;
use crate::shares::Fault;

/// Retries of a test program that are always allowed, and the share of its measurements
/// that may be retried beyond them, in percent.
const ALWAYS_ALLOWED: usize = 4;
const ALLOWED_PERCENT: usize = 30;

/// How often this test program measured, and how often again.
static MEASURED: AtomicUsize = AtomicUsize::new(0);
static AGAIN: AtomicUsize = AtomicUsize::new(0);

/// Measures until the shares are right, at most so many times. A wrong fact is never
/// tried again.
///
/// # Errors
/// A wrong fact, shares that are wrong each time, and too many retries of the test program.
pub fn measured<T>(
    name: &str,
    attempts: usize,
    mut measure: impl FnMut() -> Result<T, Fault>,
) -> Outcome<T> {
    MEASURED.fetch_add(1, Ordering::Relaxed);
    let mut wrong = Vec::new();
    loop {
        match measure() {
            Ok(measured) => return Ok(measured),
            Err(Fault::Fact(message)) => return Err(message),
            Err(Fault::Share(message)) => wrong.push(message),
        }
        if wrong.len() == attempts {
            return Err(wrong.join("; again: "));
        }
        let measured = MEASURED.load(Ordering::Relaxed);
        let again = AGAIN.fetch_add(1, Ordering::Relaxed) + 1;
        let message = wrong.last().map_or("", String::as_str);
        let line = format!("{name} is measured again ({again} of {measured} so far): {message}\n");
        // The macros' output is kept back if the test passes. This is no reason to fail.
        let _ = std::io::stderr().write_all(line.as_bytes());
        if are_too_many(again, measured) {
            return Err(format!("too many retries: {line}"));
        }
    }
}

fn are_too_many(again: usize, measured: usize) -> bool {
    again > ALWAYS_ALLOWED + measured * ALLOWED_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_share_is_tried_again_and_a_wrong_fact_is_not() {
        let mut runs = 0;
        let mut now_and_then = || {
            runs += 1;
            match runs {
                1 | 2 => Err(Fault::Share("half".to_owned())),
                _ => Ok(runs),
            }
        };
        assert_eq!(measured("a", 3, &mut now_and_then), Ok(3));
        let mut runs = 0;
        let never = measured("b", 3, || {
            runs += 1;
            Err::<(), _>(Fault::Fact("two regions".to_owned()))
        });
        assert_eq!((never, runs), (Err("two regions".to_owned()), 1));
    }

    #[test]
    fn a_third_of_many_measurements_is_too_many() {
        assert!(!are_too_many(4, 1));
        assert!(are_too_many(5, 1));
        assert!(!are_too_many(16, 40));
        assert!(are_too_many(17, 40));
    }
}
