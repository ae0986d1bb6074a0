//! A real MPI: each rank leaves its own profile, and `romp merge` makes one of
//! them, with the counts that the program's comment works out for each rank.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::analysis::Report;
use profile::merge::of_rank;
use profile::model::Profile;
use profile::region_kind::RegionKind;
use tests::fixture::fixtures;
use tests::toolchain::romp_bin_dir;
use tests::{Outcome, invariants};

const ADVICE: &str = "install an MPI (Debian: openmpi-bin libopenmpi-dev)";

fn output(command: &mut Command) -> Outcome<Output> {
    let output = command
        .output()
        .map_err(|e| format!("{command:?}: {e}: {ADVICE}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let messages =
        String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{messages}", output.status))
}

/// Builds the program with what MPI's own wrapper calls replaced by `rompcc`.
fn build(bin: &Path, folder: &Path) -> Outcome<PathBuf> {
    let program = folder.join("hybrid");
    let sources = ["hybrid.c", "other.c"].map(|name| fixtures().join("mpi").join(name));
    output(
        Command::new("mpicc")
            .env("OMPI_CC", bin.join("rompcc"))
            .env("ROMP_CC", "gcc")
            .env("ROMP_STRICT", "1")
            .args(["-O1", "-fopenmp", "-o"])
            .arg(&program)
            .args(sources),
    )?;
    Ok(program)
}

/// The profiles that are there, by name.
fn profiles(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| e.to_string())?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".romp.json"))
        .collect();
    found.sort();
    Ok(found)
}

fn merge(bin: &Path, files: &[PathBuf], folder: &Path) -> Outcome<Profile> {
    let merged = folder.join("merged.json");
    let mut command = Command::new(bin.join("romp"));
    output(command.arg("merge").args(files).arg("-o").arg(&merged))?;
    for format in ["text", "csv", "json"] {
        let mut command = Command::new(bin.join("romp"));
        output(command.arg("report").arg(&merged).args(["-f", format]))?;
    }
    profile::load::load(&merged).map_err(|e| e.to_string())
}

/// Visits of threads to regions of a kind.
fn visits(profile: &Profile, kind: RegionKind) -> u64 {
    let nodes = profile.nodes.iter();
    nodes
        .filter(|node| profile.regions[node.region].kind == kind)
        .flat_map(|node| &node.rows)
        .map(|row| row.main.count)
        .sum()
}

fn check(merged: &Profile, ranks: u32) {
    // The loop of the header is one region, though two files include it.
    let kinds: Vec<RegionKind> = merged.regions.iter().map(|region| region.kind).collect();
    let number = |kind| kinds.iter().filter(|of| **of == kind).count();
    assert_eq!(number(RegionKind::ParallelLoop), 1, "{kinds:?}");
    for rank in 0..ranks {
        let part = of_rank(merged, rank).unwrap();
        assert_eq!(invariants::contradictions(&part), Vec::<String>::new());
        let threads = u64::from(rank) + 1;
        let loops = threads * (threads + 1);
        assert_eq!(
            visits(&part, RegionKind::ParallelLoop),
            loops,
            "rank {rank}"
        );
        let criticals = if rank % 2 == 1 { 2 } else { 0 };
        assert_eq!(
            visits(&part, RegionKind::Critical),
            criticals,
            "rank {rank}"
        );
    }
    assert_eq!(Report::new(merged).ranks.len(), ranks as usize);
}

#[test]
fn ranks_of_a_real_mpi_become_one_profile() {
    let bin = romp_bin_dir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = build(&bin, folder.path()).unwrap();
    let ranks = 3;
    let ran = output(
        Command::new("timeout")
            .args(["120", "mpirun", "--oversubscribe", "-n", &ranks.to_string()])
            .arg(&program)
            .current_dir(folder.path())
            .env("OMP_WAIT_POLICY", "passive")
            // Needed where the user is root, as in a container.
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    )
    .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "right\n");
    let files = profiles(folder.path()).unwrap();
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name()).collect();
    assert_eq!(
        names,
        [
            "hybrid.r0.0.romp.json",
            "hybrid.r1.0.romp.json",
            "hybrid.r2.0.romp.json"
        ]
    );
    check(&merge(&bin, &files, folder.path()).unwrap(), ranks);
}

/// Other launchers tell the rank by other variables.
#[test]
fn ranks_of_other_launchers_are_known() {
    let bin = romp_bin_dir().unwrap();
    for variable in ["PMI_RANK", "PMIX_RANK", "SLURM_PROCID"] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        output(
            Command::new(bin.join("rompcc"))
                .env("ROMP_CC", "gcc")
                .args(["-O1", "-fopenmp", "-o"])
                .arg(&program)
                .arg(fixtures().join("c/parallel.c")),
        )
        .unwrap();
        for rank in ["0", "1"] {
            let mut command = Command::new(&program);
            for name in ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"] {
                command.env_remove(name);
            }
            output(
                command
                    .current_dir(folder.path())
                    .env(variable, rank)
                    .env("SLURM_NTASKS", "2")
                    .env("OMP_NUM_THREADS", "4"),
            )
            .unwrap();
        }
        let files = profiles(folder.path()).unwrap();
        assert_eq!(files.len(), 2, "{variable}: {files:?}");
        let merged = merge(&bin, &files, folder.path()).unwrap();
        let ranks: Vec<_> = merged.ranks.iter().map(|run| run.rank).collect();
        assert_eq!(ranks, [Some(0), Some(1)], "{variable}");
    }
}
