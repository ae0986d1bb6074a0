//! A row: the counts and times of one thread at one node. Most of a profile consists of rows,
//! so rows are kept small.

use serde::{Deserialize, Serialize};

use super::Span;
use crate::region_kind::{PseudoRegion, RegionKind};

/// The counts and times of one thread at one node.
///
/// For a parallel region, the row of the forking thread only has `seq`. Each member of the team
/// has a row with the other pseudo-regions: `enter` is the time from fork to its own begin,
/// `exit` the time from its own end to join, and `main` their sum with `body` and `ibarr`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct Row {
    /// Index in [`super::Profile::threads`].
    pub thread: usize,
    /// See [`PseudoRegion::Main`].
    pub main: Span,
    /// See [`PseudoRegion::Body`].
    pub body: Span,
    /// See [`PseudoRegion::Ibarr`].
    pub ibarr: Span,
    /// Data that few rows have. Rows of loops, singles and tasks, for instance, have none.
    rest: Option<Box<Rest>>,
}

#[derive(Clone, Debug, Default)]
struct Rest {
    enter: Span,
    exit: Span,
    seq: Span,
    counters: Vec<u64>,
    estimate: Option<Estimate>,
    chunk_requests: Span,
    reduction: Span,
}

/// The accuracy of a row's times if only some instances were timed. Counts are always exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Instances that were timed, but not by a coarse clock.
    pub timed: u64,
    /// Half of the 95 % confidence interval around the time of `main`, in nanoseconds.
    pub error_ns: u64,
    /// The additional time that the timed instances took because they were timed, in
    /// nanoseconds, if that was measured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_ns: u64,
    /// The mean time from one instance that was not timed to the next, in picoseconds, if that is known:
    /// over the intervals that are at most four times as long as the shortest one. Where a thread does
    /// nothing else, an instance takes no longer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interval_ps: u64,
    /// Of the atomic updates that were timed, those that took at least 25 ns longer than the shortest one:
    /// their cache line came from another processor.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited: u64,
}

