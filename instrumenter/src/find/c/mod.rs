//! The front end for C and C++.
//!
//! The stages: lexer -> directive records and `#if` groups -> for each configuration the ends
//! of statements. These come from the tokens and, where the tokens leave a doubt, from a syntax
//! tree of the part in question.
//!
//! Preprocessed text is read in the same way. It has line markers (hidden like every `#` line),
//! no macros and no conditionals. Its parts that come from system headers are hidden, too.

mod attributes;
mod brackets;
mod calls;
mod classes;
pub(in crate::find) mod conditionals;
pub mod conditions;
mod configuration;
mod cross_check;
mod cursor;
mod definitions;
mod directives;
mod expand;
mod extents;
pub mod file;
mod items;
pub(in crate::find) mod lexer;
pub(in crate::find) mod line_directives;
mod loops;
mod macros;
mod matcher;
mod mentions;
mod own_lines;
pub(crate) mod preprocessed;
mod raw_directive;
mod rows;
pub mod scan;
mod sections;
mod statement_places;
mod tree;
mod updated;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::tree::has_errors;
use super::{
    Allowance, Branch, Expanded, Extent, Found, FoundDirective, FrontEnd, Hidden, LoopReader,
    MadeByMacros, NO_PLACE, Reading, Traits,
};
use crate::openmp::parse::joined;
use crate::openmp::{Association, Directive, Language};
use crate::source::{LineIndex, Source};
use conditionals::{Configuration, Groups, TOO_DEEP};
use configuration::View;
use lexer::{Lexed, Token};
use loops::Loops;
use macros::Macros;
use raw_directive::RawDirective;

/// The front end for C and C++; the source says which of them.
#[derive(Debug, Default)]
pub struct CFrontEnd;

impl FrontEnd for CFrontEnd {
    fn read<'s>(&self, source: &'s Source) -> Box<dyn Reading + 's> {
        Box::new(Finder::new(source))
    }

    fn text_begin(&self, text: &[u8]) -> usize {
        preprocessed::begin(text).unwrap_or_else(|| lexer::first_byte(text))
    }

    fn hidden(&self, text: &[u8]) -> Vec<Hidden> {
        scan::hidden_in_macros(text)
    }

    fn is_preprocessed(&self, text: &[u8]) -> bool {
        is_preprocessed(text)
    }

    fn token_ranges(&self, source: &Source) -> Vec<Range<usize>> {
        let lexed = lexer::lex(&source.text);
        let lines = lexed.lines.iter().flat_map(|line| &line.tokens);
        let tokens = lexed.code.iter().chain(lines);
        let mut ranges: Vec<_> = tokens.map(|token| token.range()).collect();
        ranges.sort_by_key(|range| range.start);
        ranges
    }
}

impl Reading for Finder<'_> {
    fn find(&self) -> Found {
        self.found()
    }

    fn has_errors(&self) -> Option<bool> {
        let text = &self.source.text;
        let configuration = self.groups.guarded_configuration(text, &self.lexed.lines);
        let all = 0..text.len();
        let hidden = self.hidden(&configuration, all.clone());
        has_errors(text, all, &hidden, &self.grammar)
    }

    fn disagreement(&self) -> Option<usize> {
        self.disputed()
    }

    fn made_by_macros(&self, included: &[Vec<u8>]) -> MadeByMacros {
        let function = |offset| Some(self.view_at(offset).ok()?.function_at(self, offset)?.name);
        let (uses, words) = scan::uses_of_hiding_macros(&self.source.text, &self.lexed, included);
        MadeByMacros {
            functions: match uses {
                Some(uses) => uses.into_iter().map(function).collect(),
                None => BTreeSet::from([None]),
            },
            words,
        }
    }

    fn without_preprocessor(&self, included: &[Vec<u8>]) -> Option<Expanded> {
        let expanded = expand::expanded(&self.source.text, &self.lexed, included);
        let text = expanded.as_ref().map_or(&self.source.text, |it| &it.text);
        match own_lines::as_pragmas(text) {
            Some(text) => Some(Expanded {
                text,
                optional: expanded.map(|it| it.optional).unwrap_or_default(),
            }),
            None => expanded,
        }
    }

    fn loops(&self) -> Box<dyn LoopReader + '_> {
        Box::new(Loops::new(self.source))
    }
}

fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Cxx => tree_sitter_cpp::LANGUAGE.into(),
        _ => tree_sitter_c::LANGUAGE.into(),
    }
}

/// The text of a token, splices removed.
fn text_of(text: &[u8], token: &Token) -> String {
    cursor::unspliced(&text[token.range()]).into_owned()
}

