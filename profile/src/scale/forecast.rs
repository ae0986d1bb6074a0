//! A forecast of the elapsed time with twice as many threads. The output states the model, and
//! how well it predicted a measured run.
//!
//! The model of each place is `a / threads + b`: a part that all threads share, and a part that
//! more threads do not shorten. Runs with two numbers of threads determine both. This is
//! Amdahl's law for each place separately. The model also fits memory whose bandwidth is used
//! up, and waiting that grows with each thread. It cannot know limits that were not reached
//! yet. Time for which a thread had no processor is left out. If there is a third number of
//! threads, the model is tested: it forecasts the run with the most threads from the two runs
//! before.

use serde::Serialize;

use super::{Part, ScaledRegion, Width};

/// A prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The number of threads, each with a processor of its own.
    pub threads: u64,
    /// The numbers of threads in the runs from which it is made.
    pub from: [u64; 2],
    /// The elapsed time.
    pub duration_ns: u64,
    /// The elapsed time with the larger of these numbers, without time for which threads had no
    /// processor.
    pub from_ns: u64,
    /// The speedup over the fewest threads.
    pub speedup: f64,
    /// The speedup over the larger number of threads from which it is made.
    pub gain: f64,
    /// The elapsed time with an unlimited number of threads.
    pub limit_ns: u64,
    /// A test of the model, if it can be compared with a measured run.
    pub tried: Option<Tried>,
}

/// A prediction, compared with a measured run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The number of threads.
    pub threads: u64,
    /// The elapsed time that the model gives.
    pub predicted_ns: u64,
    /// The elapsed time of the run.
    pub measured_ns: u64,
}

/// The forecast for twice the judged number of threads.
pub(super) fn forecast(
    widths: &[Width],
    places: &[ScaledRegion],
    judged: usize,
) -> Option<Forecast> {
    let before = judged.checked_sub(1)?;
    // Runs in which threads share processors are no basis for a forecast.
    if !widths[judged].has_processors() {
        return None;
    }
    let model = Model { widths, places };
    let last = widths[judged].threads;
    let threads = last.checked_mul(2)?;
    let duration_ns = model.predict([before, judged], Some(threads));
    let tried = before.checked_sub(1).map(|first| Tried {
        threads: last,
        predicted_ns: model.predict([first, before], Some(last)),
        measured_ns: model.measured(judged),
    });
    let faster = |than: u64| than as f64 / duration_ns.max(1) as f64;
    Some(Forecast {
        threads,
        from: [widths[before].threads, last],
        duration_ns,
        from_ns: model.measured(judged),
        speedup: faster(model.measured(0)),
        gain: faster(model.measured(judged)),
        limit_ns: model.predict([before, judged], None),
        tried,
    })
}

/// The input of the model.
struct Model<'a> {
    widths: &'a [Width],
    places: &'a [ScaledRegion],
}

impl Model<'_> {
    /// The thread time of a place for which threads had a processor.
    fn thread_time(&self, place: &ScaledRegion, width: usize) -> (f64, f64) {
        let time = &place.at[width].time;
        let ran = time.total() - time.of(Part::NotRun);
        (self.widths[width].threads.max(1) as f64, ran as f64)
    }

    /// The elapsed time if threads had always had a processor.
    fn measured(&self, width: usize) -> u64 {
        let of = |place: &ScaledRegion| {
            let (threads, time) = self.thread_time(place, width);
            time / threads
        };
        self.places.iter().map(of).sum::<f64>().round() as u64
    }

    /// The elapsed time with a number of threads; none means an unlimited number.
    fn predict(&self, from: [usize; 2], threads: Option<u64>) -> u64 {
        let of = |place: &ScaledRegion| {
            let [few, many] = from.map(|width| self.thread_time(place, width));
            elapsed(few, many, threads.map(|threads| threads as f64))
        };
        self.places.iter().map(of).sum::<f64>().round() as u64
    }
}

/// The elapsed time from two numbers of threads and their thread times:
/// `thread time = a + b x threads`.
fn elapsed(few: (f64, f64), many: (f64, f64), threads: Option<f64>) -> f64 {
    let slope = match few.1 > 0.0 {
        true => (many.1 - few.1) / (many.0 - few.0),
        // A place that does not run with fewer threads says nothing about its growth.
        false => 0.0,
    };
    // Caches grow with the number of threads. That gain does not continue for ever.
    let slope = slope.max(0.0);
    let shared = many.1 - slope * many.0;
    let shared = threads.map_or(0.0, |threads| shared / threads);
    (shared + slope).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::elapsed;

    #[test]
    fn what_is_shared_is_halved_and_what_is_serial_stays() {
        // 10 s of shared work, and 2 s that are serial.
        let thread_time = |threads: f64| (threads, 10.0 + 2.0 * threads);
        let at = |threads| elapsed(thread_time(2.0), thread_time(4.0), threads);
        assert!((at(Some(8.0)) - (10.0 / 8.0 + 2.0)).abs() < 1e-9);
        assert!((at(None) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_gain_by_caches_is_not_carried_on() {
        assert_eq!(elapsed((1.0, 10.0), (2.0, 8.0), Some(4.0)), 2.0);
        assert_eq!(elapsed((1.0, 10.0), (2.0, 8.0), None), 0.0);
    }

    #[test]
    fn what_does_not_run_with_fewer_threads_is_shared() {
        assert_eq!(elapsed((1.0, 0.0), (2.0, 8.0), Some(4.0)), 2.0);
    }

    #[test]
    fn what_gets_slower_with_each_thread_stays_slower() {
        // Elapsed 1 s, then 1.5 s.
        assert!(elapsed((1.0, 1.0), (2.0, 3.0), Some(4.0)) > 1.5);
    }
}