impl Estimate {
    /// Whether more than one in four of the atomic updates that were timed waited for a cache line.
    #[must_use]
    pub fn often_waited(&self) -> bool {
        const WAITED_IN_ONE_OF: u64 = 4;
        self.waited.saturating_mul(WAITED_IN_ONE_OF) > self.timed
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The saved form of a row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Saved {
    thread: usize,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    main: Span,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    enter: Span,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    body: Span,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    ibarr: Span,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    exit: Span,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    seq: Span,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counters: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimate>,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    chunk_requests: Span,
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    reduction: Span,
}

impl Row {
    /// An empty row of a thread.
    #[must_use]
    #[inline(always)]
    pub fn of(thread: usize) -> Self {
        Self {
            thread,
            ..Self::default()
        }
    }

    /// The row with the times and counts of all pseudo-regions.
    #[must_use]
    #[inline(always)]
    pub fn with_all(mut self, spans: [Span; PseudoRegion::COUNT]) -> Self {
        let [main, enter, body, ibarr, exit, seq] = spans;
        (self.main, self.body, self.ibarr) = (main, body, ibarr);
        let has_rest = [enter, exit, seq].iter().any(|span| !span.is_zero());
        if has_rest || self.rest.is_some() {
            let rest = self.rest_mut();
            (rest.enter, rest.exit, rest.seq) = (enter, exit, seq);
        }
        self
    }

    /// The row with this time and count of one pseudo-region.
    #[must_use]
    pub fn with(mut self, pseudo_region: PseudoRegion, span: Span) -> Self {
        // An empty span needs no memory.
        if self.span(pseudo_region) != span {
            *self.span_mut(pseudo_region) = span;
        }
        self
    }

    /// The row with these counter values.
    #[must_use]
    #[inline(always)]
    pub fn with_counters(mut self, counters: Vec<u64>) -> Self {
        if !counters.is_empty() {
            self.rest_mut().counters = counters;
        }
        self
    }

    /// The row with an estimate of the accuracy of its times, if they are estimates.
    #[must_use]
    #[inline(always)]
    pub fn with_estimate(mut self, estimate: Option<Estimate>) -> Self {
        if estimate.is_some() {
            self.rest_mut().estimate = estimate;
        }
        self
    }

    /// The row with the requests for chunks, if any were timed.
    #[must_use]
    #[inline(always)]
    pub fn with_chunk_requests(mut self, requests: Span) -> Self {
        if !requests.is_zero() {
            self.rest_mut().chunk_requests = requests;
        }
        self
    }

    /// Number and time of the thread's requests for a chunk of a loop, if the schedule hands
    /// out chunks while the loop runs. The last requests, which find no chunk left, count as
    /// well. The time is part of the time of `body`, or else of `main`. Number and time are
    /// estimated from a sample of the requests; both are zero if no request was timed.
    #[must_use]
    pub fn chunk_requests(&self) -> Span {
        self.rest
            .as_deref()
            .map_or_else(Span::default, |rest| rest.chunk_requests)
    }

    /// The row with the times at which the thread combined its part of a reduction.
    #[must_use]
    #[inline(always)]
    pub fn with_reduction(mut self, reduction: Span) -> Self {
        if !reduction.is_zero() {
            self.rest_mut().reduction = reduction;
        }
        self
    }

    /// How often the thread combined its part of a reduction with those of others, and the time
    /// for that, with the wait for its turn. The time is part of the time of `body`, or else of
    /// `main`. Both are estimated if the row is, and zero where the compiler combines parts without a
    /// call.
    #[must_use]
    pub fn reduction(&self) -> Span {
        self.rest
            .as_deref()
            .map_or_else(Span::default, |rest| rest.reduction)
    }

    /// The accuracy of its times, if they are estimates.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        self.rest.as_deref()?.estimate
    }

    /// The number of timed instances, and the accuracy of the time of `main`.
    pub(super) fn timed(&self) -> Estimate {
        self.estimate().unwrap_or(Estimate {
            timed: self.main.count,
            ..Estimate::default()
        })
    }

    /// The time and count of one pseudo-region.
    #[must_use]
    #[inline(always)]
    pub fn span(&self, pseudo_region: PseudoRegion) -> Span {
        let rest = |of: fn(&Rest) -> Span| self.rest.as_deref().map(of).unwrap_or_default();
        match pseudo_region {
            PseudoRegion::Main => self.main,
            PseudoRegion::Enter => rest(|rest| rest.enter),
            PseudoRegion::Body => self.body,
            PseudoRegion::Ibarr => self.ibarr,
            PseudoRegion::Exit => rest(|rest| rest.exit),
            PseudoRegion::Seq => rest(|rest| rest.seq),
        }
    }

    /// See [`PseudoRegion::Enter`].
    #[must_use]
    pub fn enter(&self) -> Span {
        self.span(PseudoRegion::Enter)
    }

    /// See [`PseudoRegion::Exit`].
    #[must_use]
    pub fn exit(&self) -> Span {
        self.span(PseudoRegion::Exit)
    }

    /// See [`PseudoRegion::Seq`].
    #[must_use]
    pub fn seq(&self) -> Span {
        self.span(PseudoRegion::Seq)
    }

    /// Counter values while `main` ran, in the order of [`super::Run::counters`]. Instances
    /// that were still open when the profile was written are not included.
    #[must_use]
    pub fn counters(&self) -> &[u64] {
        self.rest.as_deref().map_or(&[], |rest| &rest.counters)
    }

    /// Number of pairs of events (enter and exit) of this thread in this row that were timed.
    /// See [`RegionKind::pairs_of`].
    #[must_use]
    pub fn pairs(&self, kind: RegionKind) -> u64 {
        let pairs = self.all_pairs(kind);
        match self.estimate() {
            Some(estimate) => {
                let timed = u128::from(pairs) * u128::from(estimate.timed);
                let timed = timed / u128::from(self.main.count.max(1));
                u64::try_from(timed).unwrap_or(pairs).min(pairs)
            }
            None => pairs,
        }
    }

    /// Number of pairs, as in `pairs`, in instances that were counted but not timed, or that were
    /// timed by a coarse clock.
    #[must_use]
    pub fn passed_pairs(&self, kind: RegionKind) -> u64 {
        self.all_pairs(kind) - self.pairs(kind)
    }

    fn all_pairs(&self, kind: RegionKind) -> u64 {
        kind.pairs_of(|part| self.span(part).count)
    }

    /// Mutable access to the time and count of one pseudo-region.
    pub fn span_mut(&mut self, pseudo_region: PseudoRegion) -> &mut Span {
        match pseudo_region {
            PseudoRegion::Main => &mut self.main,
            PseudoRegion::Enter => &mut self.rest_mut().enter,
            PseudoRegion::Body => &mut self.body,
            PseudoRegion::Ibarr => &mut self.ibarr,
            PseudoRegion::Exit => &mut self.rest_mut().exit,
            PseudoRegion::Seq => &mut self.rest_mut().seq,
        }
    }

    fn rest_mut(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }
}

/// Rows are equal if their contents are, whatever their memory layout.
impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        let same = |part| self.span(part) == other.span(part);
        self.thread == other.thread
            && PseudoRegion::ALL.into_iter().all(same)
            && self.counters() == other.counters()
            && self.estimate() == other.estimate()
            && self.chunk_requests() == other.chunk_requests()
            && self.reduction() == other.reduction()
    }
}

