//! Scans a Fortran text for things that are not written in it: the files that it includes, and
//! directives and calls that its macros make.

use std::ops::Range;

use super::directives::Meaning;
use super::tokens::TokenKind;
use super::{Finder, calls, logical_lines};
use crate::find::Hidden;
use crate::find::c::line_directives;
use crate::names;
use crate::openmp::{Association, api};
use crate::source::Source;

/// An `include` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludeLine {
    /// Its bytes, with its newline.
    pub range: Range<usize>,
    /// The file that it names.
    pub file: String,
}

/// Returns the name and text of the file that an `include` line names.
pub type Reader<'a> = dyn Fn(&str) -> Option<(String, Vec<u8>)> + 'a;

/// The `include` lines of a source, in any branch of its conditionals.
#[must_use]
pub fn include_lines(source: &Source) -> Vec<IncludeLine> {
    if !contains(&source.text, b"include") {
        return Vec::new();
    }
    let finder = Finder::new(source);
    let text = &source.text;
    let lines = logical_lines(text, finder.lines.iter(), finder.form);
    let code = lines.iter().filter(|line| line.sentinel.is_none());
    code.filter_map(|line| {
        let [keyword, name] = line.tokens.as_slice() else {
            return None;
        };
        let includes = line.text(keyword).eq_ignore_ascii_case(b"include");
        let name = Some(line.text(name)).filter(|_| includes && name.kind == TokenKind::Text)?;
        Some(IncludeLine {
            range: line.range.start..line.after,
            file: names::text(name.get(1..name.len() - 1)?),
        })
    })
    .collect()
}

/// The source with included files in the place of the `include` lines for which `read` finds a
/// file. Line markers tell where each line comes from. None if no file is found.
#[must_use]
pub fn expanded(source: &Source, read: &Reader<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut depth = 0;
    expand(source, read, &mut depth, &mut text).then_some(text)
}

/// The largest depth of files that include each other.
const DEEPEST: usize = 20;

fn expand(source: &Source, read: &Reader<'_>, depth: &mut usize, out: &mut Vec<u8>) -> bool {
    let finder = Finder::new(source);
    let text = &source.text;
    let lines = line_directives::line_map(&source.name, text, &finder.preprocessor, &finder.groups);
    let mut from = super::physical::first_byte(text);
    let mut changed = false;
    for include in include_lines(source) {
        let behind = lines.presumed(include.range.end);
        let included = read(&include.file).filter(|_| *depth < DEEPEST);
        let (Some(behind), Some((name, content))) = (behind, included) else {
            continue;
        };
        out.extend(&text[from..include.range.start]);
        marker(&name, 1, out);
        let included = Source {
            name,
            text: content,
            language: source.language,
            layout: source.layout,
            undefined: source.undefined.clone(),
        };
        *depth += 1;
        expand(&included, read, depth, out);
        *depth -= 1;
        if !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        marker(&behind.file, behind.line, out);
        from = include.range.end;
        changed = true;
    }
    out.extend(&text[from..]);
    changed
}

/// A line marker.
pub fn marker(file: &str, line: u32, out: &mut Vec<u8>) {
    let file = file.replace('\\', "\\\\").replace('"', "\\\"");
    out.extend(&*names::bytes(&format!("# {line} \"{file}\"\n")));
}

/// Directives and calls that the macros of a text hide.
#[must_use]
pub fn hidden_in_macros(text: &[u8]) -> Vec<Hidden> {
    let mut hidden = Vec::new();
    let mut offset = 0;
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    while let Some(line) = lines.next() {
        let begin = offset;
        offset += line.len();
        let Some(definition) = definition(line) else {
            continue;
        };
        let mut body = definition.to_ascii_lowercase();
        while body.trim_ascii_end().ends_with(b"\\")
            && let Some(next) = lines.next()
        {
            offset += next.len();
            body.extend(next.to_ascii_lowercase());
        }
        hidden.extend(hidden_in_macro(definition, &body).map(|reason| Hidden {
            offset: begin,
            reason,
        }));
    }
    hidden
}

/// `body` is the definition in lower case, with its continuation lines.
fn hidden_in_macro(definition: &[u8], body: &[u8]) -> Option<String> {
    let name = String::from_utf8_lossy(definition);
    let name = name.split(['(', ' ', '\t']).next().unwrap_or_default();
    if makes_directives(body) {
        return Some(format!("the macro {name} makes directives"));
    }
    let mut words = body.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let routine = words.find_map(|word| api::find(std::str::from_utf8(word).ok()?))?;
    Some(format!("the macro {name} calls {}", routine.name))
}

/// Whether a text in lower case may become a directive.
#[must_use]
pub fn makes_directives(text: &[u8]) -> bool {
    [&b"$omp"[..], b"$pomp"]
        .iter()
        .any(|sentinel| contains(text, sentinel))
}

/// The part of a `#define` line behind that word.
fn definition(line: &[u8]) -> Option<&[u8]> {
    let word = line.strip_prefix(b"#")?.trim_ascii_start();
    let rest = word.strip_prefix(b"define")?;
    rest.first()?
        .is_ascii_whitespace()
        .then(|| rest.trim_ascii())
}

/// The first directive or call in an included text.
#[must_use]
pub fn hidden_in_included(source: &Source) -> Option<Hidden> {
    let text = &source.text;
    let lower = text.to_ascii_lowercase();
    if !makes_directives(&lower) && !calls::may_have_some(text) {
        return None;
    }
    if let Some(hidden) = hidden_in_macros(text).into_iter().next() {
        return Some(hidden);
    }
    let finder = Finder::new(source);
    let executed = finder.records.iter().find(|record| match &record.meaning {
        Meaning::Begin(directive) => !matches!(directive.association(), Association::Declarative),
        Meaning::End(_) | Meaning::Unknown(_) => true,
    });
    let directive = executed.map(|record| Hidden {
        offset: record.range.start,
        reason: "it holds directives".into(),
    });
    directive.or_else(|| {
        let call = finder.calls().into_iter().next()?;
        Some(Hidden {
            offset: call.name.start,
            reason: "it calls lock routines".into(),
        })
    })
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len())
        .any(|window| window.eq_ignore_ascii_case(part))
}
