//! A look at a file for what only the preprocessor shows: directives and calls
//! that its macros make, braces that they hide, and which files it includes.

use std::collections::BTreeMap;

use memchr::memmem;

use super::conditions::is_part;
use super::groups::{hides_braces, word};
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind, lex};
use super::{calls, directives, text_of};
use crate::find::Hidden;
use crate::openmp::{Association, Language, api};

/// What a file includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Include {
    /// `"name"`.
    Quoted(String),
    /// `<name>`.
    Angled(String),
    /// A macro names it.
    Computed,
}

/// What a file includes, in conditionals that may hold or not.
#[must_use]
pub fn includes(text: &[u8]) -> Vec<Include> {
    text.split(|byte| *byte == b'\n')
        .filter_map(included)
        .collect()
}

/// Without the lexer: most of the files that are looked at hold nothing else.
fn included(line: &[u8]) -> Option<Include> {
    let operand = line.trim_ascii_start().strip_prefix(b"#")?;
    let operand = operand.trim_ascii_start().strip_prefix(b"include")?;
    let operand = operand.strip_prefix(b"_next").unwrap_or(operand);
    let operand = operand.trim_ascii_start();
    let until = |close: u8| {
        let name = operand[1..].split(|byte| *byte == close).next();
        String::from_utf8_lossy(name.unwrap_or_default()).into_owned()
    };
    match operand.first()? {
        b'"' => Some(Include::Quoted(until(b'"'))),
        b'<' => Some(Include::Angled(until(b'>'))),
        byte if byte.is_ascii_alphabetic() || *byte == b'_' => Some(Include::Computed),
        _ => None,
    }
}

/// What the macros of a file keep from everyone who does not expand them.
#[must_use]
pub fn hidden_in_macros(text: &[u8]) -> Vec<Hidden> {
    let macros = names_that_hide(text).into_iter();
    macros.map(|(_, hidden)| hidden).collect()
}

/// The same, with the names of those macros.
#[must_use]
pub fn names_that_hide(text: &[u8]) -> Vec<(String, Hidden)> {
    if !contains(text, b"define") || !(mentions_openmp(text) || contains(text, b"_Pragma")) {
        return Vec::new();
    }
    let lexed = lex(text);
    let hiding = lexed.lines.iter().filter_map(|line| {
        let reason = hidden_in_macro(text, line)?;
        let offset = line.range.start;
        Some((word(text, line, 1), Hidden { offset, reason }))
    });
    hiding.collect()
}

/// What the code of an included file keeps from everyone who does not read it.
#[must_use]
pub fn hidden_in_header(text: &[u8], language: Language) -> Option<Hidden> {
    if !mentions_openmp(text) && !contains(text, b"_Pragma") {
        return None;
    }
    hidden_in_code(text, &lex(text), language)
}

/// Makes one name of two.
const PASTES: &[u8] = b"##";

/// Where a file names macros.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// One that its code names.
    pub in_code: Option<String>,
    /// Macros that name one, and which; without it, what they name is pasted together.
    pub aliases: Vec<(String, Option<String>)>,
}

/// Where a file names the macros that a table has.
#[must_use]
pub fn mentions<T>(text: &[u8], macros: &BTreeMap<String, T>) -> Mentions {
    let holds = |part: &[u8]| memmem::find(text, part).is_some();
    if !holds(PASTES) && !macros.keys().any(|name| holds(name.as_bytes())) {
        return Mentions::default();
    }
    let lexed = lex(text);
    let named = |tokens: &[Token]| {
        let identifiers = tokens
            .iter()
            .filter(|token| token.kind == TokenKind::Identifier);
        let mut names = identifiers.map(|token| text_of(text, token));
        names.find(|name| macros.contains_key(name))
    };
    let definitions = lexed
        .lines
        .iter()
        .filter(|line| word(text, line, 0) == "define");
    let aliases = definitions.filter_map(|line| {
        let pastes = contains(&text[line.range.clone()], PASTES);
        let names = named(line.tokens.get(2..)?);
        (pastes || names.is_some()).then(|| (word(text, line, 1), names))
    });
    Mentions {
        in_code: named(&lexed.code),
        aliases: aliases.collect(),
    }
}

/// The macro of an included file that hides a brace: constructs that it stands in
/// can't be seen to end.
#[must_use]
pub fn hidden_brace(text: &[u8]) -> Option<Hidden> {
    if !may_hide_braces(text) {
        return None;
    }
    let lexed = lex(text);
    lexed.lines.iter().find_map(|line| {
        let name = hides_braces(text, line)?;
        Some(Hidden {
            offset: line.range.start,
            reason: format!("the macro {name} hides a brace"),
        })
    })
}

fn hidden_in_macro(text: &[u8], line: &PreprocessorLine) -> Option<String> {
    if word(text, line, 0) != "define" {
        return None;
    }
    let tokens = line.tokens.get(2..)?;
    let name = || word(text, line, 1);
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Identifier {
            continue;
        }
        let identifier = text_of(text, token);
        if identifier == "_Pragma" && may_be_openmp(text, &tokens[at + 1..]) {
            return Some(format!("the macro {} makes directives", name()));
        }
        if api::find(&identifier).is_some() {
            return Some(format!("the macro {} calls {identifier}", name()));
        }
    }
    None
}

/// Who pragmas are for that are none of OpenMP's.
const OTHER_PRAGMAS: &[&str] = &["GCC", "clang", "STDC", "message", "warning", "once", "pack"];

