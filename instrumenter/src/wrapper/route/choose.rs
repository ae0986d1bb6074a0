//! Chooses the route of a source: whether it has constructs that only the preprocessor shows,
//! because macros make them or because they are in the user's headers.
//!
//! Conditionals are evaluated only around the constructs that were found, and only with macros
//! that are known to be undefined.

use std::collections::BTreeMap;

use crate::find::Hidden;
use crate::find::c::file::IsUndefined;
use crate::find::c::scan;
use crate::openmp::Language;
use crate::source::UndefinedMacros;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::included::Headers;
use crate::wrapper::route::fortran_text;
use crate::wrapper::route::undefined_macros::Macros;
use crate::wrapper::unit::{Needs, Unit};

/// Why a source has to be preprocessed.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub(crate) needs: Needs,
    /// The reason in words.
    pub(crate) why: String,
}

impl Reason {
    /// A reason for expanding macros.
    pub(crate) fn expansion(why: impl Into<String>) -> Self {
        Self {
            needs: Needs::Expansion,
            why: why.into(),
        }
    }
}

/// The reason for preprocessing a source in which a directive can't be read.
pub(crate) const UNCLEAR: &str = "a directive in it is not clear";

/// Returns why the source is preprocessed, if it is.
pub(crate) fn reason(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<Reason> {
    if unit.incomplete {
        return Some(Reason::expansion(UNCLEAR));
    }
    let moved = || fortran_text::moved_line(compiler, unit).map(Reason::expansion);
    hidden(compiler, line, unit).or_else(moved)
}

/// Returns why the source alone does not show all constructs, if it does not.
pub(crate) fn hidden(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<Reason> {
    if unit.language == Language::Fortran {
        return fortran_text::hidden(line, unit).map(Reason::expansion);
    }
    let headers = unit.headers(line);
    if headers.too_many {
        return Some(Reason::expansion("it includes a great many headers"));
    }
    if headers.computed {
        return Some(Reason::expansion("a macro names an included file"));
    }
    let macros = Macros::new(compiler, line, headers);
    let is_undefined = |name: &str| macros.is_undefined(name);
    // A brace hidden by a macro matters only if the source has constructs.
    let has_constructs = unit.text != unit.original;
    let mut hiding = BTreeMap::new();
    let mut in_header = None;
    for (number, (path, file)) in headers.files.iter().enumerate() {
        let placed = |hidden: Hidden| hidden.in_file(&path.to_string_lossy(), file.text());
        if number > 0 {
            let brace = || scan::hidden_brace(file, &is_undefined).map(placed);
            if let Some(why) = has_constructs.then(brace).flatten() {
                return Some(Reason::expansion(why));
            }
            let why = || scan::hidden_in_header(file, &is_undefined).map(placed);
            in_header = in_header.or_else(why);
        }
        let names = scan::names_that_hide(file, &is_undefined).into_iter();
        hiding.extend(names.map(|(name, hidden)| (name, placed(hidden))));
    }
    let by_macro = used(line, headers, hiding, &is_undefined).map(Reason::expansion);
    by_macro.or(in_header.map(|why| Reason {
        needs: Needs::Includes,
        why,
    }))
}

/// The macros that decide conditionals in a source and are known to be undefined.
pub(crate) fn undefined_macros(
    compiler: &Compiler,
    line: &CommandLine,
    unit: &Unit,
) -> UndefinedMacros {
    Macros::new(compiler, line, unit.headers(line)).undefined_in(&unit.original)
}

/// Returns why one of the macros that hide something matters: code uses the macro, or uses
/// another macro whose definition names it. A header for all sources of a project often has
/// macros that few sources use.
fn used(
    line: &CommandLine,
    headers: &Headers,
    mut hiding: BTreeMap<String, String>,
    is_undefined: IsUndefined<'_>,
) -> Option<String> {
    let first = hiding.values().next()?.clone();
    let mut known = 0;
    while known < hiding.len() {
        known = hiding.len();
        for file in headers.files() {
            let found = scan::mentions(file, &hiding, is_undefined);
            if let Some(name) = found.in_code {
                return hiding.remove(&name);
            }
            for (alias, name) in found.aliases {
                let why = name.and_then(|name| hiding.get(&name)).unwrap_or(&first);
                let why = why.clone();
                hiding.entry(alias).or_insert(why);
            }
        }
    }
    let words = line.words();
    let mut words = words.iter().map(|word| word.to_string_lossy());
    words
        .any(|word| hiding.keys().any(|name| defines(&word, name)))
        .then_some(first)
}

/// Whether a word of the command may define a macro whose value names another macro. This is
/// rare, so a rough test is enough.
fn defines(word: &str, name: &str) -> bool {
    let value = word.split_once('=').map(|(_, value)| value);
    value.is_some_and(|value| value.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    #[test]
    fn headers_are_looked_up_as_the_compiler_does() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let constructs = "#pragma omp parallel\n{ }\n";
        write("src/a.c", "");
        write("src/near.h", "#include \"deep.h\"\n");
        write(
            "src/one.h",
            "#include \"../src/other.h\"\n#include \"./other.h\"\n",
        );
        write("src/other.h", "#include \"../src/one.h\"\n");
        write("quoted/deep.h", constructs);
        write("system/deep.h", constructs);
        let name = dir.path().join("src/a.c").display().to_string();
        let found = |flags: &str, text: &str| {
            let flags = flags.replace('@', dir.path().to_str().unwrap());
            let line = classified(&format!("{flags} -c {name}"));
            let unit = Unit::for_tests(&name, text);
            reason(&Compiler::named("gcc"), &line, &unit).is_some()
        };
        assert!(!found("-O2", "#include \"near.h\"\n"));
        assert!(!found("-O2", "#include \"one.h\"\n"));
        assert!(found("-iquote @/quoted", "#include \"near.h\"\n"));
        assert!(!found("-iquote @/quoted", "#include <deep.h>\n"));
        assert!(found("-I@/quoted", "#include <deep.h>\n"));
        assert!(!found("-isystem @/system", "#include <deep.h>\n"));
        assert!(found("-O2", "#include HEADER\n"));
        assert!(found("-O2", "#define P(x) _Pragma(#x)\nP(omp barrier)\n"));
        assert!(!found("-O2", "#define P(x) _Pragma(#x)\n"));
    }
}
