//! `romp --cflags` and `romp --libs`: for builds that are written by hand, like the `*-config`
//! programs of other tools.

use std::path::{Path, PathBuf};

use super::Failure;
use crate::wrapper::library;

/// What may stand in the place of a subcommand.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Print the compiler flags for sources that include pomp_lib.h
    #[arg(long)]
    cflags: bool,
    /// Print what links objects that rompcc has made with a plain compiler
    #[arg(long)]
    libs: bool,
    /// With --libs: what links them into a shared library instead
    #[arg(long, requires = "libs")]
    shared: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let chosen = std::env::var_os("ROMP_LIB").filter(|value| !value.is_empty());
    let archive = library::find(chosen.as_deref()).map_err(|why| format!("error: {why}"))?;
    let mut words = Vec::new();
    if arguments.cflags {
        words.push(format!("-I{}", include_directory(&archive)?.display()));
    }
    if arguments.libs {
        let linking = library::linking(&archive, !arguments.shared);
        words.extend(linking.iter().map(|word| word.display().to_string()));
    }
    super::print(|out| writeln!(out, "{}", words.join(" ")))
}

/// The headers are installed beside the directory of the library.
fn include_directory(archive: &Path) -> Result<PathBuf, Failure> {
    let prefix = archive.parent().and_then(Path::parent);
    let include = prefix.map(|prefix| prefix.join("include"));
    let installed = |include: &PathBuf| include.join("pomp_lib.h").is_file();
    include.filter(installed).ok_or_else(|| Failure {
        message: format!(
            "error: there is no pomp_lib.h in the include directory beside that of {}: use an \
             installed romp (./install --prefix DIR)",
            archive.display()
        ),
    })
}
