//! A program as it is, under `romp run`, and built with us. It must do the same, and the counts
//! from outside must be those of the instrumented program, but for the list in
//! `profile::outside`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use profile::model::Profile;
use profile::outside::{Interface, counted};
use profile::region_kind::RegionKind as K;

use crate::toolchain::Compiler;
use crate::{NO_HELPERS, Outcome};

/// A program of a suite that takes longer is not tried.
const SECONDS: &str = "20";

/// How often a plain program is run to see whether it always prints the same.
const AGAIN: usize = 8;

/// The result of trying a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not build, or does not end well by itself.
    NotEligible,
    /// It ends differently or prints something else than the plain program ever did.
    DoesOtherwise(String),
    /// It behaves the same.
    Same {
        /// Kinds of constructs whose numbers differ unexpectedly: the kind, and both numbers.
        differ: Vec<(K, u64, u64)>,
        /// How many kinds of constructs were compared.
        kinds: usize,
    },
}

/// Programs of one file each below a folder, in the language of a compiler, and where what they
/// include is.
#[must_use]
pub fn programs(suite: &Path, compiler: &Compiler) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (sources_end, begin): (&[&str], &str) = match compiler.wrapper().0 {
        "rompfc" => (&["f90", "F90", "f95"], "program "),
        _ => (&["c", "cc", "cpp"], "main"),
    };
    let (mut sources, mut headers, mut open) = (Vec::new(), Vec::new(), vec![suite.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => open.push(path),
                Some(end) if sources_end.contains(&end) => sources.push(path),
                Some("h" | "hpp" | "inc") => headers.push(folder.clone()),
                _ => {}
            }
        }
    }
    let is_whole = |path: &PathBuf| {
        std::fs::read(path).is_ok_and(|text| {
            let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
            text.contains(begin)
        })
    };
    sources.retain(is_whole);
    sources.sort();
    headers.sort();
    headers.dedup();
    (sources, headers)
}

/// What a run did.
type Ran = (Option<i32>, Vec<u8>);

/// Where one program is built and run.
struct Trial<'a> {
    bin: &'a Path,
    compiler: &'a Compiler,
    program: &'a Path,
    includes: &'a [PathBuf],
    folder: tempfile::TempDir,
}

/// Tries one program.
///
/// # Errors
/// If there is no place for it.
pub fn tried(
    bin: &Path,
    compiler: &Compiler,
    program: &Path,
    includes: &[PathBuf],
) -> Outcome<Verdict> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let trial = Trial {
        bin,
        compiler,
        program,
        includes,
        folder,
    };
    if !trial.build("plain", false)? {
        return Ok(Verdict::NotEligible);
    }
    let mut plain = vec![trial.run("plain", false)?];
    if plain[0].0 != Some(0) {
        return Ok(Verdict::NotEligible);
    }
    let ran = trial.run("plain", true)?;
    let outside = trial.profile("plain");
    if !plain.contains(&ran) {
        for _ in 0..AGAIN {
            plain.push(trial.run("plain", false)?);
        }
        let varies = plain.iter().any(|one| *one != plain[0]);
        let ends_so = plain.iter().any(|one| one.0 == ran.0);
        if !(varies && ends_so || plain.contains(&ran)) {
            let said = String::from_utf8_lossy(&ran.1).into_owned();
            let said: String = said.chars().take(200).collect();
            return Ok(Verdict::DoesOtherwise(format!("{:?}: {said}", ran.0)));
        }
    }
    if !trial.build("source", true)? {
        return Err("rompcc does not build it".into());
    }
    // Output that differs from run to run can't be compared.
    let mut stable = BTreeMap::new();
    for number in 0..3 {
        trial.run("source", false)?;
        let counts = trial
            .profile("source")
            .map(|it| counts(&it))
            .unwrap_or_default();
        match number {
            0 => stable = counts,
            _ => stable.retain(|kind, count| counts.get(kind) == Some(count)),
        }
    }
    Ok(compared(compiler, &stable, outside.as_ref()))
}

