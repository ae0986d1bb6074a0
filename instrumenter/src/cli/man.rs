//! `romp man`: the manual pages, one for each command and one for the environment, made from
//! the descriptions in the commands themselves.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, italic, roman};
use profile::environment::{Reader, VARIABLES};

use super::Failure;

/// What stands after `romp man`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The directory
    directory: PathBuf,
}

/// Our compiler wrappers: command, language, the compiler that it replaces, and its variable.
const WRAPPERS: &[[&str; 4]] = &[
    ["rompcc", "C", "cc", "ROMP_CC"],
    ["rompcxx", "C++", "c++", "ROMP_CXX"],
    ["rompfc", "Fortran", "gfortran", "ROMP_FC"],
];

/// The page of a compiler: `@` is the command, `%` its language.
const WRAPPER_PAGE: &str = include_str!("help/wrapper.txt");

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("error: {}: {error}", directory.display()))?;
    let command = super::Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, directory)
        .map_err(|error| format!("error: {}: {error}", directory.display()))?;
    for wrapper in WRAPPERS {
        save(
            directory,
            &format!("{}.1", wrapper[0]),
            &wrapper_page(wrapper),
        )?;
    }
    save(directory, "romp-environment.7", &environment_page())
}

fn save(directory: &Path, name: &str, page: &Roff) -> Result<(), Failure> {
    let path = directory.join(name);
    let written = std::fs::write(&path, page.render());
    written.map_err(|error| format!("error: {}: {error}", path.display()).into())
}

fn page(name: &str, section: &str, about: &str) -> Roff {
    let mut page = Roff::new();
    let version = concat!("romp ", env!("CARGO_PKG_VERSION"));
    page.control("TH", [name, section, "", version]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {about}"))]);
    page
}

fn wrapper_page([command, language, compiler, variable]: &[&str; 4]) -> Roff {
    let about = format!("compile {language} so that its OpenMP constructs are measured");
    let mut page = page(command, "1", &about);
    page.control("SH", ["SYNOPSIS"]);
    page.text([
        bold(*command),
        roman(" ["),
        italic("compiler"),
        roman("] "),
        italic("arguments"),
    ]);
    page.control("SH", ["DESCRIPTION"]);
    let text = WRAPPER_PAGE
        .replace("@command@", command)
        .replace("@compiler@", compiler)
        .replace("@variable@", variable);
    for paragraph in text.split("\n\n") {
        page.control("PP", []);
        page.text([roman(paragraph.replace('\n', " ").trim())]);
    }
    page.control("SH", ["ENVIRONMENT"]);
    variables(&mut page, |reader| reader != Reader::Library);
    page.control("SH", ["SEE ALSO"]);
    page.text([
        bold("romp"),
        roman("(1), "),
        bold("romp-environment"),
        roman("(7)"),
    ]);
    page
}

fn environment_page() -> Roff {
    let about = "environment variables of romp and of measured programs";
    let mut page = page("romp-environment", "7", about);
    page.control("SH", ["MEASURED PROGRAMS"]);
    variables(&mut page, |reader| reader != Reader::Wrapper);
    page.control("SH", ["COMPILERS"]);
    variables(&mut page, |reader| reader != Reader::Library);
    page
}

fn variables(page: &mut Roff, wanted: impl Fn(Reader) -> bool) {
    for variable in VARIABLES.iter().filter(|variable| wanted(variable.reader)) {
        page.control("TP", []);
        page.text([bold(variable.name)]);
        let choices = match variable.kind.choices() {
            [] => String::new(),
            choices => format!(" Values: {}.", choices.join(", ")),
        };
        page.text([roman(format!(
            "{}{choices} Default: {}.",
            variable.help, variable.default
        ))]);
    }
}
