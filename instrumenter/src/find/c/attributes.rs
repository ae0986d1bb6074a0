//! Directives that are written as attributes: `[[omp::directive(...)]]`,
//! `[[omp::decl(...)]]`, `[[omp::sequence(...)]]`, also with `using omp:`.
//!
//! The directives of a sequence share one pair of brackets, with no room for a statement
//! between them. Each directive becomes a record of its own. The record says how to change the
//! text around the directive so that it gets brackets of its own:
//!
//! ```text
//! [[omp::sequence(directive(parallel), directive(for))]]
//! [[omp::directive (parallel)]] [[omp::directive(for)]]
//! ```

use std::ops::Range;

use super::lexer::{Token, TokenKind};
use super::raw_directive::{RawDirective, words};
use super::text_of;
use crate::find::{InSequence, Placement};
use crate::openmp::directives::DIRECTIVES;
use crate::openmp::{Association, Language};

/// The directives of all attributes.
pub(super) fn from_attributes(text: &[u8], code: &[Token]) -> Vec<RawDirective> {
    let mut all = Vec::new();
    // Most files have no attributes.
    if memchr::memmem::find(text, b"omp").is_none() {
        return all;
    }
    let closing = closing(code);
    let opens = |at: usize| code.get(at).is_some_and(|token| token.is(b'['));
    let mut begin = 0;
    while begin < code.len() {
        let last = closing[begin].filter(|_| opens(begin) && opens(begin + 1));
        // The last two brackets must be the `]]` that belongs to the `[[`.
        let end = last.map(|last| last + 1);
        let end = end.filter(|end| *end >= begin + 4 && code[end - 2].is(b']'));
        let list = end.map(|end| List {
            text,
            tokens: &code[begin..],
            closing: &closing[begin..],
            begin,
            end: end - begin,
            begins_statement: begins_statement(text, &code[..begin]),
        });
        match list.and_then(|list| Some((list.records()?, list.end))) {
            Some((records, length)) => {
                all.extend(records);
                begin += length;
            }
            None => begin += 1,
        }
    }
    all
}

/// A list of attributes: `[[`, items, `]]`.
struct List<'t> {
    text: &'t [u8],
    /// The tokens of the text from the first bracket on.
    tokens: &'t [Token],
    /// For each of these tokens the index of its closing bracket, among all tokens of the text.
    closing: &'t [Option<usize>],
    /// The index of the first bracket among all tokens of the text.
    begin: usize,
    /// The index behind the last bracket.
    end: usize,
    /// Whether a statement may begin with the list.
    begins_statement: bool,
}

/// The largest depth of sequences within sequences that is followed.
const DEEPEST: usize = 16;

/// A directive in a list.
struct Member {
    /// Indices of the tokens that name the directive: its own name and the names of the
    /// sequences that begin with it.
    head: Range<usize>,
    /// Indices of the tokens in its parentheses.
    arguments: Range<usize>,
}

