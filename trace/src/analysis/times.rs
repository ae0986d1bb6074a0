//! The times of many instances: their number, sum and median, which one instance that
//! the operating system interrupted does not change.

/// Times in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    each: Vec<u64>,
}

impl Times {
    pub(crate) fn add(&mut self, ticks: u64) {
        self.each.push(ticks);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.each.len() as u64
    }

    /// All together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        let sum = self.each.iter().copied();
        sum.fold(0, u64::saturating_add)
    }

    /// The median; if two are in the middle, the smaller one. 0 if there are none.
    #[must_use]
    pub fn median(&self) -> u64 {
        let mut sorted = self.each.clone();
        sorted.sort_unstable();
        let middle = sorted.len().saturating_sub(1) / 2;
        sorted.get(middle).copied().unwrap_or_default()
    }

    /// The sum that there would be if each were the median. With this sum, instances that were
    /// interrupted once do not outrank delays that happen every time.
    #[must_use]
    pub fn typical(&self) -> u64 {
        self.median().saturating_mul(self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_does_not_change_the_median() {
        let mut times = Times::default();
        assert_eq!((times.median(), times.sum(), times.count()), (0, 0, 0));
        for ticks in [10, 12, 11, 1_000_000] {
            times.add(ticks);
        }
        assert_eq!((times.median(), times.typical()), (11, 44));
        times.add(u64::MAX);
        assert_eq!((times.sum(), times.count()), (u64::MAX, 5));
    }
}
