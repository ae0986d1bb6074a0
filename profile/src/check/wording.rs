//! The words for a measured value and its limit.

use crate::runs::left_out;
use crate::units::{Factor, Percent};

/// A share in each of several runs, in percent.
#[derive(Clone, Debug)]
pub(super) struct SharePerRun {
    sorted: Vec<f64>,
}

impl SharePerRun {
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self { sorted }
    }

    /// The value in the middle; the mean of the middle two for an even number of values.
    pub(super) fn median(&self) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else {
            return 0.0;
        };
        f64::midpoint(self.sorted[last / 2], self.sorted[self.sorted.len() / 2])
    }

    /// With several runs, words for the median and its interval; else empty.
    fn interval(&self) -> String {
        let runs = self.sorted.len();
        if runs < 2 {
            return String::new();
        }
        let out = left_out(runs);
        let (low, high) = (self.sorted[out], self.sorted[runs - 1 - out]);
        format!(", the median of {runs} runs with {low:.2} to {high:.2} %")
    }

    /// Whether the share is within its limit, and words for both.
    pub(super) fn at_most(&self, limit: Percent) -> (bool, String) {
        let holds = self.median() <= limit.0;
        let verb = if holds { "at most" } else { "more than" };
        let found = digits(self.median(), limit.0);
        (
            holds,
            format!("{found} % ({verb} {limit}{})", self.interval()),
        )
    }

    /// Whether the share is at least as large as its limit, and words for both.
    pub(super) fn at_least(&self, limit: Percent) -> (bool, [String; 2]) {
        let holds = self.median() >= limit.0;
        let verb = if holds { "at least" } else { "less than" };
        let found = digits(self.median(), limit.0);
        let against = format!("{verb} {limit}{}", self.interval());
        (holds, [found, against])
    }
}

/// Whether a time is within a multiple of another one, and words for both.
pub(super) fn ratio(now: u64, then: u64, limit: Factor) -> (bool, String) {
    let found = now as f64 / then.max(1) as f64;
    let holds = found <= limit.0;
    let verb = if holds { "at most" } else { "more than" };
    (
        holds,
        format!("{} times ({verb} {limit})", digits(found, limit.0)),
    )
}

/// The number with as many decimals as are needed to show that it differs from its limit.
fn digits(found: f64, limit: f64) -> String {
    let differ = |decimals: &usize| {
        let shown: f64 = format!("{found:.decimals$}").parse().unwrap_or(found);
        (shown <= limit) == (found <= limit) && (shown >= limit) == (found >= limit)
    };
    let decimals = (2..9).find(differ).unwrap_or(9);
    format!("{found:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_most(values: &[f64], limit: f64) -> (bool, String) {
        SharePerRun::of(values.iter().copied()).at_most(Percent(limit))
    }

    #[test]
    fn a_number_beyond_its_limit_looks_so() {
        assert_eq!(digits(5.0001, 5.0), "5.0001");
        assert_eq!(digits(32.4, 20.0), "32.40");
        assert_eq!(
            at_most(&[5.0], 5.0),
            (true, "5.00 % (at most 5 %)".to_owned())
        );
        assert_eq!(
            at_most(&[5.001], 5.0),
            (false, "5.001 % (more than 5 %)".to_owned())
        );
    }

    #[test]
    fn the_median_is_judged() {
        let (holds, words) = at_most(&[90.0, 4.0, 3.0], 5.0);
        assert!(holds);
        assert_eq!(
            words,
            "4.00 % (at most 5 %, the median of 3 runs with 3.00 to 90.00 %)"
        );
        assert!(!at_most(&[90.0, 91.0, 3.0], 5.0).0);
    }
}
