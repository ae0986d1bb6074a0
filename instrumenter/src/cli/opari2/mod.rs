//! `romp opari2`: OPARI2's command line, for builds that call it. The output uses POMP2, for
//! that build's measurement library.

mod tasks;

use std::path::{Path, PathBuf};

use clap::Args;
use profile::group::GROUPS;

use super::Failure;
use super::instrument;
use crate::api::Api;
use crate::openmp::Language;
use crate::source::Form;
use crate::{Disabled, Groups, Options, Source};
use tasks::{Tasks, Untied};

/// The marker behind the include of the interface's header, in text that was preprocessed for
/// OPARI2. It is not needed here.
const MARKER: &[u8] = b"___POMP2_INCLUDE___";

/// The directives that `--disable=omp:...` knows, with our groups for them.
const DIRECTIVES: &[(&str, &str)] = &[
    ("parallel", "parallel"),
    ("for", "loop"),
    ("do", "loop"),
    ("sections", "sections"),
    ("workshare", "workshare"),
    ("barrier", "sync"),
    ("atomic", "atomic"),
    ("critical", "critical"),
    ("master", "master"),
    ("flush", "flush"),
    ("single", "single"),
    ("ordered", "ordered"),
    ("locks", "lock"),
    ("sync", "atomic,critical,master,flush,single,ordered,lock"),
    ("task", "task"),
];

/// Arguments of `romp opari2`: those of OPARI2. What is for the shape of its own
/// output is accepted and changes nothing.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
pub(super) struct Arguments {
    /// The source is C
    #[arg(long, group = "language")]
    c: bool,
    /// The source is C++
    #[arg(long = "c++", group = "language")]
    cxx: bool,
    /// The source is FORTRAN 77
    #[arg(long, group = "language")]
    f77: bool,
    /// The source is Fortran 90
    #[arg(long, group = "language")]
    f90: bool,
    /// Fortran in free form
    #[arg(long, group = "form")]
    free_form: bool,
    /// Fortran in fixed form
    #[arg(long, group = "form")]
    fix_form: bool,
    /// Leave out #line, for tools that read the output next
    #[arg(long)]
    nosrc: bool,
    /// The source is preprocessed
    #[arg(long)]
    preprocessed: bool,
    /// What to leave as it is, such as omp:atomic,critical; omp for everything, pomp for
    /// what is marked by directives of POMP
    #[arg(long, value_name = "PARADIGM[:DIRECTIVE,...][+...]", value_parser = disabled)]
    disable: Option<DisabledConstructs>,
    /// Accepted: regions have no declarations here
    #[arg(long)]
    omp_nodecl: bool,
    /// Refused: adds a variable of the library's to every parallel region
    #[arg(long)]
    omp_tpd: bool,
    /// Accepted, for --omp-tpd
    #[arg(long, value_name = "COMPILER")]
    omp_tpd_mangling: Option<String>,
    /// What to do with tasks; by default they are instrumented
    #[arg(long, value_name = "HOW", value_enum)]
    omp_task: Option<Tasks>,
    /// What to do with untied tasks; they always stay untied
    #[arg(long, value_name = "HOW", value_enum)]
    omp_task_untied: Option<Untied>,
    /// Print the version
    #[arg(long)]
    version: bool,
    /// The source file
    #[arg(required_unless_present = "version")]
    infile: Option<PathBuf>,
    /// Where to write the output; by default INFILE with .mod before its suffix
    outfile: Option<PathBuf>,
}

/// The constructs that are not instrumented.
#[derive(Clone, Debug, Default)]
struct DisabledConstructs {
    /// The directives of POMP.
    pomp: bool,
    /// Groups of OpenMP constructs.
    groups: Groups,
}

