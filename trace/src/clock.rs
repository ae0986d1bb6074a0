//! Ticks of the clock that was read, as nanoseconds.

/// The two clocks at one moment: the one that events are timed with, and the
/// system's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Ticks of the clock that events are timed with.
    pub ticks: u64,
    /// Nanoseconds of the system's monotonic clock.
    pub ns: u64,
}

/// Ticks to nanoseconds, from two pairs: `ticks * ns / all_ticks`, rounded down, without
/// a division, of which a large profile would need millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Whole nanoseconds of a tick.
    whole: u64,
    /// The remaining nanoseconds, over this many ticks; less than these ticks.
    rest: u64,
    ticks: u64,
    /// `rest / ticks` in units of 2^-64, rounded down.
    factor: u64,
}

impl Scale {
    /// The ratio of the clocks between two moments.
    #[must_use]
    pub fn between(start: Pair, end: Pair) -> Self {
        let ticks = end.ticks.saturating_sub(start.ticks);
        let ns = end.ns.saturating_sub(start.ns);
        match ticks {
            0 => Self::one(),
            ticks => Self::ratio(ns, ticks),
        }
    }

    /// One tick is one nanosecond.
    #[must_use]
    pub fn one() -> Self {
        Self::ratio(1, 1)
    }

    /// So many nanoseconds are so many ticks, at least one.
    fn ratio(ns: u64, ticks: u64) -> Self {
        let rest = ns % ticks;
        Self {
            whole: ns / ticks,
            rest,
            ticks,
            factor: ((u128::from(rest) << 64) / u128::from(ticks)) as u64,
        }
    }

    /// Rounds down, so that parts never exceed their whole.
    #[must_use]
    #[inline(always)]
    pub fn to_ns(self, ticks: u64) -> u64 {
        // The product with the factor is too small by less than one.
        let part = (u128::from(ticks) * u128::from(self.factor)) >> 64;
        let left = u128::from(ticks) * u128::from(self.rest) - part * u128::from(self.ticks);
        let part = part as u64 + u64::from(left >= u128::from(self.ticks));
        ticks.saturating_mul(self.whole).saturating_add(part)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_never_exceed_their_whole() {
        let scale = Scale::ratio(1, 3);
        assert_eq!(scale.to_ns(5), 1);
        assert!(scale.to_ns(4) + scale.to_ns(4) <= scale.to_ns(8));
        let steep = Scale::ratio(u64::MAX, 1);
        assert_eq!(steep.to_ns(2), u64::MAX);
    }

    proptest! {
        #[test]
        fn it_is_what_a_division_says(ns: u64, all in 1u64.., ticks: u64, shift in 0u32..64) {
            for (ns, ticks) in [(ns, ticks), (ns >> shift, ticks), (ns, ticks >> shift)] {
                let expected = u128::from(ticks) * u128::from(ns) / u128::from(all);
                let expected = u64::try_from(expected).unwrap_or(u64::MAX);
                prop_assert_eq!(Scale::ratio(ns, all).to_ns(ticks), expected);
            }
        }
    }
}
