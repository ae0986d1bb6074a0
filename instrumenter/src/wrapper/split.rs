//! A command split into one compile per source, and a link if it links.
//!
//! Each object takes the place of its source, so that the order of objects and libraries is the
//! user's.

use std::collections::BTreeSet;
use std::path::Path;

use crate::names;
use crate::wrapper::command::classify::{Argument, CommandLine, InputKind, Role, Stage};
use crate::wrapper::command::outputs::default_name;
use crate::wrapper::compile::Job;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::run::Output;
use crate::wrapper::unit::{Route, Unit};

/// Whether the sources have to be compiled one by one. There are two reasons. Several sources
/// that are not linked are compiled separately, so that the messages about each can be judged.
/// And one command can't compile sources of several directories from temporary files, since
/// each must find the headers of its own directory through `-iquote`.
pub(crate) fn is_needed(line: &CommandLine, units: &[&Unit]) -> bool {
    let several = line.stage() != Stage::Link && line.sources().count() > 1;
    if several && line.sources().all(can_be_alone) {
        return true;
    }
    let moved = |unit: &&Unit| matches!(unit.route, Some(Route::TemporaryFile(_)));
    let directories: BTreeSet<&Path> = line
        .sources()
        .map(|source| names::directory(Path::new(source.name())))
        .collect();
    directories.len() > 1 && units.iter().any(moved)
}

/// Whether the compiler does the same with a source in a command of its own. It makes no object
/// of a header. And it may report a missing source before it compiles another one.
fn can_be_alone(source: &Argument) -> bool {
    let name = Path::new(source.name());
    let is_measured = matches!(source.role, Role::Input(InputKind::Measured(_)));
    is_measured && (name.as_os_str() == "-" || name.exists())
}

/// Returns a flag that would put files beside our temporary objects, if there is one.
pub(crate) fn obstacle(line: &CommandLine) -> Option<String> {
    if line.stage() != Stage::Link {
        return None;
    }
    let named = line.has(Meaning::DependencyFile);
    let obstacle = |meaning: Meaning| match meaning {
        Meaning::SideFiles => true,
        Meaning::WritesDependencies => !named,
        _ => false,
    };
    let found = line
        .arguments
        .iter()
        .find(|argument| matches!(argument.role, Role::Known(meaning, _) if obstacle(meaning)));
    found.map(|argument| argument.name().to_string_lossy().into_owned())
}

/// Compiles each source, continues after errors as the compilers do, and links if no source
/// failed.
pub(crate) fn run(job: &Job<'_>, line: &CommandLine, units: &[&Unit]) -> Result<u8, u8> {
    let mut linked = line.clone();
    let mut failure = None;
    for (index, argument) in line.arguments.iter().enumerate() {
        if !argument.is_source() {
            continue;
        }
        // Objects that are not linked go where the compiler puts them.
        let is_linked = line.stage() == Stage::Link;
        let name = default_name(argument.name(), "o");
        let object = is_linked.then(|| job.place(name.as_os_str())).transpose()?;
        let unit = units
            .iter()
            .copied()
            .filter(|unit| unit.index == index)
            .collect();
        let stdin = job.stdin.filter(|_| argument.name() == "-");
        let job = Job { stdin, ..*job };
        match job.build(&compile(line, index, object.as_deref()), unit) {
            0 => {}
            code => failure = failure.or(Some(code)),
        }
        if let Some(object) = object {
            linked.arguments[index].words = vec![object.into_os_string()];
            linked.arguments[index].role = Role::Input(InputKind::Linked);
        }
    }
    match failure {
        Some(code) => Ok(code),
        None if line.stage() == Stage::Link => link(job, line, linked, units),
        None => Ok(0),
    }
}

fn compile(line: &CommandLine, index: usize, object: Option<&Path>) -> CommandLine {
    let mut one = line.only_source(index);
    for argument in one.arguments.iter_mut().skip(index) {
        // This `-x` was for sources that are no longer in the command; the compiler would warn
        // about it.
        if argument.is_language() {
            argument.clear();
        }
    }
    if line.stage() == Stage::Compile {
        one.push(Meaning::StopsAtCompiling, vec!["-S".into()]);
    } else {
        one.push(Meaning::StopsAtAssembling, vec!["-c".into()]);
    }
    if let Some(object) = object {
        one.push(Meaning::Output, vec!["-o".into(), object.into()]);
    }
    one
}

/// Links the objects. If that fails, the user's command is tried as it is.
fn link(
    job: &Job<'_>,
    whole: &CommandLine,
    mut line: CommandLine,
    units: &[&Unit],
) -> Result<u8, u8> {
    // Only objects and libraries are left; a `-x` would make the compiler read them as sources.
    line.clear_all(Meaning::Language);
    let outcome = job.original(&line, Output::HeldBack)?;
    if outcome.success() || outcome.interrupted() {
        outcome.replay();
        return Ok(outcome.code());
    }
    job.not_accepted(whole, units, &outcome)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::wrapper::command::classify::classified;

    #[test]
    fn a_compile_takes_one_source_and_no_linker_flags() {
        let line =
            classified("-fopenmp -O2 a/x.c -lm y.o b/z.c -x c -o app -Wl,-s -L lib -include c.h");
        let at = line
            .arguments
            .iter()
            .position(|a| a.name() == "b/z.c")
            .unwrap();
        let words = compile(&line, at, Some(Path::new("/t/z.o"))).words();
        let expected = "-fopenmp -O2 b/z.c -include c.h -c -o /t/z.o";
        assert_eq!(
            words,
            expected.split(' ').map(OsString::from).collect::<Vec<_>>()
        );
    }

    #[test]
    fn side_files_of_a_program_prevent_the_split() {
        let flag = |text| obstacle(&classified(text));
        assert_eq!(
            flag("a/x.c b/y.c --coverage").as_deref(),
            Some("--coverage")
        );
        assert_eq!(flag("a/x.c b/y.c -MD").as_deref(), Some("-MD"));
        assert_eq!(flag("a/x.c b/y.c -MD -MF x.d"), None);
        assert_eq!(flag("-c a/x.c b/y.c --coverage"), None);
    }
}
