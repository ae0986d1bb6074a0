//! How many calls of the OpenMP runtime `romp run` maps to the right directive. The truth is
//! the profile of the same program built with `rompcc`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

use profile::model::{Profile, Region};
use profile::region_kind::RegionKind as K;

use crate::toolchain::Compiler;
use crate::{NO_HELPERS, Outcome};

/// Time limit for a run, far longer than any compared program takes.
const SECONDS: &str = "60";

/// What a construct is known by in both modes: kind, file, the line where it begins, directive.
/// The line where its directive ends is not: a preprocessor makes one line of a continued one.
type Identity = (K, String, u32, Option<String>);

/// How often a construct was executed: by all threads, and by those that came to it. The two differ
/// for a parallel region; only the second number is known of one that can't be taken apart.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    of_all: u64,
    met: u64,
}

/// How the calls of one program were mapped to directives.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    /// Calls that are mapped to one construct without doubt, and rightly.
    pub certain: usize,
    /// Calls for which only a line or function is named.
    pub near: Vec<String>,
    /// Calls that are mapped without doubt to a construct that was not executed, or not so
    /// often.
    pub wrong: Vec<String>,
    /// Constructs that were executed, of kinds that call the runtime, but have no call.
    pub absent: Vec<String>,
}

impl Sites {
    /// Adds the calls of another program.
    pub fn add(&mut self, other: Self) {
        self.certain += other.certain;
        self.near.extend(other.near);
        self.wrong.extend(other.wrong);
        self.absent.extend(other.absent);
    }

    /// Calls that were measured.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.certain + self.near.len() + self.wrong.len()
    }

    /// The share of calls that are mapped to the right directive, in percent.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn share(&self) -> f64 {
        100.0 * self.certain as f64 / self.calls().max(1) as f64
    }
}

/// Figures in one line.
impl fmt::Display for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:5} {:5} {:5.1} % {:5} {:5} {:6}",
            self.calls(),
            self.certain,
            self.share(),
            self.near.len(),
            self.wrong.len(),
            self.absent.len()
        )
    }
}

/// The head of a table of figures.
pub const HEAD: &str = "calls right   share  near wrong absent";

/// Builds a program with and without us, optimised as a flag (`-O2`) says and with `-g`, runs both,
/// and compares.
///
/// # Errors
/// If one can't be built, run or read.
pub fn compare(bin: &Path, compiler: &Compiler, level: &str, program: &Path) -> Outcome<Sites> {
    let source = measured(bin, compiler, level, program, true)?;
    let outside = measured(bin, compiler, level, program, false)?;
    Ok(sites(&source, &outside))
}

/// The profile of a program, built with or without us.
fn measured(
    bin: &Path,
    compiler: &Compiler,
    level: &str,
    program: &Path,
    is_ours: bool,
) -> Outcome<Profile> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (wrapper, variable) = compiler.wrapper();
    let mut build = match is_ours {
        true => Command::new(bin.join(wrapper)),
        false => Command::new(&compiler.name),
    };
    build
        .env(variable, &compiler.name)
        .current_dir(&folder)
        .args(["-fopenmp", level, "-g", "-o", "app"])
        .args(compiler.judges().then_some("-w"))
        .arg(program)
        .arg("-lm");
    ended(&mut build)?;
    let mut run = Command::new("timeout");
    run.arg(SECONDS).current_dir(&folder);
    if !is_ours {
        run.arg(bin.join("romp")).arg("run");
    }
    run.arg("./app")
        .env("OMP_NUM_THREADS", "4")
        .env("OMP_WAIT_POLICY", "passive")
        .envs([NO_HELPERS])
        .env("OMP_CANCELLATION", "true")
        .env("OMP_MAX_ACTIVE_LEVELS", "2")
        .env("ROMP_QUIET", "1");
    ended(&mut run)?;
    let path = folder.path().join("app.0.romp.json");
    profile::load::load(&path).map_err(|e| format!("{}: {e}", program.display()))
}

fn ended(command: &mut Command) -> Outcome<()> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {output:?}")),
    }
}