impl Eq for Row {}

/// The smaller of two numbers; 0 means unknown, and is only returned if both are 0.
fn least_known(a: u64, b: u64) -> u64 {
    match a.min(b) {
        0 => a.max(b),
        least => least,
    }
}

/// Adds a row that was recorded for another thread of the same name, or for another region at
/// the same place.
impl std::ops::AddAssign<&Row> for Row {
    fn add_assign(&mut self, other: &Row) {
        if self.estimate().is_some() || other.estimate().is_some() {
            let (mine, more) = (self.timed(), other.timed());
            // Computed without the mathematics library, since not every program links it.
            let square = |of: Estimate| of.error_ns as f64 * of.error_ns as f64;
            let error = (square(mine) + square(more)).sqrt();
            self.rest_mut().estimate = Some(Estimate {
                timed: mine.timed.saturating_add(more.timed),
                error_ns: (error + 0.5) as u64,
                cost_ns: mine.cost_ns.saturating_add(more.cost_ns),
                interval_ps: least_known(mine.interval_ps, more.interval_ps),
                waited: mine.waited.saturating_add(more.waited),
            });
        }
        if !other.chunk_requests().is_zero() {
            self.rest_mut().chunk_requests += other.chunk_requests();
        }
        if !other.reduction().is_zero() {
            self.rest_mut().reduction += other.reduction();
        }
        for pseudo_region in PseudoRegion::ALL {
            let more = other.span(pseudo_region);
            if !more.is_zero() {
                *self.span_mut(pseudo_region) += more;
            }
        }
        if other.counters().is_empty() {
            return;
        }
        let counters = &mut self.rest_mut().counters;
        counters.resize(counters.len().max(other.counters().len()), 0);
        for (mine, more) in counters.iter_mut().zip(other.counters()) {
            *mine = mine.saturating_add(*more);
        }
    }
}

impl From<Saved> for Row {
    fn from(saved: Saved) -> Self {
        let (main, enter, body) = (saved.main, saved.enter, saved.body);
        Self::of(saved.thread)
            .with_all([main, enter, body, saved.ibarr, saved.exit, saved.seq])
            .with_counters(saved.counters)
            .with_estimate(saved.estimate)
            .with_chunk_requests(saved.chunk_requests)
            .with_reduction(saved.reduction)
    }
}

