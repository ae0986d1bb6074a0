//! The settings of a run, read once from the environment. The table of the
//! variables is `profile::environment`.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use profile::environment::{self, Setting};
use profile::units::Nanoseconds;

use super::clock::ClockChoice;
use super::{memory, rights};

/// The part of the time that timing may take, unless the user sets another one.
const BUDGET: f64 = 0.05;

/// The mean time below which frequent regions are no longer timed, unless the user sets another
/// one: some fifty pairs of probes.
const SHORT: Nanoseconds = Nanoseconds(1000);

/// The application's name if it is not known.
const UNKNOWN: &str = "unknown";
/// Bytes that a trace may have.
const TRACE_LIMIT: u64 = 4 << 30;
/// Bytes that its pages may take in memory.
const TRACE_MEMORY: u64 = 64 << 20;

/// The settings that the user chose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) measure: bool,
    /// Directory for the files, absolute: the program may change its own.
    pub(crate) output: PathBuf,
    pub(crate) application: String,
    pub(crate) quiet: bool,
    pub(crate) clock: ClockChoice,
    /// Whether signals that end the program are handled.
    pub(crate) signals: bool,
    /// Limit of the memory for records, in bytes.
    pub(crate) memory: u64,
    /// The mean time below which frequent regions are no longer timed.
    pub(crate) throttle: Option<Nanoseconds>,
    /// The part of the time that timing hot constructs may take; 0 if all are timed.
    pub(crate) budget: f64,
    /// The names of the counters to read (`ROMP_COUNTERS`).
    pub(crate) counters: Option<String>,
    /// Formulas over the counters.
    pub(crate) formulas: Vec<String>,
    /// How often the profile is written while the program runs.
    pub(crate) dump_interval: Option<Duration>,
    /// Whether a collector is notified only of waits in which another thread is in the way.
    pub(crate) contended_waits: bool,
    /// How events are traced, if they are.
    pub(crate) trace: Option<TraceOptions>,
    /// Rank in an MPI program.
    pub(crate) rank: Option<u32>,
    /// The variables for OpenMP's runtimes that are set.
    pub(crate) openmp: BTreeMap<String, String>,
    /// Whether constructs may be cancelled: only `OMP_CANCELLATION` allows it (OpenMP 4.5, 4.11).
    pub(crate) may_cancel: bool,
}

/// How events are traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceOptions {
    /// Limit of the file's size in bytes.
    pub(crate) limit: u64,
    /// Limit of the memory for pages in bytes.
    pub(crate) memory: u64,
    /// Whether the last events are kept, if not all can be.
    pub(crate) keeps_last: bool,
}

impl Config {
    /// Also returns what is wrong with the environment, one sentence for each problem.
    pub(crate) fn from_environment() -> (Self, Vec<String>) {
        let (settings, problems) = environment::read(std::env::vars_os());
        (Self::new(&settings, variable), problems)
    }

    fn new(settings: &[Setting], get: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &str| {
            settings
                .iter()
                .find(|setting| setting.name == name)
                .map(|setting| &setting.value)
        };
        let text = |name: &str| value(name).map(|value| value.to_string_lossy().into_owned());
        let is_on = |name: &str, default: bool| {
            text(name)
                .and_then(|value| environment::truth(&value))
                .unwrap_or(default)
        };
        let number_of_bytes = |name: &str, default: u64| {
            text(name)
                .and_then(|text| environment::bytes(&text))
                .unwrap_or(default)
        };
        let directory = value("ROMP_OUTPUT").map_or_else(PathBuf::new, PathBuf::from);
        Self {
            measure: is_on("ROMP_MEASURE", true),
            output: std::env::current_dir().unwrap_or_default().join(directory),
            application: text("ROMP_APPNAME").unwrap_or_else(program_name),
            quiet: is_on("ROMP_QUIET", false),
            clock: match text("ROMP_CLOCK").as_deref() {
                Some("tsc") => ClockChoice::Counter,
                Some("monotonic") => ClockChoice::Monotonic,
                _ => ClockChoice::Automatic,
            },
            signals: is_on("ROMP_SIGNALS", true),
            memory: number_of_bytes("ROMP_MEMORY", memory::DEFAULT),
            throttle: text("ROMP_THROTTLE")
                .and_then(|text| environment::limit(&text, SHORT))
                .flatten(),
            budget: text("ROMP_BUDGET")
                .and_then(|text| environment::part(&text))
                .unwrap_or(BUDGET),
            counters: text("ROMP_COUNTERS"),
            formulas: formulas(&text("ROMP_EVAL").unwrap_or_default()),
            dump_interval: text("ROMP_DUMP_INTERVAL").and_then(|text| environment::seconds(&text)),
            contended_waits: text("ROMP_ORA_WAITS").as_deref() == Some("contended"),
            trace: is_on("ROMP_TRACE", false).then(|| TraceOptions {
                limit: number_of_bytes("ROMP_TRACE_LIMIT", TRACE_LIMIT),
                memory: number_of_bytes("ROMP_TRACE_MEMORY", TRACE_MEMORY),
                keeps_last: text("ROMP_TRACE_KEEP").as_deref() == Some("last"),
            }),
            rank: rank(&get),
            may_cancel: get("OMP_CANCELLATION").is_some(),
            openmp: openmp(get),
        }
    }
}

/// A variable of the environment; none if the environment is not to be trusted. All variables
/// outside the table are read here.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|_| !rights::are_lent())
}