/// Compares the regions of two profiles of one program.
fn sites(source: &Profile, outside: &Profile) -> Sites {
    let mut truth = executions(source, |_| true);
    // A call that unsets a lock is counted at the call that set it.
    for region in source
        .regions
        .iter()
        .filter(|region| region.kind == K::Lock)
    {
        truth.entry(identity(region)).or_default();
    }
    let counted = executions(outside, |region| {
        region.directive.is_some() && !is_part_of_another(region)
    });
    let mut sites = Sites::default();
    for region in outside.regions.iter().filter(|region| is_call(region)) {
        let said = said(region);
        if region.directive.is_none() {
            sites.near.push(said);
            continue;
        }
        if is_part_of_another(region) {
            let own = identity(region);
            let was_executed = truth
                .iter()
                .any(|(known, times)| is_same_directive(known, &own) && times.are_some());
            match was_executed {
                true => sites.certain += 1,
                false => sites.wrong.push(said),
            }
            continue;
        }
        let identity = identity(region);
        let times = counted.get(&identity).copied().unwrap_or_default();
        match truth.get(&identity) {
            Some(most) if !times.exceed(*most) || is_many(region) => sites.certain += 1,
            Some(most) => sites.wrong.push(format!("{said}: {times:?}, not {most:?}")),
            None => sites.wrong.push(said),
        }
    }
    for (identity, times) in truth {
        let is_visible = !matches!(
            identity.0,
            K::Atomic | K::Flush | K::Master | K::Scope | K::User
        );
        if times.are_some()
            && is_visible
            && !is_part(identity.0)
            && !counted.contains_key(&identity)
        {
            sites.absent.push(format!("{identity:?}"));
        }
    }
    sites
}

impl Times {
    fn are_some(self) -> bool {
        self.of_all + self.met > 0
    }

    /// Whether these are more executions than the others, where both are known.
    fn exceed(self, others: Self) -> bool {
        match others.of_all {
            0 => self.met > others.met || !others.are_some() && self.are_some(),
            all => self.of_all > all,
        }
    }
}

/// How often the constructs for which `is_asked` is true were executed.
fn executions(profile: &Profile, is_asked: impl Fn(&Region) -> bool) -> BTreeMap<Identity, Times> {
    let mut times: BTreeMap<Identity, Times> = BTreeMap::new();
    for node in &profile.nodes {
        let region = &profile.regions[node.region];
        if is_asked(region) {
            let times = times.entry(identity(region)).or_default();
            for row in &node.rows {
                // How often a lock is tried in vain is up to chance.
                times.of_all += match region.kind {
                    K::Lock => row.body.count,
                    _ => row.main.count,
                };
                times.met += row.seq().count;
            }
        }
    }
    times
}

/// Whether an execution of a construct may be several calls: one for each iteration that an
/// ordered part waits for, and the barriers of constructs that were executed alone.
fn is_many(region: &Region) -> bool {
    matches!(region.kind, K::Ordered | K::Barrier)
}

/// Whether a region is one of the constructs of a combined `target` or `teams`, or the `flush` of an
/// `atomic`. In the source these are one region with another number of executions.
fn is_part_of_another(region: &Region) -> bool {
    let directive = region.directive.as_deref().unwrap_or_default();
    let word = directive.split_whitespace().nth(1);
    if region.kind == K::Flush {
        return word == Some("atomic");
    }
    let is_combined = word.is_some_and(|word| matches!(word, "target" | "teams"));
    is_combined
        && matches!(
            region.kind,
            K::Parallel | K::Loop | K::Distribute | K::Teams
        )
        && !(region.kind == K::Teams && directive.starts_with("omp teams"))
}

fn is_same_directive(one: &Identity, other: &Identity) -> bool {
    (&one.1, one.2, &one.3) == (&other.1, other.2, &other.3)
}

/// Whether regions of this kind are counted with the construct around them.
fn is_part(kind: K) -> bool {
    matches!(kind, K::TaskExec | K::UntiedTaskExec | K::Function)
}

fn is_call(region: &Region) -> bool {
    !is_part(region.kind)
}

fn identity(region: &Region) -> Identity {
    let file = region.file.rsplit('/').next().unwrap_or_default();
    // A call of a routine is identified by its place alone.
    let directive = region.directive.clone().filter(|_| region.kind != K::Lock);
    (region.kind, file.to_owned(), region.begin[0], directive)
}

fn said(region: &Region) -> String {
    let file = region.file.rsplit('/').next().unwrap_or_default();
    let function = region.function.as_deref().unwrap_or("?");
    format!(
        "{:?} near {file}:{} in {function}",
        region.kind, region.begin[0]
    )
}
