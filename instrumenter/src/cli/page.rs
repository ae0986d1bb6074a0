//! Writes the page to a file, and opens it in a browser.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use profile::analysis::Report;
use profile::report::html::Page;

use super::Failure;
use crate::diagnostic::file_error;

/// The ending of saved profiles.
const ENDING: &str = ".romp.json";

/// The most recent saved profile in a folder.
pub(super) fn newest(folder: &Path) -> Result<PathBuf, Failure> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let profiles = files.filter(|file| file.file_name().to_string_lossy().ends_with(ENDING));
    let times = profiles.filter_map(|file| {
        let written = file.metadata().ok()?.modified().ok()?;
        Some((written, file.file_name()))
    });
    let is_here = folder == Path::new(".");
    let newest = times.max().map(|(_, name)| match is_here {
        true => PathBuf::from(name),
        false => folder.join(name),
    });
    let place = match is_here {
        true => "here".to_owned(),
        false => format!("in '{}'", folder.display()),
    };
    newest.ok_or_else(|| Failure {
        message: format!(
            "error: no saved profile {place}: give the *{ENDING} file that the measured program \
             wrote\n  = help: a program leaves a profile if it was built with rompcc or started by romp \
             run, reaches a construct that is measured (simd alone is not), and runs without \
             ROMP_MEASURE=off; look in the folder that ROMP_OUTPUT names, and at the last messages of \
             the program"
        ),
    })
}

/// The page's name if the user gives none: the profile's name, in the current folder.
pub(super) fn name_of(profile: &Path) -> PathBuf {
    let name = match profile.as_os_str() == "-" {
        true => "romp".into(),
        false => profile.file_name().unwrap_or_default().to_string_lossy(),
    };
    PathBuf::from(format!("{}.html", name.trim_end_matches(ENDING)))
}

/// Folders to which file names in a profile may be relative.
pub(super) fn folders(profile: &Path) -> Vec<PathBuf> {
    let here = profile.parent().map(Path::to_owned).into_iter();
    here.chain([PathBuf::from(".")]).collect()
}

/// The page of a report, with the user's files or without.
pub(super) fn page<'r, 'p>(
    report: &'r Report<'p>,
    profile: &Path,
    has_source: bool,
) -> Page<'r, 'p> {
    let page = Page::new(report);
    match has_source {
        true => page.with_sources(&folders(profile)),
        false => page,
    }
}

/// Writes a file; the input files are never overwritten.
pub(super) fn write_file(
    output: &Path,
    inputs: &[&Path],
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let same = |input: &&Path| match (input.canonicalize(), output.canonicalize()) {
        (Ok(input), Ok(output)) => input == output,
        _ => false,
    };
    if inputs.iter().any(same) {
        let help = "choose another name with -o";
        return Err(file_error(output, "it would be written over what is read", help).into());
    }
    let result = std::fs::File::create(output).and_then(|file| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    result.map_err(|error| {
        let help = "choose a place that can be written with -o";
        file_error(output, &error.to_string(), help).into()
    })
}

/// Shows a file in the user's browser.
pub(super) fn open(file: &Path) -> Result<(), Failure> {
    let name = file.display();
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let browser = std::env::var_os("BROWSER").filter(|name| !name.is_empty());
    let programs = match &browser {
        Some(browser) => vec![browser.as_os_str()],
        None => vec!["xdg-open".as_ref(), "open".as_ref()],
    };
    let started = programs.into_iter().find(|program| {
        let mut command = Command::new(program);
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null());
        silent.stderr(Stdio::null()).arg(&file).spawn().is_ok()
    });
    match started {
        Some(program) => {
            let program = program.to_string_lossy();
            tell!("romp: wrote {name} and asked {program} to show it");
            Ok(())
        }
        None => Err(Failure {
            message: format!(
                "error: no browser could be started: open {} yourself, or set BROWSER",
                file.display()
            ),
        }),
    }
}
