//! Scans a file for things that only the preprocessor shows: directives and calls that its
//! macros make, braces that macros hide, and the files that it includes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use memchr::memmem;

use super::conditionals::{hides_braces, word};
use super::conditions::DEFINE;
use super::cursor::unspliced;
use super::file::{File, IsUndefined};
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind, lex};
use super::mentions::{contains, may_speak};
use super::{calls, directives, is_word, text_of};
use crate::find::Hidden;
use crate::names;
use crate::openmp::{Association, api};

/// An include of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Include {
    /// `"name"`.
    Quoted(String),
    /// `<name>`.
    Angled(String),
    /// The name comes from a macro.
    Computed,
}

/// The includes of a file, in any branch of its conditionals.
#[must_use]
pub fn includes(text: &[u8]) -> Vec<Include> {
    operands(text, b"include").filter_map(included).collect()
}

/// Reads an include without the lexer: most of the examined files contain no OpenMP and need no
/// lexing.
fn included(operand: &[u8]) -> Option<Include> {
    let operand = operand.strip_prefix(b"_next").unwrap_or(operand);
    let operand = operand.trim_ascii_start();
    let until = |close: u8| {
        let name = operand[1..].split(|byte| *byte == close).next();
        names::text(name.unwrap_or_default())
    };
    match operand.first()? {
        b'"' => Some(Include::Quoted(until(b'"'))),
        b'<' => Some(Include::Angled(until(b'>'))),
        byte if byte.is_ascii_alphabetic() || *byte == b'_' => Some(Include::Computed),
        _ => None,
    }
}

/// The texts behind the name, for each line that begins with `#` and this name.
fn operands<'t>(text: &'t [u8], name: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    begins(text, name).map(move |(_, at)| &text[at + name.len()..end_of_line(text, at)])
}

fn end_of_line(text: &[u8], from: usize) -> usize {
    let length = memchr::memchr(b'\n', &text[from..]);
    length.map_or(text.len(), |length| from + length)
}

/// For each line that begins with `#` and a name, the offsets of the line and of the name.
fn begins<'t>(text: &'t [u8], name: &'t [u8]) -> impl Iterator<Item = (usize, usize)> + 't {
    memmem::find_iter(text, name).filter_map(move |at| {
        let begin = without_blanks(without_blanks(&text[..at]).strip_suffix(b"#")?).len();
        let is_begin = begin == 0 || text[begin - 1] == b'\n';
        is_begin.then_some((begin, at))
    })
}

/// A text without the blanks at the end of its last line.
fn without_blanks(text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\n';
    let end = text.iter().rposition(|byte| !blank(byte));
    &text[..end.map_or(0, |end| end + 1)]
}

/// Directives and calls that the macros of a file hide.
#[must_use]
pub fn hidden_in_macros(text: &[u8]) -> Vec<Hidden> {
    if !may_speak(text) {
        return Vec::new();
    }
    let lexed = lex(text);
    let hidden = hiding_macros(text, &lexed).map(|(_, hidden)| hidden);
    hidden.collect()
}

/// The names of the macros that hide directives or calls, and what each hides.
#[must_use]
pub fn names_that_hide(file: &File, is_undefined: IsUndefined<'_>) -> Vec<(String, Hidden)> {
    if !file.may_speak() || !contains(file.text(), DEFINE) {
        return Vec::new();
    }
    let found = hiding_macros(file.text(), file.lexed()).collect();
    compiled(file, found, |(_, hidden)| hidden.offset, is_undefined)
}

fn hiding_macros<'t>(
    text: &'t [u8],
    lexed: &'t Lexed,
) -> impl Iterator<Item = (String, Hidden)> + 't {
    lexed.lines.iter().filter_map(|line| {
        let reason = hidden_in_macro(text, line)?;
        let offset = line.range.start;
        let name = word(text, line, 1).into_owned();
        Some((name, Hidden { offset, reason }))
    })
}

/// Where code uses a macro that hides directives or calls, itself or by another macro. Macros are
/// those of its file and of the files that it includes. None if names are pasted together, so that
/// they can't be told. Also the words of the directives, if all are written out.
#[must_use]
pub(super) fn uses_of_hiding_macros(
    text: &[u8],
    lexed: &Lexed,
    included: &[Vec<u8>],
) -> (Option<Vec<usize>>, Option<BTreeSet<String>>) {
    if !may_speak(text) && !included.iter().any(|text| may_speak(text)) {
        return (Some(Vec::new()), None);
    }
    let headers: Vec<Lexed> = included.iter().map(|text| lex(text)).collect();
    let headers = included.iter().map(Vec::as_slice).zip(&headers);
    let files: Vec<(&[u8], &Lexed)> = headers.chain([(text, lexed)]).collect();
    let lines = || {
        files
            .iter()
            .flat_map(|&(text, lexed)| lexed.lines.iter().map(move |line| (text, line)))
    };
    let hiding = || lines().filter(|(text, line)| hidden_in_macro(text, line).is_some());
    let mut names: HashSet<String> = hiding()
        .map(|(text, line)| word(text, line, 1).into_owned())
        .collect();
    if names.is_empty() {
        return (Some(Vec::new()), None);
    }
    let words: Option<Vec<_>> = hiding().map(|(text, line)| written(text, line)).collect();
    let words = words.map(|words| words.into_iter().flatten().collect());
    if files.iter().any(|(text, _)| contains(text, PASTES)) {
        return (None, words);
    }
    let is_named = |names: &HashSet<String>, text: &[u8], token: &Token| {
        token.kind == TokenKind::Identifier && names.contains(&*text_of(text, token))
    };
    loop {
        let others = lines().filter(|(text, line)| {
            let body = line.tokens.get(2..).filter(|_| is_definition(text, line));
            body.is_some_and(|body| body.iter().any(|token| is_named(&names, text, token)))
        });
        let others: Vec<String> = others
            .map(|(text, line)| word(text, line, 1).into_owned())
            .collect();
        let known = names.len();
        names.extend(others);
        if names.len() == known {
            break;
        }
    }
    let uses = lexed.code.iter();
    let uses = uses.filter(|token| is_named(&names, text, token));
    (Some(uses.map(Token::start).collect()), words)
}

