//! The heads of loops in Fortran.
//!
//! The expressions of a head are copied into inserted text. So only expressions without side
//! effects are accepted: names, numbers, arithmetic, and elements of declared arrays. An
//! undeclared name with parentheses may be a function call.

use std::ops::Range;
use std::rc::Rc;

use super::Finder;
use super::classify::StatementKind;
use super::configuration::View;
use super::logical::Logical;
use super::statements::Statement;
use super::structure::Element;
use super::tokens::{Token, TokenKind};
use crate::find::{Level, LoopNest, LoopReader, Position, Relation};

/// Intrinsic functions without side effects.
const INTRINSICS: &[&str] = &[
    "abs", "int", "iand", "ishft", "lbound", "len", "max", "min", "mod", "modulo", "size", "ubound",
];

/// Words that begin declarations of arrays.
const DECLARING: &[&str] = &[
    "integer",
    "dimension",
    "common",
    "allocatable",
    "pointer",
    "target",
    "type",
];

impl LoopReader for &Finder<'_> {
    fn nest(&self, begin: usize, levels: usize) -> Result<LoopNest, String> {
        let view = self.view_at(begin)?;
        let start = |item: &Element| match item {
            Element::Statement(index) => view.statements[*index].range.start,
            Element::Directive(index) => self.records[*index].range.start,
        };
        let first = view.items.partition_point(|item| start(item) < begin);
        let is_there = view
            .items
            .get(first)
            .is_some_and(|item| start(item) == begin);
        let first = is_there.then_some(first).ok_or("its loop is not found")?;
        if in_a_choice(&self.source.text, begin) {
            return Err("its head is one of several that a conditional chooses from".to_owned());
        }
        let mut nest = LoopNest::default();
        for item in first..first + levels {
            let (statement, line) = do_statement(&view, item)?;
            let level = level(&view, line, statement)?;
            let outer = |word: &str| nest.levels.iter().any(|l| is(&l.variable, word));
            let bounds = [&level.lower, &level.upper, &level.step];
            if bounds.iter().any(|bound| bound.split(' ').any(outer)) {
                return Err("the bounds of an inner loop depend on an outer one".to_owned());
            }
            nest.levels.push(level);
            if levels > 1 && self.source.text[begin..line.after].contains(&b'#') {
                return Err("a preprocessing line stands between its loops".to_owned());
            }
            nest.body = match statement.next_in_line {
                Some(at) => Position {
                    at,
                    line_start: false,
                },
                None => Position {
                    at: line.after,
                    line_start: true,
                },
            };
        }
        Ok(nest)
    }

    fn expression(&self, range: Range<usize>) -> Option<String> {
        let all = self.logical();
        let behind = all.partition_point(|line| line.range.start <= range.start);
        let line = all[..behind].last()?;
        if !line.range.contains(&range.start) {
            return None;
        }
        let within = |token: &&Token| range.contains(&line.source(token).start);
        let tokens: Vec<Token> = line.tokens.iter().filter(within).cloned().collect();
        plain(&*self.view_at(range.start).ok()?, line, &tokens).ok()?;
        Some(join(line, &tokens))
    }
}

/// The variables of up to `levels` nested loops, the first of which begins at an offset. The
/// rest of the heads may have any form.
pub(super) fn variables(view: &Rc<View>, begin: usize, levels: usize) -> Vec<String> {
    if levels == 0 {
        return Vec::new();
    }
    let starts = |statement: &Statement| statement.range.start < begin;
    let first = view.statements.partition_point(starts);
    let loops = view.statements.iter().zip(&view.line_of).skip(first);
    let variable = |(statement, line): (&Statement, &usize)| {
        let line = &view.lines[*line];
        let is_loop = matches!(statement.kind, StatementKind::Do { .. });
        let tokens = &line.tokens[statement.tokens.clone()];
        let equals = tokens.iter().position(|token| line.text(token) == b"=")?;
        let name = tokens[..equals].last().filter(|_| is_loop)?;
        Some(String::from_utf8_lossy(line.text(name)).into_owned())
    };
    loops.map_while(variable).take(levels).collect()
}

/// Whether a conditional begins or continues between a loop and its directive, so that the
/// directive is not in its branch.
fn in_a_choice(text: &[u8], begin: usize) -> bool {
    let line = text[..begin].iter().rposition(|byte| *byte == b'\n');
    let before = text[..line.unwrap_or(0)].rsplit(|byte| *byte == b'\n');
    let is_between = |line: &&[u8]| match line {
        [b'#', ..] => true,
        [b'!' | b'c' | b'C' | b'*', second, ..] => *second != b'$',
        line => {
            let line = line.trim_ascii_start();
            line.is_empty() || line.starts_with(b"!") && !line.starts_with(b"!$")
        }
    };
    let mut between = before.take_while(is_between);
    between.any(|line| {
        let word = line
            .strip_prefix(b"#")
            .unwrap_or_default()
            .trim_ascii_start();
        word.starts_with(b"if") || word.starts_with(b"el")
    })
}

/// The loop that an item begins.
fn do_statement(view: &Rc<View>, item: usize) -> Result<(&Statement, &Logical), String> {
    let Some(Element::Statement(index)) = view.items.get(item) else {
        return Err("a directive stands in front of its loop".to_owned());
    };
    let statement = &view.statements[*index];
    match statement.kind {
        StatementKind::Do {
            concurrent: false, ..
        } => Ok((statement, &view.lines[view.line_of[*index]])),
        _ => Err("its loop is not a plain do".to_owned()),
    }
}