impl List<'_> {
    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| text_of(self.text, token) == word)
    }

    /// The records of the list's directives. None if no attribute is OpenMP's.
    fn records(&self) -> Option<Vec<RawDirective>> {
        let inner = 2..self.end - 2;
        let using = self.is(2, "using") && self.is(3, "omp") && self.tokens[4].is(b':');
        let from = if using { 5 } else { 2 };
        let items = self.items(from..inner.end);
        let own = |item: &Range<usize>| {
            let prefixed = self.is(item.start, "omp");
            let qualified = |token: &Token| token.kind == TokenKind::DoubleColon;
            using || prefixed && self.tokens.get(item.start + 1).is_some_and(qualified)
        };
        let mut members = Vec::new();
        for item in items.iter().filter(|item| own(item)) {
            self.members(item.clone(), item.start, DEEPEST, &mut members)?;
        }
        let sequence = members.len() > 1 || self.holds_sequence(&members);
        // Attributes in front stay with the first directive, attributes behind with the last.
        let first = items.iter().position(&own)?;
        let last = items.iter().rposition(&own)?;
        let between = items[first..=last].iter().any(|item| !own(item));
        let frozen =
            (sequence && between).then_some("another attribute stands between its directives");
        let others_from = items.get(last + 1).map(|_| items[last].end);
        // Such an attribute belongs to a type or a name; compilers refuse or ignore it.
        let misplaced = (!self.begins_statement).then_some("no statement begins with it");
        let (start, end) = (self.tokens[0].start(), self.tokens[self.end - 1].end());
        let semicolon = self.tokens.get(self.end).filter(|token| token.is(b';'));
        let records = members.iter().enumerate().map(|(number, member)| {
            let next = members.get(number + 1);
            let offset = |member: &Member| self.tokens[member.head.start].start();
            let from = if number == 0 { start } else { offset(member) };
            RawDirective {
                range: from..next.map_or(end, offset),
                empty_statement: semicolon
                    .filter(|_| next.is_none())
                    .map(|token| token.end()),
                sentinel: "omp",
                table: DIRECTIVES,
                words: words(self.text, &self.tokens[member.arguments.clone()]),
                placement: Placement::Inline,
                frozen: misplaced.filter(|_| !self.declares(member)).or(frozen),
                sequence: sequence.then(|| InSequence {
                    begin: start,
                    edits: self.edits(member, number == 0, next, others_from),
                }),
            }
        });
        Some(records.collect()).filter(|records: &Vec<RawDirective>| !records.is_empty())
    }

    /// The parts of a list between its commas.
    fn items(&self, inner: Range<usize>) -> Vec<Range<usize>> {
        let mut items = Vec::new();
        let mut from = inner.start;
        let mut at = inner.start;
        while at < inner.end {
            match self.tokens[at].kind {
                TokenKind::Punctuation(b'(' | b'[' | b'{') => {
                    at = self.behind(at).unwrap_or(inner.end);
                    continue;
                }
                TokenKind::Punctuation(b',') => {
                    items.push(from..at);
                    from = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        items.push(from..inner.end);
        items.retain(|item| !item.is_empty());
        items
    }

    /// The index behind the bracket that closes the one at `open`.
    fn behind(&self, open: usize) -> Option<usize> {
        Some((*self.closing.get(open)?)? + 1 - self.begin)
    }

    /// Adds the directives of an item. `head` is the first token that belongs to the name of
    /// the first directive.
    fn members(
        &self,
        item: Range<usize>,
        head: usize,
        deepest: usize,
        members: &mut Vec<Member>,
    ) -> Option<()> {
        let name = match self.is(item.start, "omp") {
            true => item.start + 2,
            false => item.start,
        };
        let open = name + 1;
        let close = self.behind(open).filter(|behind| *behind <= item.end)? - 1;
        if self.is(name, "directive") || self.is(name, "decl") {
            members.push(Member {
                head: head..open,
                arguments: open + 1..close,
            });
        } else if self.is(name, "sequence") {
            for (number, inner) in self.items(open + 1..close).into_iter().enumerate() {
                let head = if number == 0 { head } else { inner.start };
                self.members(inner, head, deepest.checked_sub(1)?, members)?;
            }
        }
        Some(())
    }

    fn declares(&self, member: &Member) -> bool {
        self.is(member.head.end - 1, "decl")
    }

    fn holds_sequence(&self, members: &[Member]) -> bool {
        let in_head = |member: &Member| member.head.clone().any(|at| self.is(at, "sequence"));
        members.iter().any(in_head)
    }

    /// The edits that give a directive brackets of its own. White space stays as it is, since
    /// it may contain line breaks. Other attributes may follow the last directive, from the
    /// comma at the index `others_from` on.
    fn edits(
        &self,
        member: &Member,
        first: bool,
        next: Option<&Member>,
        others_from: Option<usize>,
    ) -> Edits {
        let mut head = member.head.clone();
        let mut edits = Edits::new();
        let opening = match first {
            // `[[omp::` or `[[using omp:` stays in front of the first directive.
            true => {
                head.start += if self.is(head.start, "omp") { 2 } else { 0 };
                "directive"
            }
            false => "[[omp::directive",
        };
        self.replace(head, opening, &mut edits);
        let behind = member.arguments.end + 1;
        let closing = match () {
            () if next.is_none() && others_from.is_some() => "",
            () if next.is_none() => "]]",
            // A directive that stands alone needs an empty statement after it.
            () if self.stands_alone(member) => "]];",
            () => "]]",
        };
        let until = next.map_or(others_from.unwrap_or(self.end), |next| next.head.start);
        self.replace(behind..until, closing, &mut edits);
        edits
    }

    /// Puts a text in the place of some tokens.
    fn replace(&self, tokens: Range<usize>, text: &'static str, edits: &mut Edits) {
        let ranges = self.tokens[tokens].iter().map(|token| token.range());
        let texts = std::iter::once(text).chain(std::iter::repeat(""));
        edits.extend(ranges.zip(texts));
    }

    fn stands_alone(&self, member: &Member) -> bool {
        let words = words(self.text, &self.tokens[member.arguments.clone()]);
        crate::openmp::parse::parse(&words, DIRECTIVES, Language::Cxx)
            .is_ok_and(|directive| directive.association() == Association::Standalone)
    }
}

/// Whether a statement may begin after these tokens.
fn begins_statement(text: &[u8], before: &[Token]) -> bool {
    let Some(last) = before.last() else {
        return true;
    };
    match last.kind {
        TokenKind::Identifier => ["else", "do"].contains(&text_of(text, last).as_str()),
        // A statement may begin behind other attributes (`]]`), but not behind an array's size.
        TokenKind::Punctuation(b']') => before.iter().rev().nth(1).is_some_and(|t| t.is(b']')),
        TokenKind::Punctuation(mark) => b";{}):".contains(&mark),
        _ => false,
    }
}

type Edits = Vec<(Range<usize>, &'static str)>;

/// The index of the closing bracket of each opening one. The kinds of brackets are not
/// compared. A semicolon leaves all open brackets without a partner.
fn closing(code: &[Token]) -> Vec<Option<usize>> {
    let mut closing = vec![None; code.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in code.iter().enumerate() {
        match token.kind {
            TokenKind::Punctuation(b'[' | b'(' | b'{') => open.push(index),
            TokenKind::Punctuation(b']' | b')' | b'}') => {
                if let Some(at) = open.pop() {
                    closing[at] = Some(index);
                }
            }
            TokenKind::Punctuation(b';') => open.clear(),
            _ => {}
        }
    }
    closing
}