/// The words of the directives that a macro makes. None if not all of them are strings, or if it
/// makes calls.
fn written(text: &[u8], line: &PreprocessorLine) -> Option<BTreeSet<String>> {
    let tokens = line.tokens.get(2..)?;
    let mut words = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let identifier = text_of(text, token);
        if api::find(&identifier).is_some() {
            return None;
        }
        if token.kind == TokenKind::Identifier && identifier == "_Pragma" {
            let operand = tokens.get(at + 2)?;
            let literal = text_of(text, operand);
            let content = literal.strip_prefix('"')?;
            let found = content.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.extend(found.map(str::to_owned));
        }
    }
    Some(words)
}

/// The first construct or call in the code of an included file.
#[must_use]
pub fn hidden_in_header(file: &File, is_undefined: IsUndefined<'_>) -> Option<Hidden> {
    if !file.may_speak() {
        return None;
    }
    first_compiled(file, hidden_in_code(file), is_undefined)
}

fn first_compiled(
    file: &File,
    found: Vec<Hidden>,
    is_undefined: IsUndefined<'_>,
) -> Option<Hidden> {
    let compiled = compiled(file, found, |hidden| hidden.offset, is_undefined);
    compiled.into_iter().next()
}

/// The items found in a file that are in compiled parts.
fn compiled<T>(
    file: &File,
    mut found: Vec<T>,
    offset: impl Fn(&T) -> usize,
    is_undefined: IsUndefined<'_>,
) -> Vec<T> {
    if !found.is_empty() {
        let dead = file.dead(found.iter().map(&offset), is_undefined);
        found.retain(|found| !dead.holds(offset(found)));
    }
    found
}

/// The operator that joins two names.
const PASTES: &[u8] = b"##";

/// The uses of some macros in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// A macro that is used in code.
    pub in_code: Option<String>,
    /// Macros that use one of them, with its name. The name is missing if the macro pastes
    /// names together.
    pub aliases: Vec<(String, Option<String>)>,
}

/// Finds the uses of the macros in a table.
#[must_use]
pub fn mentions<T>(
    file: &File,
    macros: &BTreeMap<String, T>,
    is_undefined: IsUndefined<'_>,
) -> Mentions {
    let text = file.text();
    if !contains(text, PASTES) && !macros.keys().any(|name| contains(text, name.as_bytes())) {
        return Mentions::default();
    }
    let lexed = file.lexed();
    let named = |token: &&Token| {
        token.kind == TokenKind::Identifier
            && macros.contains_key(&*unspliced(&text[token.range()]))
    };
    let in_code: Vec<&Token> = lexed.code.iter().filter(named).collect();
    let aliases = lexed.lines.iter().filter_map(|line| {
        let body = line.tokens.get(2..).filter(|_| is_definition(text, line))?;
        let name = body.iter().find(named);
        let pastes = || contains(&text[line.range.clone()], PASTES);
        (name.is_some() || pastes()).then_some((line, name))
    });
    let aliases: Vec<_> = aliases.collect();
    if in_code.is_empty() && aliases.is_empty() {
        return Mentions::default();
    }
    let definitions = aliases.iter().map(|(line, _)| line.range.start);
    let offsets = in_code.iter().map(|token| token.start());
    let dead = file.dead(offsets.chain(definitions), is_undefined);
    let mut in_code = in_code.iter().filter(|token| !dead.holds(token.start()));
    let aliases = aliases
        .iter()
        .filter(|(line, _)| !dead.holds(line.range.start));
    let spelled = |token: &Token| text_of(text, token);
    Mentions {
        in_code: in_code.next().map(|token| spelled(token)),
        aliases: aliases
            .map(|(line, name)| (word(text, line, 1).into_owned(), name.map(spelled)))
            .collect(),
    }
}

fn is_definition(text: &[u8], line: &PreprocessorLine) -> bool {
    line.tokens
        .first()
        .is_some_and(|name| is_word(text, name, "define"))
}

