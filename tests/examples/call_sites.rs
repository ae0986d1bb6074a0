//! The table of how many calls of OpenMP runtimes `romp run` maps to the right directive:
//! `cargo run -p tests --example call_sites -- COMPILER [-OLEVEL] PROGRAM...`, with compilers by
//! name or path.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tests::Outcome;
use tests::call_sites::{HEAD, Sites, compare};
use tests::toolchain::{Compiler, romp_bin_dir};

fn main() -> ExitCode {
    match table() {
        Ok(sites) if sites.wrong.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn table() -> Outcome<Sites> {
    let mut words = std::env::args().skip(1).peekable();
    let name = words.next().ok_or("which compiler?")?;
    let compiler = Compiler { name };
    let level = words.next_if(|word| word.starts_with("-O"));
    let level = level.as_deref().unwrap_or("-O2");
    let bin = romp_bin_dir()?;
    println!("{HEAD}  {}", compiler.name);
    let mut all = Sites::default();
    for program in words.map(PathBuf::from) {
        let program = std::fs::canonicalize(&program).map_err(|e| e.to_string())?;
        match compare(&bin, &compiler, level, &program) {
            Ok(sites) => {
                println!("{sites}  {}", name_of(&program));
                show("near", &sites.near);
                show("WRONG", &sites.wrong);
                show("absent", &sites.absent);
                all.add(sites);
            }
            Err(problem) => println!("{}: {problem}", name_of(&program)),
        }
    }
    println!("{all}  all");
    Ok(all)
}

fn name_of(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn show(what: &str, calls: &[String]) {
    for call in calls {
        println!("      {what}: {call}");
    }
}