/// Words in front of the parentheses of a condition or a loop.
const HEADS: &[&str] = &["if", "for", "while", "switch"];

/// Whether a token, splices removed, is this text.
fn is_word(text: &[u8], token: &Token, word: &str) -> bool {
    let written = &text[token.range()];
    written == word.as_bytes()
        || (written.len() > word.len()
            && written.contains(&b'\\')
            && cursor::unspliced(written) == word)
}

/// The reason for a file whose last line would be joined with appended text.
const ENDS_OPEN: &str = "the file ends with a backslash, which is no C";

/// Whether the last line would be joined with an appended line. Compilers ignore blanks behind
/// the backslash.
fn ends_in_a_backslash(text: &[u8]) -> bool {
    text.trim_ascii_end().last() == Some(&b'\\') && !text.ends_with(b"\n")
}

/// The data of one source while its constructs are looked up.
struct Finder<'s> {
    source: &'s Source,
    language: Language,
    grammar: tree_sitter::Language,
    lexed: Lexed,
    groups: Groups,
    records: Vec<RawDirective>,
    /// The association of each record, if the record is understood.
    associations: Vec<Option<Association>>,
    /// For each record, whether a directive that stands alone comes before it in its sequence.
    follow_statements: Vec<bool>,
    lines: LineIndex,
    /// Names of macros with unbalanced braces.
    brace_macros: HashSet<String>,
    /// Whether a `#` is inside a line of code.
    has_stray_hash: bool,
    /// Whether the text is preprocessed: macros are expanded, even if the preprocessor left
    /// their definitions in.
    preprocessed: bool,
    /// The macros that the file defines.
    macros: OnceCell<Macros>,
    /// The parts that come from system headers, in order.
    system: Vec<Range<usize>>,
    /// The views made so far.
    views: RefCell<HashMap<Choices, Rc<View>>>,
    /// Whether each conditional is balanced.
    balanced: OnceCell<Vec<bool>>,
    allowance: Allowance,
}

/// The branches that are chosen instead of the default ones.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Choices {
    /// One branch for each of these conditionals, by their numbers.
    Of(Vec<(usize, usize)>),
    /// This branch in every balanced conditional of this depth.
    OfAll { depth: usize, branch: usize },
}

impl<'s> Finder<'s> {
    fn new(source: &'s Source) -> Self {
        let (text, language) = (&source.text, source.language);
        let has_markers = preprocessed::is_preprocessed(text);
        let preprocessed = has_markers && !preprocessed::keeps_macros(text);
        let system = match has_markers {
            true => preprocessed::system_ranges(text),
            false => Vec::new(),
        };
        let lexed = lexer::lex_without(text, &preprocessed::without_openmp(text, &system));
        let groups = Groups::new(text, &lexed.lines, language, &source.undefined);
        let records = directives::records(text, &lexed);
        let brace_macros = match preprocessed {
            true => HashSet::new(),
            false => brace_macros(text, &lexed),
        };
        let association = |record: &RawDirective| {
            let directive = record.parse(language).ok()?;
            Some(directive.association())
        };
        let associations: Vec<_> = records.iter().map(association).collect();
        Self {
            follow_statements: follow_statements(&records, &associations),
            associations,
            lines: LineIndex::new(text),
            has_stray_hash: lexed.code.iter().any(|token| token.is(b'#')),
            source,
            language,
            grammar: grammar(language),
            lexed,
            groups,
            records,
            brace_macros,
            macros: OnceCell::new(),
            preprocessed,
            system,
            views: RefCell::default(),
            balanced: OnceCell::new(),
            allowance: Allowance::new(text.len()),
        }
    }

    fn found(&self) -> Found {
        let text = &self.source.text;
        let lines =
            line_directives::line_map(&self.source.name, text, &self.lexed.lines, &self.groups);
        let mut routine_names = calls::positions(text, &self.lexed);
        if !self.preprocessed {
            calls::drop_macros(&mut routine_names, text, &self.lexed);
        }
        // Most files have no directives and no calls, so they need no tree.
        if self.records.is_empty() && routine_names.is_empty() {
            return Found {
                directives: Vec::new(),
                calls: Vec::new(),
                closed: Vec::new(),
                device: Vec::new(),
                declaring: Vec::new(),
                lines,
                traits: Traits::default(),
            };
        }
        let kept: Vec<usize> = (0..self.records.len())
            .filter(|index| !self.is_foreign(*index))
            .collect();
        let mut directives: Vec<_> = kept.iter().map(|index| self.directive(*index)).collect();
        for directive in &mut directives {
            renumber(directive, &kept);
        }
        let calls = routine_names
            .into_iter()
            .map(|call| {
                let view = self.view_at(call.name.start).ok();
                let function = view.and_then(|view| view.function_at(self, call.name.start));
                let branches = self.branches(call.name.start);
                call.found(function, branches)
            })
            .collect();
        Found {
            directives,
            calls,
            closed: self.closed(),
            device: Vec::new(),
            declaring: Vec::new(),
            lines,
            traits: Traits::default(),
        }
    }