/// Returns a macro of an included file that hides a brace. The ends of constructs around its
/// uses can't be found.
#[must_use]
pub fn hidden_brace(file: &File, is_undefined: IsUndefined<'_>) -> Option<Hidden> {
    let text = file.text();
    if !may_hide_braces(text) {
        return None;
    }
    let hiding = file.lexed().lines.iter().filter_map(|line| {
        let name = hides_braces(text, line)?;
        Some(Hidden {
            offset: line.range.start,
            reason: format!("the macro {name} hides a brace"),
        })
    });
    first_compiled(file, hiding.collect(), is_undefined)
}

fn hidden_in_macro(text: &[u8], line: &PreprocessorLine) -> Option<String> {
    let tokens = line.tokens.get(2..).filter(|_| is_definition(text, line))?;
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

/// The first words of pragmas that are not OpenMP's.
const OTHER_PRAGMAS: &[&str] = &["GCC", "clang", "STDC", "message", "warning", "once", "pack"];

/// Whether the operand of a `_Pragma` may be a directive of OpenMP: a string that begins with
/// `omp`, or a macro whose result may be one.
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

fn hidden_in_code(file: &File) -> Vec<Hidden> {
    let (text, lexed) = (file.text(), file.lexed());
    let mut records = directives::records(text, lexed);
    records.retain(|record| {
        let directive = record.parse(file.language());
        directive.is_ok_and(|directive| is_executed(directive.association()))
    });
    let calls = calls::positions(text, lexed);
    let directives = records
        .iter()
        .map(|record| (record.range.start, "it holds directives"));
    let calls = calls
        .iter()
        .map(|call| (call.name.start, "it calls lock routines"));
    let hidden = |(offset, reason): (usize, &str)| Hidden {
        offset,
        reason: reason.into(),
    };
    directives.chain(calls).map(hidden).collect()
}

/// Directives that only declare or delimit have nothing to measure of their own.
fn is_executed(association: Association) -> bool {
    !matches!(
        association,
        Association::Declarative | Association::Delimited
    )
}

/// A cheap test that finds every macro with unbalanced braces, and maybe others.
fn may_hide_braces(text: &[u8]) -> bool {
    let balance = |definition: &[u8]| {
        definition.iter().fold(0, |balance, byte| match byte {
            b'{' => balance + 1,
            b'}' => balance - 1,
            _ => balance,
        })
    };
    macros(text).any(|definition| balance(definition) != 0)
}

/// The definitions of macros.
pub(super) fn macros(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    begins(text, DEFINE).map(move |(begin, name)| {
        let mut end = end_of_line(text, name);
        while end < text.len() && text[begin..end].trim_ascii_end().ends_with(b"\\") {
            end = end_of_line(text, end + 1);
        }
        &text[begin..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmp::Language;

    fn file(text: &str) -> File {
        File::new(Language::C, text.as_bytes().to_vec())
    }

    #[test]
    fn uses_of_macros_that_hide_directives_are_found() {
        let text = b"#define P _Pragma(\"omp for\")\n#define Q P\n#define R 1\nint a = R;\nP Q\n";
        let uses = |text: &[u8]| uses_of_hiding_macros(text, &lex(text), &[]).0;
        assert_eq!(uses(text), Some(vec![64, 66]));
        let pasted = [&text[..], b"#define PASTE(a) a##Q\n"].concat();
        assert_eq!(uses(&pasted), None);
        // A macro of one header is used by one of another header.
        let headers = [
            b"#define Q P\n".to_vec(),
            b"#define P _Pragma(\"omp for\")\n".to_vec(),
        ];
        let text = b"int a = R;\nQ\n";
        let uses = |headers| uses_of_hiding_macros(text, &lex(text), headers).0;
        assert_eq!(uses(&headers), Some(vec![11]));
        assert_eq!(uses(&headers[..1]), Some(Vec::new()));
    }

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
        let mentions = |source: &str| mentions(&file(source), &table, &|name| name == "ABSENT");
        assert_eq!(
            mentions("#ifdef ABSENT\nM\n#define A M\n#endif\n"),
            Mentions::default()
        );
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
        let is_undefined = |name: &str| name == "ABSENT";
        let hidden = |text: &str| hidden_in_header(&file(text), &is_undefined).is_some();
        assert!(hidden("#pragma omp parallel for\nfor (;;) ;\n"));
        assert!(hidden("void f(void) { omp_set_lock(&l); }\n"));
        assert!(!hidden("#pragma omp threadprivate(x)\n"));
        assert!(!hidden(
            "#pragma omp begin declare target\nvoid f(void);\n#pragma omp end declare target\n"
        ));
        let lock = "void f(void) { omp_set_lock(&l); }\n#endif\n";
        assert!(hidden(&format!("#ifdef OTHER\n{lock}")));
        assert!(!hidden(&format!("#ifdef ABSENT\n{lock}")));
        let brace = |text: &str| hidden_brace(&file(text), &is_undefined).is_some();
        assert!(!brace("#ifdef ABSENT\n#define BEGIN {\n#endif\n"));
        assert!(brace("#define BEGIN {\n"));
        assert!(!brace("#define F(x) do { \\\n x; } while (0)\nint comp;\n"));
    }
}