/// The variables that OpenMP's runtimes read and that change how long a run takes.
const OPENMP: &[&str] = &[
    "OMP_NUM_THREADS",
    "OMP_SCHEDULE",
    "OMP_DYNAMIC",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OMP_WAIT_POLICY",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NESTED",
    "OMP_THREAD_LIMIT",
    "GOMP_CPU_AFFINITY",
    "GOMP_SPINCOUNT",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "KMP_LIBRARY",
];
/// Characters of a value that are kept.
const LONGEST_VALUE: usize = 200;

/// The variables of [`OPENMP`] that are set.
fn openmp(get: impl Fn(&str) -> Option<OsString>) -> BTreeMap<String, String> {
    let set = OPENMP.iter().filter_map(|name| Some((*name, get(name)?)));
    set.map(|(name, value)| {
        let value = value.to_string_lossy();
        let kept = value.chars().take(LONGEST_VALUE).collect();
        (name.to_owned(), kept)
    })
    .collect()
}

/// Formulas separated by commas; a report says what is wrong with one.
fn formulas(list: &str) -> Vec<String> {
    let words = list.split(',').map(|word| word.trim().to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// Base name of the running program, as it was asked for: a link keeps its name, and so does a
/// script.
fn program_name() -> String {
    let asked = asked_for().filter(|path| !path.starts_with("/dev/fd"));
    let file = asked.or_else(|| std::env::current_exe().ok());
    file.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The path that was given to the system for this program.
fn asked_for() -> Option<PathBuf> {
    // SAFETY: the system left the address of a C string, or none.
    unsafe {
        let path = libc::getauxval(libc::AT_EXECFN) as usize;
        let path = std::ptr::with_exposed_provenance::<libc::c_char>(path);
        (!path.is_null()).then(|| OsStr::from_bytes(CStr::from_ptr(path).to_bytes()).into())
    }
}

/// The rank that an MPI launcher gave this process. Slurm numbers the tasks of
/// every job, so there the rank counts only if there are several.
fn rank(get: &impl Fn(&str) -> Option<OsString>) -> Option<u32> {
    let number = |name: &str| get(name)?.to_str()?.trim().parse::<u32>().ok();
    [
        "OMPI_COMM_WORLD_RANK",
        "PMIX_RANK",
        "PMI_RANK",
        "MV2_COMM_WORLD_RANK",
    ]
    .into_iter()
    .find_map(number)
    .or_else(|| {
        let tasks = number("SLURM_STEP_NUM_TASKS").or_else(|| number("SLURM_NTASKS"));
        number("SLURM_PROCID").filter(|_| tasks.is_some_and(|tasks| tasks > 1))
    })
}

/// A path as it is shown: relative where it lies below the current directory.
pub(crate) fn short(path: &Path) -> &Path {
    std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Config {
        let variables: Vec<(OsString, OsString)> = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let (settings, problems) = environment::read(variables.clone());
        assert_eq!(problems, Vec::<String>::new());
        Config::new(&settings, |name| {
            variables
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn nothing_need_be_set() {
        let config = config(&[]);
        assert!(config.measure && config.signals && !config.quiet && !config.contended_waits);
        assert_eq!(config.clock, ClockChoice::Automatic);
        assert_eq!(config.output, std::env::current_dir().unwrap());
        assert_eq!((config.memory, config.throttle), (memory::DEFAULT, None));
        assert_eq!(config.budget, BUDGET);
        assert_eq!((config.trace, config.rank), (None, None));
    }

    #[test]
    fn every_variable_reaches_its_setting() {
        let config = config(&[
            ("ROMP_MEASURE", "Off"),
            ("ROMP_OUTPUT", "/tmp/out"),
            ("ROMP_APPNAME", "app"),
            ("ROMP_QUIET", "yes"),
            ("ROMP_CLOCK", "monotonic"),
            ("ROMP_SIGNALS", "off"),
            ("ROMP_DUMP_INTERVAL", "1.5"),
            ("ROMP_MEMORY", "64M"),
            ("ROMP_THROTTLE", "10us"),
            ("ROMP_BUDGET", "2.5%"),
            ("ROMP_COUNTERS", "cycles,page-faults"),
            ("ROMP_EVAL", "a=cycles/2, execC"),
            ("ROMP_ORA_WAITS", "contended"),
            ("ROMP_TRACE", "on"),
            ("ROMP_TRACE_LIMIT", "1G"),
            ("ROMP_TRACE_MEMORY", "8M"),
            ("ROMP_TRACE_KEEP", "last"),
            ("PMI_RANK", "3"),
        ]);
        let expected = Config {
            measure: false,
            output: "/tmp/out".into(),
            application: "app".into(),
            quiet: true,
            clock: ClockChoice::Monotonic,
            signals: false,
            memory: 64 << 20,
            throttle: Some(Nanoseconds(10_000)),
            budget: 0.025,
            counters: Some("cycles,page-faults".to_owned()),
            formulas: vec!["a=cycles/2".to_owned(), "execC".to_owned()],
            dump_interval: Some(Duration::from_millis(1500)),
            contended_waits: true,
            trace: Some(TraceOptions {
                limit: 1 << 30,
                memory: 8 << 20,
                keeps_last: true,
            }),
            rank: Some(3),
            openmp: BTreeMap::new(),
            may_cancel: false,
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn a_slurm_job_of_one_task_has_no_rank() {
        assert_eq!(
            config(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]).rank,
            None
        );
        assert_eq!(
            config(&[("SLURM_PROCID", "2"), ("SLURM_NTASKS", "4")]).rank,
            Some(2)
        );
    }
}