    /// Whether a directive is in a system header and not understood: then it is not reported.
    fn is_foreign(&self, index: usize) -> bool {
        let record = &self.records[index];
        let understood = || record.parse(self.language).is_ok();
        self.is_in_system_header(record.range.start) && !understood()
    }

    fn is_in_system_header(&self, at: usize) -> bool {
        let behind = self.system.partition_point(|range| range.start <= at);
        behind > 0 && self.system[behind - 1].contains(&at)
    }

    /// The parts that must not be changed, with the reason.
    fn closed(&self) -> Vec<(Range<usize>, &'static str)> {
        let reason = preprocessed::SYSTEM_HEADER;
        let ranges = self.system.iter().cloned();
        let text = &self.source.text;
        let all = (0..text.len(), ENDS_OPEN);
        let all = ends_in_a_backslash(text).then_some(all);
        ranges.map(|range| (range, reason)).chain(all).collect()
    }

    /// Whether a name may be a macro: it is written in capitals, or defined in the same file.
    fn may_be_macro(&self, name: &str) -> bool {
        let capitals = !name.contains(|c: char| c.is_ascii_lowercase());
        capitals || self.macros().contain(name)
    }

    /// The association of a directive, if it is understood.
    fn association(&self, record: usize) -> Option<Association> {
        self.associations[record]
    }

    /// Whether a directive governs nothing.
    fn stands_alone(&self, record: usize) -> bool {
        self.association(record) == Some(Association::Standalone)
    }

    /// Whether a conditional is balanced, see [`Groups::balanced`].
    fn is_balanced(&self, group: usize) -> bool {
        let find = || self.groups.balanced(&self.lexed.code);
        self.balanced.get_or_init(find)[group]
    }

    /// The parts of the text that come from system headers and overlap a part of it.
    fn system_in(&self, part: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self.system.partition_point(|range| range.end <= part.start);
        let end = part.end;
        let ranges = self.system[first..].iter().cloned();
        ranges.take_while(move |range| range.start < end)
    }

    /// The macros that the file defines.
    fn macros(&self) -> &Macros {
        let (text, lines) = (&self.source.text, &self.lexed.lines);
        self.macros.get_or_init(|| Macros::new(text, lines))
    }

    /// The view that shows `offset`.
    ///
    /// # Errors
    /// If there are too many to look at.
    fn view_at(&self, offset: usize) -> Result<Rc<View>, String> {
        let choices = self.choices_at(offset);
        if let Some(view) = self.views.borrow().get(&choices) {
            return Ok(Rc::clone(view));
        }
        let is_default = matches!(&choices, Choices::Of(choices) if choices.is_empty());
        if !is_default {
            self.allowance.spend(self.source.text.len())?;
        }
        let view = Rc::new(View::new(self, &self.configuration(&choices)));
        self.views.borrow_mut().insert(choices, Rc::clone(&view));
        Ok(view)
    }

    /// The choices that show an offset. If the only other choice is in a balanced conditional,
    /// one view serves the offsets of many such conditionals.
    fn choices_at(&self, offset: usize) -> Choices {
        let choices = self.groups.choices_around(offset);
        match choices.as_slice() {
            [(group, branch)] if self.is_balanced(*group) => Choices::OfAll {
                depth: self.groups.depth(*group),
                branch: *branch,
            },
            _ => Choices::Of(choices),
        }
    }

    fn configuration(&self, choices: &Choices) -> Configuration {
        let mut configuration = self.groups.default_configuration();
        match choices {
            Choices::Of(choices) => {
                for (group, branch) in choices {
                    configuration[*group] = Some(*branch);
                }
            }
            Choices::OfAll { depth, branch } => {
                for (group, chosen) in configuration.iter_mut().enumerate() {
                    let has_it = self.groups.may_be_compiled(group, *branch);
                    if has_it && self.groups.depth(group) == *depth && self.is_balanced(group) {
                        *chosen = Some(*branch);
                    }
                }
            }
        }
        configuration
    }