/// Reads `omp`, `omp:atomic,...` and `pomp`. The suffix `:inner` is ignored, since a construct
/// is always left as it is with everything in it.
fn disabled(text: &str) -> Result<DisabledConstructs, String> {
    let mut what = DisabledConstructs::default();
    let mut groups = Vec::new();
    for paradigm in text.split('+') {
        match paradigm.split_once(':').unwrap_or((paradigm, "")) {
            ("omp", "") => {
                let names = GROUPS.iter().map(|(name, _)| *name);
                groups.extend(names.filter(|name| *name != "region"));
            }
            ("omp", directives) => {
                for directive in directives.split(',') {
                    let name = directive.trim_end_matches(":inner");
                    let known = DIRECTIVES.iter().find(|(theirs, _)| *theirs == name);
                    groups.push(known.ok_or_else(|| format!("'{name}' is no directive"))?.1);
                }
            }
            ("pomp", _) => what.pomp = true,
            // There is nothing for devices here that could be switched off.
            ("offload", _) => {}
            (other, _) => return Err(format!("'{other}' is no paradigm")),
        }
    }
    what.groups = Groups::parse(&groups.join(",")).map_err(|unknown| unknown.to_string())?;
    Ok(what)
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(infile) = arguments.infile.as_deref().filter(|_| !arguments.version) else {
        return super::print(|out| writeln!(out, "romp {}", env!("CARGO_PKG_VERSION")));
    };
    if arguments.omp_tpd {
        return Err("error: --omp-tpd is not supported".to_owned().into());
    }
    let mut source = super::read_source(infile)?;
    arguments.lay_out(&mut source);
    if arguments.preprocessed {
        blank_marker(&mut source.text);
    }
    let by_default = modified(infile, source.language);
    let output = arguments.outfile.as_deref().unwrap_or(&by_default);
    instrument::write(&included(infile), infile, b"")?;
    let left = arguments.disable.clone().unwrap_or_default();
    tasks::treat(&mut source, arguments.omp_task, arguments.omp_task_untied)?;
    let options = Options {
        unique: instrument::unique(&source, Some(output)),
        disabled: Disabled {
            groups: left.groups,
            pomp: left.pomp,
            by: "--disable",
        },
        without_lines: arguments.nosrc,
        api: Api::Pomp2,
        ..Options::default()
    };
    let result = crate::instrument(&source, &options);
    for warning in &result.warnings {
        tell!("{warning}");
    }
    instrument::write(output, infile, result.text())
}

impl Arguments {
    /// Sets the language and the form that the options give; without options, those of the
    /// file's name stay.
    fn lay_out(&self, source: &mut Source) {
        let languages = [
            (self.c, Language::C),
            (self.cxx, Language::Cxx),
            (self.f77 || self.f90, Language::Fortran),
        ];
        let given = languages.iter().find(|(given, _)| *given);
        source.language = given.map_or(source.language, |(_, language)| *language);
        let forms = [
            (self.free_form, Form::Free),
            (self.fix_form, Form::Fixed),
            (self.f77, Form::Fixed),
            (self.f90, Form::Free),
        ];
        if let Some((_, form)) = forms.iter().find(|(given, _)| *given) {
            source.layout = source.layout.in_form(*form);
        }
    }
}

/// The default output: `a.c` gives `a.mod.c`, and `a.f90` gives `a.mod.F90`, since builds
/// preprocess OPARI2's output.
fn modified(infile: &Path, language: Language) -> PathBuf {
    let suffix = infile.extension().unwrap_or_default().to_string_lossy();
    match (language, suffix.strip_prefix('f')) {
        (Language::Fortran, Some(rest)) => infile.with_extension(format!("mod.F{rest}")),
        _ => infile.with_extension(format!("mod.{suffix}")),
    }
}

/// The file that OPARI2's output includes, in the directory where the program is compiled. Our
/// output includes nothing, but Score-P's command expects the file, to remove it.
fn included(infile: &Path) -> PathBuf {
    let mut name = infile.file_name().unwrap_or_default().to_owned();
    name.push(".opari.inc");
    name.into()
}

/// Replaces the marker by blanks: it is not valid C, and blanks keep all columns as they are.
fn blank_marker(text: &mut [u8]) {
    let found = text.windows(MARKER.len()).position(|part| part == MARKER);
    if let Some(at) = found {
        text[at..at + MARKER.len()].fill(b' ');
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

    use super::*;

    #[test]
    fn groups_have_our_names() {
        let disables = |text, group| disabled(text).unwrap().groups.contain(group);
        assert!(disables("omp:locks,task:inner", "lock"));
        assert!(disables("omp:sync+offload", "ordered"));
        assert!(disables("omp:for,barrier", "loop"));
        assert!(!disables("omp:atomic", "critical"));
        assert!(disables("omp", "target") && !disables("omp", "region"));
        assert!(disabled("omp:atomic+pomp").unwrap().pomp);
        assert!(disabled("omp:cancel").is_err());
        assert!(disabled("cuda").is_err());
    }

    #[test]
    fn the_output_has_the_name_that_opari2_gives_it() {
        for (infile, language, outfile) in [
            ("d/a.b.c", Language::C, "d/a.b.mod.c"),
            ("d/a.f90", Language::Fortran, "d/a.mod.F90"),
            ("a.f", Language::Fortran, "a.mod.F"),
            ("a.F", Language::Fortran, "a.mod.F"),
        ] {
            assert_eq!(modified(Path::new(infile), language), Path::new(outfile));
        }
        assert_eq!(included(Path::new("d/a.c")), Path::new("a.c.opari.inc"));
    }

    #[test]
    fn the_marker_goes() {
        let mut text = b"int a;\n___POMP2_INCLUDE___\n".to_vec();
        blank_marker(&mut text);
        assert_eq!(text.trim_ascii_end(), b"int a;");
        assert_eq!(text.len(), 27);
    }
}
