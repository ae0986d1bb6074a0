//! The macros of a source and of the files that it includes, and what their uses become (C11, section
//! 6.10.3).

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::conditionals::word;
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind, lex};
use super::text_of;

/// A token, and whether there is a blank in front of it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: TokenKind,
    pub(super) text: String,
    pub(super) is_spaced: bool,
}

/// What the use of a macro becomes, and of how many tokens the use is.
pub(super) struct Expansion {
    pub(super) made: Vec<Piece>,
    pub(super) taken: usize,
    /// Whether the use may become nothing, under another condition.
    pub(super) is_optional: bool,
}

/// The tokens of a macro with operands, and their names.
#[derive(Debug)]
struct Definition {
    parameters: Option<Vec<String>>,
    body: Vec<Piece>,
    /// Where the source itself defines it.
    at: Option<usize>,
    /// Whether a condition must hold for it. Otherwise the macro stands for nothing, or is not used.
    is_optional: bool,
}

/// Macros by their names. None stands for a macro that may stand for several things.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    known: HashMap<String, Option<Definition>>,
    /// How many tokens were looked at for expansions.
    steps: Cell<usize>,
}

/// The name of all operands that have none.
const REST: &str = "__VA_ARGS__";

/// More tokens than any use of a macro that makes a directive becomes.
const MOST_TOKENS: usize = 10_000;
/// More expansions in one another than any such use has.
const DEEPEST: usize = 200;
/// More tokens than are looked at for all uses of a source.
const MOST_STEPS: usize = 10_000_000;

/// The state of an expansion.
#[derive(Default)]
struct Work {
    /// The macros that are being expanded, which are not expanded again.
    active: Vec<String>,
    depth: usize,
    /// Whether one of the macros may stand for nothing.
    is_optional: bool,
}

impl Piece {
    pub(super) fn of<'t>(text: &'t [u8], tokens: &'t [Token]) -> impl Iterator<Item = Self> + 't {
        let ends = std::iter::once(None).chain(tokens.iter().map(|token| Some(token.end())));
        tokens.iter().zip(ends).map(|(token, before)| Self {
            kind: token.kind,
            text: text_of(text, token),
            is_spaced: before.is_some_and(|end| end < token.start()),
        })
    }

    fn is(&self, mark: u8) -> bool {
        self.kind == TokenKind::Punctuation(mark)
    }
}

impl Definitions {
    pub(super) fn new(text: &[u8], lexed: &Lexed, included: &[Vec<u8>]) -> Self {
        let mut all = Self::default();
        for header in included {
            all.read(header, &lex(header), false);
        }
        all.read(text, lexed, true);
        all
    }

