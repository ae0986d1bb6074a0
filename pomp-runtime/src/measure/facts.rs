//! Facts about the process and the machine that a profile records.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use profile::model::{Run, Scheduling};

use super::mutex::lock;
use super::{modules, omp};

/// The functions with which sources describe the run.
static MORE: Mutex<Vec<fn(&mut Run)>> = Mutex::new(Vec::new());

/// Adds a function with which a source describes the run.
#[cfg_attr(test, allow(dead_code, reason = "unit tests have no sources"))]
pub(crate) fn add(describe: fn(&mut Run)) {
    let mut more = lock(&MORE);
    if !more
        .iter()
        .any(|known| std::ptr::fn_addr_eq(*known, describe))
    {
        more.push(describe);
    }
}

/// The processor time of the process so far.
pub(crate) struct ProcessorTime {
    usage: libc::rusage,
    scheduling: Option<Scheduling>,
}

impl ProcessorTime {
    /// Asks the system. To be called at the end of what is measured, before the library works on the
    /// profile.
    pub(crate) fn read() -> Self {
        Self {
            usage: usage(libc::RUSAGE_SELF),
            scheduling: super::scheduling::of_process(),
        }
    }
}

/// Fills in what is known of the run, which ends now, whose duration is known, and which used this
/// processor time.
pub(crate) fn describe(run: &mut Run, application: &str, used: ProcessorTime) {
    let ProcessorTime { usage, scheduling } = used;
    application.clone_into(&mut run.application);
    env!("CARGO_PKG_VERSION").clone_into(&mut run.romp_version);
    let end = SystemTime::now();
    let start = end.checked_sub(Duration::from_nanos(run.duration_ns));
    run.start = rfc3339(start.unwrap_or(end));
    run.end = rfc3339(end);
    run.user_ns = nanoseconds(usage.ru_utime);
    run.system_ns = nanoseconds(usage.ru_stime);
    run.scheduling = scheduling;
    // A thread that is bound may use its own processors alone, which may be fewer than all.
    let of_all = run.scheduling.map_or(0, |scheduling| scheduling.processors);
    run.processors = processors().max(of_all);
    if run.max_threads > run.processors {
        run.processors_around = super::scheduling::processors_around();
    }
    run.host = host();
    run.pid = std::process::id();
    super::clock::name().clone_into(&mut run.clock);
    let more = lock(&MORE).clone();
    more.iter().for_each(|describe| describe(run));
    // A program that was not built with Romp may call several runtimes, which its sources describe.
    if run.runtimes.is_empty() {
        let library = modules::library_of((omp::omp_get_thread_num as *const ()).addr());
        let name = library.map(|path| path.to_string_lossy().into_owned());
        run.openmp_library = name.unwrap_or_default();
    }
}

/// The resources that the process or one thread used.
fn usage(whose: libc::c_int) -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid, and all zeros is a valid `rusage`, so that it
    // is initialised even if the call fails.
    unsafe {
        libc::getrusage(whose, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// How often the calling thread has given its processor to another one, of its own will or not.
pub(super) fn switches_of_thread() -> u64 {
    let usage = usage(libc::RUSAGE_THREAD);
    let both = usage.ru_nvcsw.wrapping_add(usage.ru_nivcsw);
    u64::try_from(both).unwrap_or(0)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds * 1_000_000_000 + micros * 1000
}

/// How many processors the threads may run on.
fn processors() -> u32 {
    let number = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    u32::try_from(number).unwrap_or(0)
}

/// The name of the machine in its network.
pub(crate) fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is as long as said. The last byte stays zero.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..length]).into_owned()
}

/// A time in UTC with seconds, such as `2024-02-29T23:59:59Z`.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day counted from 1970-01-01. The year is taken to
/// begin in March, so that the leap day is its last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // from 0000-03-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn the_process_has_facts() {
        let mut run = Run::default();
        describe(&mut run, "app", ProcessorTime::read());
        assert_eq!(run.application, "app");
        assert!(!run.host.is_empty() && run.pid > 0);
    }
}
