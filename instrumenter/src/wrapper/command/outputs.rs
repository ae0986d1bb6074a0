//! The files that a command makes, as far as we have to know them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::wrapper::command::classify::{CommandLine, Role, Stage};
use crate::wrapper::compilers::flags::Meaning;

/// The command's outputs: those named by `-o`, or the compilers' default names.
pub(crate) fn outputs(line: &CommandLine) -> Vec<PathBuf> {
    if let Some(output) = line.output() {
        return vec![output.into()];
    }
    match line.stage() {
        Stage::Preprocess => Vec::new(),
        Stage::Compile | Stage::Assemble => line
            .sources()
            .map(|source| default_name(source.name(), extension(line)))
            .collect(),
        Stage::Link => vec!["a.out".into()],
    }
}

/// The extension of the file that the compiler makes of a source.
fn extension(line: &CommandLine) -> &'static str {
    match line.stage() {
        Stage::Compile => "s",
        _ => "o",
    }
}

/// The file that the command makes of a source.
pub(crate) fn object(line: &CommandLine, index: usize) -> PathBuf {
    let by_default = || default_name(line.arguments[index].name(), extension(line));
    line.output().map_or_else(by_default, PathBuf::from)
}

/// Whether the compiler writes notes about coverage (`*.gcno`) beside its output.
pub(crate) fn has_coverage_notes(line: &CommandLine) -> bool {
    const FLAGS: [&str; 3] = ["--coverage", "-coverage", "-ftest-coverage"];
    line.arguments.iter().any(|argument| {
        let is_known = matches!(argument.role, Role::Known(Meaning::SideFiles, _));
        is_known && FLAGS.iter().any(|flag| argument.name() == *flag)
    })
}

/// The compilers' default name for a source's output: its base name, in the current directory.
pub(crate) fn default_name(source: &OsStr, extension: &str) -> PathBuf {
    let base = Path::new(source).file_name().unwrap_or_default();
    Path::new(base).with_extension(extension)
}

/// Where `ROMP_KEEP` puts the instrumented text of a source: beside the output and named after
/// it. For `obj/a.o` that is `obj/a.c.romp`; with a program, its name is put before the
/// source's. The extension is not `.c`, so that a build that compiles every `*.c` doesn't
/// compile the copies.
pub(crate) fn kept(line: &CommandLine, source: &OsStr) -> PathBuf {
    let source = Path::new(source);
    let extension = source.extension().unwrap_or(OsStr::new("c"));
    let mut name = OsString::new();
    let output = line.output().map(Path::new);
    match (output, line.stage()) {
        (Some(output), Stage::Link) => {
            name.push(output.file_name().unwrap_or_default());
            name.push("-");
            name.push(source.file_stem().unwrap_or_default());
        }
        (Some(output), _) => name.push(output.file_stem().unwrap_or_default()),
        (None, _) => name.push(source.file_stem().unwrap_or_default()),
    }
    name.push(".");
    name.push(extension);
    name.push(".romp");
    output.map_or_else(
        || PathBuf::from(&name),
        |output| output.with_file_name(&name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    #[test]
    fn outputs_are_what_the_compiler_chooses() {
        let made = |text| outputs(&classified(text));
        assert_eq!(made("-c src/a.c b.c"), [PathBuf::from("a.o"), "b.o".into()]);
        assert_eq!(made("-S src/a.c"), [PathBuf::from("a.s")]);
        assert_eq!(made("-c a.c -o x/y.o"), [PathBuf::from("x/y.o")]);
        assert_eq!(made("a.c b.c"), [PathBuf::from("a.out")]);
    }

    #[test]
    fn kept_texts_do_not_clash() {
        let kept = |text, source| kept(&classified(text), OsStr::new(source));
        assert_eq!(
            kept("-c src/a.c -o obj/a1.o", "src/a.c"),
            Path::new("obj/a1.c.romp")
        );
        assert_eq!(kept("-c src/a.c", "src/a.c"), Path::new("a.c.romp"));
        assert_eq!(
            kept("a.c b.c -o bin/app", "b.c"),
            Path::new("bin/app-b.c.romp")
        );
    }
}