fn compared(compiler: &Compiler, source: &BTreeMap<K, u64>, outside: Option<&Profile>) -> Verdict {
    let mut seen = outside.map(counts).unwrap_or_default();
    let generic_seen = seen.remove(&K::GenericLoop).unwrap_or(0);
    *seen.entry(K::Loop).or_default() += generic_seen;
    // A program without a host's construct meets no runtime.
    let runtimes = outside.map_or(&[][..], |outside| &outside.run.runtimes[..]);
    let is_gnu = match runtimes {
        [] => !compiler.is_llvm(),
        _ => runtimes.iter().all(|it| it.path.contains("libgomp")),
    };
    let interface = match is_gnu {
        true => Interface::Gnu,
        false => Interface::Ompt,
    };
    // Not all compilers make something of a `loop` that the runtime sees; if it is seen, then as a
    // `for`.
    let generic = source.get(&K::GenericLoop).copied().unwrap_or(0);
    let kinds = source.iter().filter(|(kind, _)| **kind != K::GenericLoop);
    let differ = kinds.filter_map(|(kind, expected)| {
        let found = seen.get(kind).copied().unwrap_or(0);
        let more = if *kind == K::Loop { generic } else { 0 };
        let executed = found.clamp(*expected, expected + more);
        let is_as_listed = counted(*kind, interface).allows(found, executed);
        (!is_as_listed).then_some((*kind, found, *expected))
    });
    Verdict::Same {
        differ: differ.collect(),
        kinds: source.len(),
    }
}

/// How often constructs were executed, by kind. Kinds that only the source tells apart are
/// counted as one.
fn counts(profile: &Profile) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for node in &profile.nodes {
        let kind = match profile.regions[node.region].kind {
            kind if kind.is_parallel() => K::Parallel,
            K::UntiedTask => K::Task,
            K::UntiedTaskExec => K::TaskExec,
            kind => kind,
        };
        let count: u64 = node.rows.iter().map(|row| row.main.count).sum();
        *counts.entry(kind).or_default() += count;
    }
    counts
}

impl Trial<'_> {
    /// Whether it could be built.
    fn build(&self, name: &str, is_ours: bool) -> Outcome<bool> {
        let (wrapper, variable) = self.compiler.wrapper();
        let mut build = Command::new("timeout");
        build.arg("120");
        match is_ours {
            true => build.arg(self.bin.join(wrapper)),
            false => build.arg(&self.compiler.name),
        };
        build
            .env(variable, &self.compiler.name)
            .current_dir(&self.folder)
            .args(["-fopenmp", "-O1", "-g", "-w", "-o", name])
            .args(
                self.includes
                    .iter()
                    .map(|folder| format!("-I{}", folder.display())),
            )
            .arg(self.program)
            .arg("-lm");
        let output = build.output().map_err(|e| format!("{build:?}: {e}"))?;
        Ok(output.status.success())
    }

    fn run(&self, name: &str, from_outside: bool) -> Outcome<Ran> {
        let mut run = Command::new("timeout");
        run.args(["-s", "KILL", SECONDS]);
        if from_outside {
            run.arg(self.bin.join("romp")).arg("run");
        }
        run.arg(format!("./{name}"))
            .current_dir(&self.folder)
            .env("OMP_NUM_THREADS", "4")
            .env("OMP_WAIT_POLICY", "passive")
            .envs([NO_HELPERS])
            .env("ROMP_QUIET", "1")
            .stdin(Stdio::null());
        let output = run.output().map_err(|e| format!("{run:?}: {e}"))?;
        Ok((output.status.code(), output.stdout))
    }

    /// Reads the profile that a run left, and removes it.
    fn profile(&self, name: &str) -> Option<Profile> {
        let [json, report] =
            ["json", "txt"].map(|end| self.folder.path().join(format!("{name}.0.romp.{end}")));
        let profile = profile::load::load(&json).ok();
        // The next run takes this number only if all files with it are gone.
        for file in [json, report] {
            let _ = std::fs::remove_file(file);
        }
        profile
    }
}