impl From<Row> for Saved {
    fn from(row: Row) -> Self {
        Self {
            thread: row.thread,
            main: row.main,
            enter: row.enter(),
            body: row.body,
            ibarr: row.ibarr,
            exit: row.exit(),
            seq: row.seq(),
            counters: row.counters().to_vec(),
            estimate: row.estimate(),
            chunk_requests: row.chunk_requests(),
            reduction: row.reduction(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_that_say_the_same() {
        let span = Span { count: 2, ns: 30 };
        let kept = Row::of(3).with(PseudoRegion::Exit, Span::default());
        assert!(kept.rest.is_none() && kept.with_counters(Vec::new()).rest.is_none());
        let mut touched = Row::of(3);
        *touched.span_mut(PseudoRegion::Seq) += Span::default();
        assert_eq!(touched, Row::of(3));
        for part in PseudoRegion::ALL {
            let row = Row::of(3).with(part, span);
            let spans = PseudoRegion::ALL.map(|part| row.span(part));
            assert_eq!(Row::of(3).with_all(spans), row);
            assert_eq!(row.clone().with_all([Span::default(); 6]), Row::of(3));
            assert_ne!(row, Row::of(3));
            assert_eq!(row.clone().with(part, Span::default()), Row::of(3));
            let mut sum = row.clone().with_counters(vec![1]);
            sum += &row.clone().with_counters(vec![4, 5]);
            let twice = Span { count: 4, ns: 60 };
            assert_eq!(sum, Row::of(3).with(part, twice).with_counters(vec![5, 5]));
        }
    }

    #[test]
    fn an_estimate_goes_into_the_sum_with_what_is_exact() {
        let row = |count, estimate: Option<(u64, u64)>| {
            let estimate = estimate.map(|(timed, error_ns)| Estimate {
                timed,
                error_ns,
                cost_ns: timed,
                interval_ps: timed / 20 * 900,
                waited: timed / 10,
            });
            let span = Span { count, ns: 100 };
            Row::of(0)
                .with(PseudoRegion::Main, span)
                .with_estimate(estimate)
        };
        let mut sum = row(1000, Some((10, 30)));
        sum += &row(7, None);
        sum += &row(1000, Some((20, 40)));
        let expected = Estimate {
            timed: 37,
            error_ns: 50,
            cost_ns: 30,
            interval_ps: 900,
            waited: 3,
        };
        assert_eq!(sum.estimate(), Some(expected));
        assert_eq!(sum.pairs(RegionKind::Atomic), 37);
        assert_eq!(sum.passed_pairs(RegionKind::Atomic), 2007 - 37);
        let mut exact = row(7, None);
        exact += &row(7, None);
        assert_eq!(exact.estimate(), None);
        assert_eq!(exact.passed_pairs(RegionKind::Atomic), 0);
        assert_ne!(row(7, None), row(7, Some((7, 0))));
    }

    #[test]
    fn requests_for_chunks_and_parts_of_reductions_are_added() {
        for with in [Row::with_chunk_requests, Row::with_reduction] {
            are_added(with);
        }
    }

    fn are_added(with: fn(Row, Span) -> Row) {
        let row = |span: Option<(u64, u64)>| {
            let span = span.map(|(count, ns)| Span { count, ns });
            with(Row::of(0), span.unwrap_or_default())
        };
        let mut sum = row(None);
        sum += &row(None);
        assert_eq!(sum, row(None));
        sum += &row(Some((61, 400)));
        sum += &row(Some((122, u64::MAX)));
        assert_eq!(sum, row(Some((183, u64::MAX))));
        assert_ne!(sum, row(None));
    }

    #[test]
    fn they_stay_small() {
        assert!(size_of::<Row>() <= 64);
    }
}