/// Whether what follows a `_Pragma` may be a directive of OpenMP's: a string, or a macro
/// that makes one of what may be.
fn may_be_openmp(text: &[u8], operands: &[Token]) -> bool {
    let word = |at: usize| operands.get(at).map(|token| text_of(text, token));
    match operands.get(1).map(|token| token.kind) {
        Some(TokenKind::Literal) => {
            let content = word(1).unwrap_or_default();
            content
                .trim_start_matches(['L', '"', ' '])
                .starts_with("omp")
        }
        Some(TokenKind::Identifier) if word(2).as_deref() == Some("(") => {
            word(3).is_none_or(|word| !OTHER_PRAGMAS.contains(&word.as_str()))
        }
        _ => true,
    }
}

fn hidden_in_code(text: &[u8], lexed: &Lexed, language: Language) -> Option<Hidden> {
    let records = directives::records(text, lexed);
    let executed = records.iter().find(|record| {
        record
            .parse(language)
            .is_ok_and(|directive| is_executed(directive.association()))
    });
    let directive = executed.map(|record| Hidden {
        offset: record.range.start,
        reason: "it holds directives".into(),
    });
    directive.or_else(|| {
        let call = calls::positions(text, lexed).into_iter().next()?;
        Some(Hidden {
            offset: call.name.start,
            reason: "it calls lock routines".into(),
        })
    })
}

/// What only declares or delimits has nothing to measure of its own.
fn is_executed(association: Association) -> bool {
    !matches!(
        association,
        Association::Declarative | Association::Delimited
    )
}

/// A cheap test that misses no macro with braces that don't pair in it.
fn may_hide_braces(text: &[u8]) -> bool {
    let braces = |line: &[u8]| {
        line.iter().fold(0, |balance, byte| match byte {
            b'{' => balance + 1,
            b'}' => balance - 1,
            _ => balance,
        })
    };
    macros(text).any(|lines| lines.into_iter().map(braces).sum::<i32>() != 0)
}

/// The definitions of macros, each as its lines.
pub(super) fn macros(text: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let mut lines = text.split(|byte| *byte == b'\n');
    std::iter::from_fn(move || {
        let is_definition = |line: &&[u8]| {
            let directive = line.trim_ascii_start().strip_prefix(b"#");
            directive.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"define"))
        };
        let mut definition = vec![lines.find(is_definition)?];
        while definition.last()?.trim_ascii_end().ends_with(b"\\") {
            let Some(next) = lines.next() else { break };
            definition.push(next);
        }
        Some(definition)
    })
}

/// Whether a word begins with `omp` or `pomp`.
pub(super) fn mentions_openmp(text: &[u8]) -> bool {
    memmem::find_iter(text, b"omp").any(|at| {
        let before = text[..at].strip_suffix(b"p").unwrap_or(&text[..at]);
        !before.last().is_some_and(|byte| is_part(*byte))
    })
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memmem::find(text, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_found() {
        let text = b"#include \"a.h\"\n # include <b/c.h> // x\n#include_next <d.h>\n#include F\n";
        let expected = [
            Include::Quoted("a.h".into()),
            Include::Angled("b/c.h".into()),
            Include::Angled("d.h".into()),
            Include::Computed,
        ];
        assert_eq!(includes(text), expected);
    }

    #[test]
    fn macros_that_make_something_are_found() {
        for source in [
            "#define P(x) _Pragma(#x)\n",
            "#define P(x) _Pragma(STRING(x))\n",
            "#define B \\\n  _Pragma(\"omp barrier\")\n",
            "#define LOCK omp_set_lock(&lock)\n",
        ] {
            assert!(!hidden_in_macros(source.as_bytes()).is_empty(), "{source}");
        }
        for source in [
            "#define Q _Pragma(\"GCC diagnostic push\")\n",
            "#define D(x) _Pragma(STRING(GCC warning x))\n",
            "#define N omp_get_num_threads()\n",
            "_Pragma(\"omp barrier\")\n#define x\n",
        ] {
            assert!(hidden_in_macros(source.as_bytes()).is_empty(), "{source}");
        }
    }

    #[test]
    fn what_names_a_macro_is_found() {
        let table = BTreeMap::from([("M".to_owned(), ())]);
        let mentions = |source: &str| mentions(source.as_bytes(), &table);
        for source in ["M(1);", "#ifdef A\nM\n#endif\n", "#define A M\nf(M);"] {
            assert_eq!(mentions(source).in_code.as_deref(), Some("M"), "{source}");
        }
        let made =
            mentions("#define A(x) f(); M(x)\n#define B a##b\n#define C AM\nAM \"M\" // M\n");
        let aliases = [
            ("A".to_owned(), Some("M".to_owned())),
            ("B".to_owned(), None),
        ];
        assert_eq!(made.aliases, aliases);
        assert_eq!(made.in_code, None);
    }

    #[test]
    fn headers_with_something_to_measure_are_found() {
        let hidden = |text: &str| hidden_in_header(text.as_bytes(), Language::C).is_some();
        assert!(hidden("#pragma omp parallel for\nfor (;;) ;\n"));
        assert!(hidden("void f(void) { omp_set_lock(&l); }\n"));
        assert!(!hidden("#pragma omp threadprivate(x)\n"));
        assert!(!hidden(
            "#pragma omp begin declare target\nvoid f(void);\n#pragma omp end declare target\n"
        ));
        let brace = |text: &str| hidden_brace(text.as_bytes()).is_some();
        assert!(brace("#define BEGIN {\n"));
        assert!(!brace("#define F(x) do { \\\n x; } while (0)\nint comp;\n"));
    }
}
