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

/// Ticks to nanoseconds, from two pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    ticks: u64,
    ns: u64,
}

impl Scale {
    /// What the clocks showed between two moments.
    #[must_use]
    pub fn between(start: Pair, end: Pair) -> Self {
        let ticks = end.ticks.saturating_sub(start.ticks);
        let ns = end.ns.saturating_sub(start.ns);
        if ticks == 0 {
            Self::one()
        } else {
            Self { ticks, ns }
        }
    }

    /// One tick is one nanosecond.
    #[must_use]
    pub fn one() -> Self {
        Self { ticks: 1, ns: 1 }
    }

    /// Rounds down, so that parts never exceed their whole.
    #[must_use]
    pub fn to_ns(self, ticks: u64) -> u64 {
        if ticks == 0 {
            return 0;
        }
        let ns = u128::from(ticks) * u128::from(self.ns) / u128::from(self.ticks);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_never_exceed_their_whole() {
        let scale = Scale { ticks: 3, ns: 1 };
        assert_eq!(scale.to_ns(5), 1);
        assert!(scale.to_ns(4) + scale.to_ns(4) <= scale.to_ns(8));
        let steep = Scale {
            ticks: 1,
            ns: u64::MAX,
        };
        assert_eq!(steep.to_ns(2), u64::MAX);
    }
}