    fn directive(&self, index: usize) -> FoundDirective {
        let record = &self.records[index];
        let view = match self.groups.is_too_deep(record.range.clone()) {
            true => Err(TOO_DEEP.to_owned()),
            false => self.view_at(record.range.start),
        };
        let parsed = record.parse(self.language);
        let directive = match (record.frozen, parsed) {
            (Some(reason), _) => Err(reason.to_owned()),
            (None, Ok(directive)) if directive.becomes_statements() => {
                match self.why_no_statement(index, view.as_deref().ok()) {
                    Some(reason) => Err(reason.to_owned()),
                    None => Ok(directive),
                }
            }
            (None, Ok(_)) if self.follows_unfinished_code(record) => Err(NO_PLACE.to_owned()),
            (None, parsed) => parsed.map_err(|error| error.to_string()),
        };
        let extent = match (&directive, &view) {
            (Ok(directive), Ok(view)) if !self.is_in_system_header(record.range.start) => {
                self.extent(index, directive, view)
            }
            (Ok(_), Err(reason)) => Extent::Unclear(reason.clone()),
            _ => Extent::None,
        };
        let loop_variables = match (&directive, &extent) {
            (Ok(directive), Extent::Body(body)) => self.loop_variables(directive, body.range.start),
            _ => Vec::new(),
        };
        let updated = match (&directive, &extent, &view) {
            (Ok(directive), Extent::Body(body), Ok(view)) if directive.writes_atomically() => {
                view.updated(self, record.range.start, &body.range)
            }
            _ => None,
        };
        let function = view.map(|view| view.function_at(self, record.range.start));
        let alone = directive
            .as_ref()
            .is_ok_and(|directive| directive.association() == Association::Standalone);
        let end = record.empty_statement.filter(|_| alone);
        let end = end.unwrap_or(record.range.end);
        FoundDirective {
            directive,
            range: record.range.start..end,
            text: format!("{} {}", record.sentinel, joined(&record.words)),
            words: record.words.clone(),
            placement: record.placement,
            extent,
            function: function.ok().flatten(),
            branches: self.branches(record.range.start),
            loop_variables,
            updated,
            sequence: record.sequence.clone(),
        }
    }

    fn loop_variables(&self, directive: &Directive, begin: usize) -> Vec<String> {
        let code = &self.lexed.code;
        let first = code.partition_point(|token| token.start() < begin);
        let levels = directive.associated_loops();
        loops::variables(&self.source.text, &code[first..], levels)
    }

    fn branches(&self, offset: usize) -> Vec<Branch> {
        self.groups.branches_at(offset)
    }

    /// Everything that the tree must not read of a part of the text in a configuration.
    fn hidden(&self, configuration: &Configuration, part: Range<usize>) -> Vec<Range<usize>> {
        let mut hidden = self.groups.hidden_in(configuration, &part);
        hidden.extend(self.system_in(&part));
        let lines = &self.lexed.lines;
        let from = lines.partition_point(|line| line.range.end < part.start);
        let until = lines.partition_point(|line| line.range.start < part.end);
        hidden.extend(lines[from..until].iter().map(|line| line.range.clone()));
        let records = &self.records;
        let until = records.partition_point(|record| record.range.start < part.end);
        let from = records.partition_point(|record| record.range.end < part.start);
        let records = records[from.min(until)..until].iter();
        hidden.extend(records.map(|record| record.range.clone()));
        hidden.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        hidden
    }
}

/// For each record, whether a directive that stands alone comes before it in its sequence.
fn follow_statements(records: &[RawDirective], associations: &[Option<Association>]) -> Vec<bool> {
    let begin = |at: usize| records[at].sequence.as_ref().map(|sequence| sequence.begin);
    let mut follow = vec![false; records.len()];
    for at in 1..records.len() {
        let is_next = begin(at).is_some() && begin(at) == begin(at - 1);
        let alone = associations[at - 1] == Some(Association::Standalone);
        follow[at] = is_next && (alone || follow[at - 1]);
    }
    follow
}

/// Makes sections refer to their directives by the index among those that were kept.
fn renumber(directive: &mut FoundDirective, kept: &[usize]) {
    let Extent::Body(body) = &mut directive.extent else {
        return;
    };
    for section in &mut body.sections {
        let among_kept = |record: usize| kept.partition_point(|index| *index < record);
        section.directive = section.directive.map(among_kept);
    }
}

/// Names of macros with unbalanced braces.
fn brace_macros(text: &[u8], lexed: &Lexed) -> HashSet<String> {
    let lines = lexed.lines.iter();
    lines
        .filter_map(|line| conditionals::hides_braces(text, line))
        .collect()
}

/// Whether a preprocessor wrote the text.
#[must_use]
pub fn is_preprocessed(text: &[u8]) -> bool {
    preprocessed::is_preprocessed(text)
}
