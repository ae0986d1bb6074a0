//! Compares many generated programs, plain and measured, with GNU's and LLVM's compilers
//! and every level of optimisation: `tests/generated FIRST COUNT [FOLDER]`. Of four seeds
//! two are programs in C, one is in C++, one in Fortran. The programs that differ, and
//! those that can't be compared, are left in FOLDER with what was found.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use tests::generate::Dialect;
use tests::generate::comparison::{Language, Verdict, compare};
use tests::processors;
use tests::toolchain::Compiler;

const LEVELS: [&str; 3] = ["-O0", "-O2", "-O3"];

fn language(seed: u64) -> Language {
    match seed % 4 {
        0 | 2 => Language::Dialect(Dialect::C),
        1 => Language::Dialect(Dialect::Cxx),
        _ => Language::Fortran,
    }
}

/// What came of all programs so far.
#[derive(Default)]
struct Tally {
    programs: u64,
    same: u64,
    not_plainly: u64,
    different: u64,
}

impl Tally {
    fn say(&self) {
        println!(
            "{} programs: {} configurations the same, {} differ, {} can't be compared",
            self.programs, self.same, self.different, self.not_plainly
        );
    }
}

/// Compares the program of a seed in each of its configurations.
fn program(seed: u64, folder: &Path, tally: &Mutex<Tally>) -> Result<(), String> {
    let language = language(seed);
    let threads = (1 + seed / 4 % 4).to_string();
    let (mut same, mut not_plainly, mut different) = (0, 0, 0);
    for name in language.compilers() {
        let compiler = Compiler {
            name: (*name).to_owned(),
        };
        for level in LEVELS {
            let (kind, message) = match compare(seed, language, &compiler, level, &[&threads])? {
                Verdict::Same => {
                    same += 1;
                    continue;
                }
                Verdict::NotPlainly(message) => {
                    not_plainly += 1;
                    ("not-plainly", message)
                }
                Verdict::Different(message) => {
                    different += 1;
                    ("different", message)
                }
            };
            let (text, extension) = language.program(seed);
            let name = format!("{kind}-{seed}-{name}{level}");
            let written = std::fs::write(folder.join(&name), message)
                .and_then(|()| std::fs::write(folder.join(format!("{seed}.{extension}")), text));
            written.map_err(|e| e.to_string())?;
            println!("{name}");
        }
    }
    let mut tally = tally.lock().map_err(|e| e.to_string())?;
    tally.programs += 1;
    tally.same += same;
    tally.not_plainly += not_plainly;
    tally.different += different;
    if tally.programs.is_multiple_of(50) {
        tally.say();
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(first), Some(count)) = (number(0), number(1)) else {
        eprintln!("usage: generated_soak FIRST COUNT [FOLDER]");
        return ExitCode::from(2);
    };
    let folder = Path::new(words.get(2).map_or("target/generated", String::as_str));
    if let Err(error) = std::fs::create_dir_all(folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::from(2);
    }
    let tally = Mutex::new(Tally::default());
    let seeds: Vec<u64> = (first..first + count).collect();
    processors::for_each(&seeds, |&seed| {
        if let Err(message) = program(seed, folder, &tally) {
            eprintln!("seed {seed}: {message}");
        }
    });
    let tally = tally
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    tally.say();
    match (tally.different, tally.programs) {
        (0, done) if done == count => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
