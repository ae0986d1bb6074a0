//! Starts processes that check inputs, and supervises them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use super::Target;
use super::minimise::minimise;
use super::pool::{Input, Pool};
use super::worker::{Share, processor_time_of};

/// A process is killed if one input takes longer than this. It is processor time, since the
/// process may be stopped while other programs measure.
const LONGEST: Duration = Duration::from_secs(120);
/// A process is killed if it holds more memory than this, in KiB.
const LARGEST: u64 = 4 << 20;

/// A run of the fuzzer, as it was asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// What is fuzzed.
    pub target: &'static Target,
    /// How many inputs.
    pub inputs: u64,
    /// The seed that all of them come from.
    pub seed: u64,
    /// How many processes share them.
    pub jobs: u64,
    /// Where failing inputs go.
    pub failures: PathBuf,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// How many inputs were checked.
    pub inputs: u64,
    /// How many failed, by the kind of failure.
    pub failures: BTreeMap<String, u64>,
    /// The wall-clock time.
    pub took: Duration,
}

/// One process at work.
struct Worker {
    child: Child,
    /// The failures that it reports, a line each.
    failures: Receiver<String>,
    share: Share,
    progress: PathBuf,
    at: u64,
    /// The processor time that the process had used when it came to that input.
    since: Duration,
}

/// Checks all inputs. A failing input is made small and written to the folder of
/// failures, the first of each kind.
///
/// # Errors
/// If processes can't be started or files not written.
pub fn supervise(order: &Order) -> std::io::Result<Summary> {
    let begin = Instant::now();
    std::fs::create_dir_all(&order.failures)?;
    let mut summary = Summary::default();
    let share = |job| Share {
        seed: order.seed,
        first: job,
        step: order.jobs,
        end: order.inputs,
    };
    let mut workers = Vec::new();
    for job in 0..order.jobs {
        workers.push(start(order, share(job))?);
    }
    let mut said = Instant::now();
    while let Some(mut worker) = workers.pop() {
        let status = worker.ended()?;
        for line in worker.reported(status.is_some()) {
            let (number, kind) = line.split_once('\t').unwrap_or(("0", &line));
            let number = number.parse().unwrap_or_default();
            summary.failed(order, number, kind)?;
        }
        let Some(status) = status else {
            workers.insert(0, worker);
            std::thread::sleep(Duration::from_millis(100));
            if said.elapsed() > Duration::from_secs(60) {
                said = Instant::now();
                let at: u64 = workers.iter().map(Worker::done).sum();
                eprintln!("about {at} inputs, {:.0} s", begin.elapsed().as_secs_f64());
            }
            continue;
        };
        let (mut share, at) = (worker.share, worker.at);
        if !status.success() {
            summary.failed(order, at, &status.to_string())?;
            share.first = at + share.step;
            workers.push(start(order, share)?);
        }
    }
    summary.inputs = order.inputs;
    summary.took = begin.elapsed();
    Ok(summary)
}

fn start(order: &Order, share: Share) -> std::io::Result<Worker> {
    let progress = order
        .failures
        .join(format!("progress.{}", share.first % share.step));
    let mut child = Command::new(std::env::current_exe()?)
        .arg(order.target.name)
        .args(["--seed", &share.seed.to_string()])
        .args(["--inputs", &share.end.to_string()])
        .args(["--jobs", &share.step.to_string()])
        .args(["--first", &share.first.to_string()])
        .arg("--progress")
        .arg(&progress)
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = child.stdout.take().map(|pipe| BufReader::new(pipe).lines());
    let (sender, failures) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = lines.into_iter().flatten().map_while(Result::ok);
        // Sending fails if the supervisor has given up.
        lines
            .map_while(|line| sender.send(line).ok())
            .for_each(drop);
    });
    Ok(Worker {
        child,
        failures,
        share,
        progress,
        at: share.first,
        since: Duration::ZERO,
    })
}

impl Worker {
    /// How the process ended, if it has. Kills it if one input takes too long or too much
    /// memory.
    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        let at = std::fs::read(&self.progress).unwrap_or_default();
        let at = at.try_into().map_or(self.at, u64::from_le_bytes);
        if at != self.at {
            (self.at, self.since) = (at, processor_time(&self.child));
        }
        let too_much = processor_time(&self.child).saturating_sub(self.since) > LONGEST
            || memory(self.child.id()) > LARGEST;
        if status.is_none() && too_much {
            self.child.kill()?;
        }
        Ok(status)
    }

    /// The failures since the last call. If the process has ended, these are all that are left.
    fn reported(&self, ended: bool) -> Vec<String> {
        match ended {
            true => self.failures.iter().collect(),
            false => self.failures.try_iter().collect(),
        }
    }

    fn done(&self) -> u64 {
        self.at / self.share.step
    }
}

impl Summary {
    fn failed(&mut self, order: &Order, number: u64, kind: &str) -> std::io::Result<()> {
        let count = self.failures.entry(kind.to_owned()).or_default();
        *count += 1;
        if *count > 1 {
            return Ok(());
        }
        let input = Pool::new(order.target).input(order.seed, number);
        let name = format!("{}-{number}", order.seed);
        let whole = order.failures.join(format!("{name}.whole"));
        std::fs::write(&whole, &input.bytes)?;
        eprintln!(
            "input {number}, variant {}: {kind}\n  {}",
            input.variant,
            whole.display()
        );
        let try_file = order.failures.join("attempt");
        let slow = Instant::now();
        let mut fails = |bytes: &[u8]| {
            let attempt = Input {
                bytes: bytes.to_vec(),
                variant: input.variant,
            };
            slow.elapsed() < LONGEST * 2
                && failure_in_a_process(order.target, &attempt, &try_file).as_deref() == Some(kind)
        };
        let small = minimise(&input.bytes, 5000, &mut fails);
        let path = order.failures.join(format!("{name}.small"));
        std::fs::write(&path, &small)?;
        eprintln!("  {} ({} bytes)", path.display(), small.len());
        Ok(())
    }
}

/// Checks one input in a process of its own.
fn failure_in_a_process(target: &Target, input: &Input, file: &Path) -> Option<String> {
    std::fs::write(file, &input.bytes).ok()?;
    let mut child = Command::new(std::env::current_exe().ok()?)
        .arg(target.name)
        .args(["--variant", &input.variant.to_string(), "--check"])
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break status,
            None if processor_time(&child) > LONGEST || memory(child.id()) > LARGEST => {
                child.kill().ok()?;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let mut said = String::new();
    child.stdout.take()?.read_to_string(&mut said).ok()?;
    match said.trim_end() {
        "" if status.success() => None,
        "" => Some(status.to_string()),
        kind => Some(kind.to_owned()),
    }
}

/// How long a process had a processor.
fn processor_time(process: &Child) -> Duration {
    Duration::from_nanos(processor_time_of(&process.id().to_string()))
}

/// The memory that a process holds, in KiB; 0 if the system doesn't say.
fn memory(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|word| word.parse().ok())
        .unwrap_or_default()
}