/// `do [label] [,] variable = lower, upper [, step]`
fn level(view: &View, line: &Logical, statement: &Statement) -> Result<Level, String> {
    let unclear = || "the head of its loop is not understood".to_owned();
    let tokens = &line.tokens[statement.tokens.clone()];
    let text = |token: &Token| String::from_utf8_lossy(line.text(token)).into_owned();
    let equals = tokens.iter().position(|token| line.text(token) == b"=");
    let equals = equals.ok_or_else(unclear)?;
    let (head, rest) = (&tokens[..equals], &tokens[equals + 1..]);
    let variable = head.last().filter(|_| head.len() >= 2);
    let variable = variable.filter(|name| name.kind == TokenKind::Word);
    let variable = text(variable.ok_or_else(unclear)?);
    let in_front = &head[1..head.len() - 1];
    let is_known = |token: &Token| token.kind == TokenKind::Number || line.text(token) == b",";
    if !is(&text(&head[0]), "do") || !in_front.iter().all(is_known) {
        return Err(unclear());
    }
    let parts = parts(line, rest);
    let (lower, upper, step) = match parts.as_slice() {
        [lower, upper] => (lower, upper, None),
        [lower, upper, step] => (lower, upper, Some(step)),
        _ => return Err(unclear()),
    };
    for part in &parts {
        plain(view, line, part)?;
    }
    Ok(Level {
        lower: join(line, lower),
        upper: join(line, upper),
        relation: Relation::Until,
        step: step.map_or_else(|| "1".to_owned(), |step| join(line, step)),
        is_down: false,
        may_be_object: false,
        row: None,
        range: None,
        variable,
    })
}

/// The parts between commas outside parentheses.
fn parts<'t>(line: &Logical, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    let mut depth = 0i32;
    tokens
        .split(|token| {
            match line.text(token) {
                b"(" => depth += 1,
                b")" => depth -= 1,
                _ => {}
            }
            depth == 0 && line.text(token) == b","
        })
        .collect()
}

/// Fails if an expression may have side effects.
fn plain(view: &View, line: &Logical, tokens: &[Token]) -> Result<(), String> {
    let calls = |at: usize, token: &Token| {
        let opens = tokens.get(at + 1).is_some_and(|t| line.text(t) == b"(");
        token.kind == TokenKind::Word && opens
    };
    let is_component = |at: usize| at > 0 && line.text(&tokens[at - 1]) == b"%";
    for (at, token) in tokens.iter().enumerate() {
        let name = String::from_utf8_lossy(line.text(token)).into_owned();
        let only_reads = || {
            INTRINSICS.iter().any(|intrinsic| is(intrinsic, &name))
                || !is_component(at) && declares_array(view, &name)
        };
        if token.kind == TokenKind::Text || calls(at, token) && !only_reads() {
            return Err("a bound of its loop may have side effects".to_owned());
        }
    }
    match tokens.is_empty() {
        true => Err("the head of its loop is not understood".to_owned()),
        false => Ok(()),
    }
}

/// Whether a visible statement declares an array of this name.
fn declares_array(view: &View, name: &str) -> bool {
    let all = || {
        let statements = view.statements.iter().zip(&view.line_of);
        statements
            .flat_map(|(statement, line)| arrays(&view.lines[*line], statement))
            .collect()
    };
    view.arrays
        .get_or_init(all)
        .contains(&name.to_ascii_lowercase())
}

/// The arrays that a statement declares, in lower case.
fn arrays(line: &Logical, statement: &Statement) -> Vec<String> {
    let tokens = &line.tokens[statement.tokens.clone()];
    let text = |at: usize| {
        let word = tokens.get(at).map(|token| line.text(token));
        String::from_utf8_lossy(word.unwrap_or_default()).to_ascii_lowercase()
    };
    let begins = DECLARING.contains(&&*text(0));
    if statement.kind != StatementKind::Other || !begins {
        return Vec::new();
    }
    let colons = (0..tokens.len()).find(|at| text(*at) == "::");
    let has_shape = (0..colons.unwrap_or(0)).any(|at| text(at) == "dimension");
    let names = colons.map_or(1, |at| at + 1)..tokens.len();
    let arrays = names.filter(|at| has_shape || text(*at + 1) == "(");
    arrays.map(text).collect()
}

fn join(line: &Logical, tokens: &[Token]) -> String {
    let words = tokens.iter().map(|t| String::from_utf8_lossy(line.text(t)));
    words.collect::<Vec<_>>().join(" ")
}

fn is(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::in_a_choice;

    #[test]
    fn a_head_in_a_branch_that_its_directive_is_not_in_is_told() {
        for (text, expected) in [
            ("!$omp do\n#ifdef A\n  do i", true),
            ("!$omp do\n# if A\n\n! why\n  do i", true),
            ("!$omp do\n#if A\n  do j\n#else\n  do i", true),
            ("#if A\n!$omp do\n  do i", false),
            ("#if A\n!$omp do\n#endif\n  do i", false),
            ("!$omp do\n# 12 \"a.f90\"\n  do i", false),
            ("#if A\nx = 1\n  do i", false),
            ("do i", false),
        ] {
            let begin = text.rfind("do i").unwrap();
            assert_eq!(in_a_choice(text.as_bytes(), begin), expected, "{text}");
        }
    }
}
