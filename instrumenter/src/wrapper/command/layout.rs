//! The layout of a Fortran source's lines. The source's name or `-x` determines it, unless
//! flags of the command override that.

use std::path::Path;

use crate::Source;
use crate::source::{Form, Layout};
use crate::wrapper::command::classify::{CommandLine, Role};
use crate::wrapper::compilers::flags::Meaning;

/// The layout of the source at a place in the command.
pub(crate) fn of(line: &CommandLine, index: usize) -> Layout {
    let mut layout = language(line, index)
        .unwrap_or_else(|| Source::layout_of(Path::new(line.arguments[index].name())));
    for (meaning, _) in line.flags() {
        match meaning {
            Meaning::SourceForm(form) => layout = layout.in_form(form),
            Meaning::Preprocesses(on) => layout.preprocessed_by_compiler = on,
            _ => {}
        }
    }
    for (meaning, value) in line.flags() {
        match meaning {
            Meaning::LineLength(form) if form == layout.form => {
                layout.line_length = length(&value.to_string_lossy());
            }
            Meaning::FixedLineLength(columns) if layout.form == Form::Fixed => {
                layout.line_length = Some(columns);
            }
            _ => {}
        }
    }
    layout
}

/// Whether the compiler is asked to warn of calls without an explicit interface, in a standard
/// that allows the inserted code to declare interfaces.
pub(crate) fn wants_interfaces(line: &CommandLine) -> bool {
    const WARNINGS: [&str; 2] = ["implicit-interface", "implicit-procedure"];
    let words = line.words();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let asked = |warning: &&str| {
        let kinds = words.iter().rev().filter_map(|word| {
            let kind = word.strip_prefix("-W")?;
            let kind = kind.strip_prefix("error=").unwrap_or(kind);
            (kind.strip_prefix("no-").unwrap_or(kind) == *warning).then_some(kind == *warning)
        });
        kinds.take(1).any(|on| on)
    };
    has_blocks(line) && WARNINGS.iter().any(asked)
}

/// Whether the standard in force has the `block` construct.
pub(crate) fn has_blocks(line: &CommandLine) -> bool {
    const STANDARDS_WITHOUT_BLOCK: [&str; 4] = ["-std=f95", "-std=f2003", "-std=gnu95", "-std=f77"];
    let words = line.words();
    let mut words = words.iter().map(|word| word.to_string_lossy());
    let standard = words.rfind(|word| word.starts_with("-std="));
    standard.is_none_or(|word| !STANDARDS_WITHOUT_BLOCK.contains(&word.as_ref()))
}

/// The layout that the `-x` in force sets, if any.
fn language(line: &CommandLine, index: usize) -> Option<Layout> {
    let before = line.arguments.iter().take(index).rev();
    let mut languages = before.filter_map(|argument| match &argument.role {
        Role::Known(Meaning::Language, value) => Some(value.to_string_lossy()),
        _ => None,
    });
    let language = languages.next()?;
    let (form, rest) = match language.split_at_checked(3)? {
        ("f77", rest) => (Layout::FIXED, rest),
        ("f95", rest) => (Layout::FREE, rest),
        _ => return None,
    };
    Some(Layout {
        preprocessed_by_compiler: rest == "-cpp-input",
        ..form
    })
}

/// A number of columns; none if all of them count.
fn length(value: &str) -> Option<usize> {
    value.parse().ok().filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::wrapper::compilers::Compiler;

    fn layout(compiler: &str, text: &str) -> (Form, Option<usize>, bool) {
        let words: Vec<OsString> = text.split(' ').map(Into::into).collect();
        let line = CommandLine::classify(&Compiler::named(compiler), &words);
        let layout = of(&line, line.arguments.len() - 1);
        let preprocessed = layout.preprocessed_by_compiler;
        (layout.form, layout.line_length, preprocessed)
    }

    #[test]
    fn names_and_flags_decide() {
        use Form::{Fixed, Free};
        for (text, expected) in [
            ("-c a.f90", (Free, Some(132), false)),
            ("-c a.F90", (Free, Some(132), true)),
            ("-c a.f", (Fixed, Some(72), false)),
            ("-c a.FOR", (Fixed, Some(72), true)),
            ("-ffree-form -c a.f", (Free, Some(132), false)),
            (
                "-ffixed-form -ffixed-line-length-none a.f90",
                (Fixed, None, false),
            ),
            ("-ffixed-line-length-132 a.f", (Fixed, Some(132), false)),
            ("-ffixed-line-length-132 a.f90", (Free, Some(132), false)),
            ("-ffree-line-length-0 a.f90", (Free, None, false)),
            ("-ffree-line-length-200 -cpp a.f90", (Free, Some(200), true)),
            ("-nocpp a.F90", (Free, Some(132), false)),
            ("-x f77 a.inc", (Fixed, Some(72), false)),
            ("-x f95-cpp-input a.inc", (Free, Some(132), true)),
            ("-x f77 -x none a.f90", (Free, Some(132), false)),
        ] {
            assert_eq!(layout("gfortran", text), expected, "{text}");
        }
        assert_eq!(
            layout("ifx", "-fixed -132 a.f90"),
            (Fixed, Some(132), false)
        );
        assert_eq!(
            layout("ifort", "-extend-source:80 a.f"),
            (Fixed, Some(80), false)
        );
        assert_eq!(
            layout("nvfortran", "-Mextend a.f"),
            (Fixed, Some(132), false)
        );
        assert_eq!(layout("flang", "-Mfixed a.f90"), (Fixed, Some(72), false));
        assert_eq!(
            layout("flang-new-16", "-ffixed-line-length=80 a.f"),
            (Fixed, Some(80), false)
        );
    }
}