    fn read(&mut self, text: &[u8], lexed: &Lexed, is_source: bool) {
        // All of a header may be under the condition that it was not included before.
        let unconditional = usize::from(has_guard(text, lexed));
        let mut depth = 0_usize;
        for line in &lexed.lines {
            match &*word(text, line, 0) {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" => depth = depth.saturating_sub(1),
                "undef" => {
                    self.known.insert(word(text, line, 1).into_owned(), None);
                }
                "define" => {
                    let is_certain = depth <= unconditional;
                    let read = Definition::read(text, line, is_source).map(|read| Definition {
                        is_optional: !is_certain,
                        ..read
                    });
                    match self.known.entry(word(text, line, 1).into_owned()) {
                        Entry::Vacant(free) => {
                            free.insert(read);
                        }
                        Entry::Occupied(mut known) => {
                            let before = known.insert(None);
                            let both = before.zip(read);
                            known.insert(both.and_then(|(one, other)| one.or(other)));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The macros with such a word, or with one of these macros.
    pub(super) fn makers(&self, makes: impl Fn(&str) -> bool) -> HashSet<String> {
        // The macros in which a word stands.
        let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, definition) in &self.known {
            let body = definition.iter().flat_map(|one| &one.body);
            for piece in body.filter(|piece| piece.kind == TokenKind::Identifier) {
                users.entry(&piece.text).or_default().push(name);
            }
        }
        let mut found = HashSet::new();
        let mut next: Vec<&str> = users.keys().copied().filter(|word| makes(word)).collect();
        while let Some(word) = next.pop() {
            for name in users.get(word).into_iter().flatten() {
                if found.insert((*name).to_owned()) {
                    next.push(name);
                }
            }
        }
        found
    }

    pub(super) fn contain(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Whether a macro is defined in front of a place in the source.
    pub(super) fn is_before(&self, name: &str, place: usize) -> bool {
        let definition = self.known.get(name).and_then(Option::as_ref);
        definition.is_some_and(|one| one.at.is_none_or(|at| at < place))
    }

    /// Expands the macro with whose name these pieces begin. None if it can't be told what it becomes.
    pub(super) fn expand_first(&self, pieces: impl Iterator<Item = Piece>) -> Option<Expansion> {
        let mut pieces = pieces.peekable();
        let name = pieces.next()?;
        let definition = self.known.get(&name.text)?.as_ref()?;
        let mut used = vec![name];
        if definition.parameters.is_some() {
            let mut depth = 0_usize;
            pieces.peek().filter(|piece| piece.is(b'('))?;
            loop {
                let piece = pieces.next().filter(|_| used.len() < MOST_TOKENS)?;
                depth += usize::from(piece.is(b'('));
                depth -= usize::from(piece.is(b')'));
                used.push(piece);
                if depth == 0 {
                    break;
                }
            }
        }
        let mut work = Work::default();
        let made = self.expand(&used, &mut work)?;
        let (taken, is_optional) = (used.len(), work.is_optional);
        Some(Expansion {
            made,
            taken,
            is_optional,
        })
    }

    /// Expands all macros but those that are being expanded. None if that can't be told, or takes too
    /// long.
    fn expand(&self, pieces: &[Piece], work: &mut Work) -> Option<Vec<Piece>> {
        self.steps.set(self.steps.get() + pieces.len() + 1);
        work.depth += 1;
        if self.steps.get() > MOST_STEPS || work.depth > DEEPEST {
            return None;
        }
        let mut made: Vec<Piece> = Vec::new();
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            at += 1;
            let known = self.known.get(&piece.text);
            let is_active = work.active.contains(&piece.text);
            let Some(known) = known.filter(|_| piece.kind == TokenKind::Identifier && !is_active)
            else {
                made.push(piece.clone());
                continue;
            };
            let definition = known.as_ref()?;
            work.is_optional |= definition.is_optional;
            let mut operands = Vec::new();
            if definition.parameters.is_some() {
                // A name that ends an expansion may get its operands from behind it.
                pieces.get(at)?;
                let Some((found, behind)) = split(pieces, at) else {
                    made.push(piece.clone());
                    continue;
                };
                operands = found;
                at = behind;
            }
            let body = self.substitute(definition, &operands, work)?;
            work.active.push(piece.text.clone());
            let mut body = self.expand(&body, work)?;
            work.active.pop();
            if let Some(first) = body.first_mut() {
                first.is_spaced = piece.is_spaced;
            }
            made.append(&mut body);
            if made.len() > MOST_TOKENS {
                return None;
            }
        }
        work.depth -= 1;
        Some(made)
    }

    /// The body of a macro, with operands in the places of their names.
    fn substitute(
        &self,
        definition: &Definition,
        operands: &[Vec<Piece>],
        work: &mut Work,
    ) -> Option<Vec<Piece>> {
        let Some(parameters) = &definition.parameters else {
            return Some(definition.body.clone());
        };
        let operands = match parameters.split_last() {
            Some((last, named)) if last == REST => gathered(operands, named.len())?,
            None if operands.iter().all(Vec::is_empty) => Vec::new(),
            _ => operands.to_vec(),
        };
        if operands.len() != parameters.len() {
            return None;
        }
        let operand = |piece: &Piece| {
            let number = parameters.iter().position(|name| *name == piece.text)?;
            operands.get(number)
        };
        let mut made = Vec::new();
        let mut body = definition.body.iter();
        while let Some(piece) = body.next() {
            let mut put = match operand(piece) {
                // A string of the operand as it is written.
                _ if piece.is(b'#') => vec![string(body.next().and_then(operand)?)],
                Some(operand) => self.expand(operand, work)?,
                None => vec![piece.clone()],
            };
            if let Some(first) = put.first_mut() {
                first.is_spaced = piece.is_spaced;
            }
            made.append(&mut put);
            if made.len() > MOST_TOKENS {
                return None;
            }
        }
        Some(made)
    }
}

impl Definition {
    /// Reads a definition. None if it joins names, or if its operands are not understood.
    fn read(text: &[u8], line: &PreprocessorLine, is_source: bool) -> Option<Self> {
        let [_, name, rest @ ..] = line.tokens.as_slice() else {
            return None;
        };
        let pieces: Vec<Piece> = Piece::of(text, rest).collect();
        if pieces
            .windows(2)
            .any(|two| two.iter().all(|piece| piece.is(b'#')))
        {
            return None;
        }
        let at = is_source.then_some(line.range.start);
        let has_parameters = rest
            .first()
            .is_some_and(|open| open.is(b'(') && open.start() == name.end());
        if !has_parameters {
            let parameters = None;
            let body = pieces;
            return Some(Self {
                parameters,
                body,
                at,
                is_optional: false,
            });
        }
        let close = pieces.iter().position(|piece| piece.is(b')'))?;
        let mut parameters = Vec::new();
        for one in pieces[1..close].split(|piece| piece.is(b',')) {
            match one {
                [name] if name.kind == TokenKind::Identifier => parameters.push(name.text.clone()),
                dots if dots.len() == 3 && dots.iter().all(|dot| dot.is(b'.')) => {
                    parameters.push(REST.to_owned());
                }
                [] if close == 1 => {}
                _ => return None,
            }
        }
        let body = pieces[close + 1..].to_vec();
        Some(Self {
            parameters: Some(parameters),
            body,
            at,
            is_optional: false,
        })
    }

    /// What the macro stands for with these two definitions: the same with both, or nothing with one of
    /// them. None if it may stand for two things.
    fn or(self, other: Self) -> Option<Self> {
        let is_same = self.parameters == other.parameters
            && self
                .body
                .iter()
                .map(|piece| &piece.text)
                .eq(other.body.iter().map(|piece| &piece.text));
        let at = self.at.min(other.at);
        let is_optional = self.is_optional && other.is_optional;
        match () {
            () if is_same => Some(Self {
                at,
                is_optional,
                ..self
            }),
            () if other.makes_nothing() => Some(Self {
                is_optional: true,
                ..self
            }),
            () if self.makes_nothing() => Some(Self {
                is_optional: true,
                ..other
            }),
            () => None,
        }
    }

    /// Whether it stands for nothing, or for a statement that does nothing.
    fn makes_nothing(&self) -> bool {
        let body: String = self.body.iter().map(|piece| &*piece.text).collect();
        let statement = body.strip_suffix(';').unwrap_or(&body);
        matches!(
            statement,
            "" | "{}" | "(void)0" | "((void)0)" | "do{}while(0)"
        )
    }
}

/// Whether a file begins with `#ifndef NAME` and `#define NAME`.
fn has_guard(text: &[u8], lexed: &Lexed) -> bool {
    let [condition, definition, ..] = lexed.lines.as_slice() else {
        return false;
    };
    word(text, condition, 0) == "ifndef"
        && word(text, definition, 0) == "define"
        && word(text, condition, 1) == word(text, definition, 1)
        && definition.tokens.len() == 2
}

/// The operands in the parentheses that open at a place, and the place behind these. None if there are
/// none.
fn split(pieces: &[Piece], open: usize) -> Option<(Vec<Vec<Piece>>, usize)> {
    pieces.get(open).filter(|piece| piece.is(b'('))?;
    let mut operands = vec![Vec::new()];
    let mut depth = 0_usize;
    for (at, piece) in pieces.iter().enumerate().skip(open + 1) {
        match piece.kind {
            TokenKind::Punctuation(b')') if depth == 0 => return Some((operands, at + 1)),
            TokenKind::Punctuation(b',') if depth == 0 => {
                operands.push(Vec::new());
                continue;
            }
            TokenKind::Punctuation(b'(') => depth += 1,
            TokenKind::Punctuation(b')') => depth -= 1,
            _ => {}
        }
        operands.last_mut()?.push(piece.clone());
    }
    None
}

/// The operands with a name, and all others as one.
fn gathered(operands: &[Vec<Piece>], named: usize) -> Option<Vec<Vec<Piece>>> {
    let (own, others) = operands.split_at_checked(named)?;
    let comma = Piece {
        kind: TokenKind::Punctuation(b','),
        text: ",".to_owned(),
        is_spaced: false,
    };
    let mut all = own.to_vec();
    all.push(others.join(&comma));
    Some(all)
}

/// A string with the text of an operand.
fn string(operand: &[Piece]) -> Piece {
    let mut text = String::from("\"");
    for (number, piece) in operand.iter().enumerate() {
        if piece.is_spaced && number > 0 {
            text.push(' ');
        }
        match piece.kind {
            TokenKind::Literal => {
                text.push_str(&piece.text.replace('\\', "\\\\").replace('"', "\\\""));
            }
            _ => text.push_str(&piece.text),
        }
    }
    text.push('"');
    Piece {
        kind: TokenKind::Literal,
        text,
        is_spaced: false,
    }
}
