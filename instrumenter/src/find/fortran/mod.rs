//! The front end for Fortran, free and fixed form.
//!
//! The stages: physical lines -> logical lines -> statements and directive records -> for each
//! configuration of the conditionals, a token-level matcher, checked by a syntax tree of the
//! statements alone. Form, sentinels, labels, continuations and the column limit concern only
//! the lexer. Everything behind it is the same in both forms.

mod calls;
mod card;
mod classify;
mod closed;
mod conditions;
mod configuration;
mod cross_check;
mod declaring;
mod directives;
mod extents;
mod frames;
mod glue;
pub mod jumps;
mod logical;
mod loops;
pub mod marks;
mod nesting;
mod physical;
mod places;
#[cfg(test)]
mod properties;
pub mod scan;
mod sections;
mod squeezed;
mod statements;
mod structure;
#[cfg(test)]
mod tests;
mod tokens;
mod unit_heads;
mod updated;
mod words;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::c::conditionals::{Groups, TOO_DEEP, word};
use super::c::lexer::{PreprocessorLine, lex_part};
use super::c::{line_directives, preprocessed};
use super::{
    Allowance, Branch, Expanded, Extent, Found, FoundDirective, FrontEnd, Function, Hidden,
    LoopReader, MadeByMacros, NO_PLACE, Placement, Reading, Traits,
};
use crate::openmp::Language;
use crate::openmp::parse::joined;
use crate::source::{Form, LineIndex, Source};
use classify::StatementKind;
use conditions::{ChoiceKey, Conditions};
use configuration::View;
use directives::{DirectiveLines, Meaning};
use logical::{Logical, logical_lines};
use physical::{Continued, Kind, Physical};
use statements::{Statement, statements};
use structure::Element;

/// Properties of Fortran that change how constructs are planned.
const TRAITS: Traits = Traits {
    folds_case: true,
    private_by_rule: true,
    declares_in_procedures: true,
    types_functions: true,
    has_no_locals: true,
    own_nest_locks: true,
    allocates_as_outside: true,
};

/// The reason for leaving a construct alone if a continuation line would continue inserted
/// text.
const STRAY: &str = "a line behind it continues something else";

/// The number of views that are kept. Neighbouring directives mostly have the same view.
const MAX_VIEWS: usize = 8;

/// The front end for Fortran; the source says in which form.
#[derive(Debug, Default)]
pub struct FortranFrontEnd;

impl FrontEnd for FortranFrontEnd {
    fn read<'s>(&self, source: &'s Source) -> Box<dyn Reading + 's> {
        Box::new(Finder::new(source))
    }

    fn text_begin(&self, text: &[u8]) -> usize {
        preprocessed::begin(text).unwrap_or_else(|| physical::first_byte(text))
    }

    fn hidden(&self, text: &[u8]) -> Vec<Hidden> {
        scan::hidden_in_macros(text)
    }

    fn is_preprocessed(&self, text: &[u8]) -> bool {
        preprocessed::is_preprocessed(text)
    }

    /// Returns sentinels and labels as tokens, too.
    fn token_ranges(&self, source: &Source) -> Vec<Range<usize>> {
        let finder = Finder::new(source);
        let all = logical_lines(&source.text, finder.lines.iter(), finder.form);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for line in &all {
            ranges.extend(line.tokens.iter().map(|token| line.source(token)));
        }
        for line in &finder.lines {
            ranges.extend(physical::sentinel(&source.text, line));
        }
        let lines = finder.preprocessor.iter().flat_map(|line| &line.tokens);
        ranges.extend(lines.map(|token| token.range()));
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
        let configuration = self.groups.guarded_configuration(text, &self.preprocessor);
        View::new(self, &configuration, None).has_errors(text)
    }

    fn disagreement(&self) -> Option<usize> {
        self.disputed()
    }

    fn made_by_macros(&self, included: &[Vec<u8>]) -> MadeByMacros {
        let texts = included.iter().chain([&self.source.text]);
        let hidden = texts.flat_map(|text| scan::hidden_in_macros(text));
        MadeByMacros {
            functions: hidden.map(|_| None).collect(),
            words: None,
        }
    }

    fn without_preprocessor(&self, _included: &[Vec<u8>]) -> Option<Expanded> {
        let mut text = self.source.text.clone();
        for directive in self.logical().iter().filter(|line| line.broken) {
            let is_inside = |line: &&PreprocessorLine| directive.range.contains(&line.range.start);
            let lines: Vec<_> = self.preprocessor.iter().filter(is_inside).collect();
            // Of alternatives only one is compiled.
            let is_alternative =
                |line: &&PreprocessorLine| word(&self.source.text, line, 0).starts_with("el");
            if directive.sentinel.is_none() || lines.iter().any(is_alternative) {
                continue;
            }
            for line in lines {
                for byte in &mut text[line.range.clone()] {
                    if !matches!(*byte, b'\n' | b'\r') {
                        *byte = b' ';
                    }
                }
            }
        }
        (text != self.source.text).then(|| Expanded {
            text,
            optional: BTreeSet::new(),
        })
    }

    fn main_program(&self) -> Option<String> {
        let lines = self.logical().iter();
        let lines = lines.filter(|line| line.sentinel.is_none());
        let statements = lines.flat_map(|line| statements(line, self.form));
        let mut names = statements.filter_map(|statement| match statement.kind {
            StatementKind::Unit(head) if head.kind == unit_heads::UnitKind::Program => head.name,
            _ => None,
        });
        let name = names.next()?;
        // Of programs in several branches only one is compiled.
        names.all(|other| other == name).then_some(name)
    }

    fn loops(&self) -> Box<dyn LoopReader + '_> {
        Box::new(self)
    }
}

/// The data of one source while its constructs are looked up.
struct Finder<'s> {
    source: &'s Source,
    form: Form,
    lines: Vec<Physical>,
    preprocessor: Vec<PreprocessorLine>,
    groups: Groups,
    conditions: Conditions,
    continued: Continued,
    records: Vec<DirectiveLines>,
    /// The bytes of lines that the nesting depends on.
    structural: Vec<Range<usize>>,
    /// For each conditional, whether it contains such a line.
    structural_groups: OnceCell<Vec<bool>>,
    /// The most recent views.
    views: RefCell<Vec<(ChoiceKey, Rc<View>)>>,
    /// The parts where no call may be inserted, in any view.
    closed: RefCell<Vec<(Range<usize>, &'static str)>>,
    /// The parts that may be compiled for a device, in any view.
    device: RefCell<Vec<Range<usize>>>,
    /// The parts where a procedure must be declared before it is called, in any view.
    declaring: RefCell<Vec<Range<usize>>>,
    /// The logical lines of all branches together.
    logical: OnceCell<Vec<Logical>>,
    index: LineIndex,
    allowance: Allowance,
}

impl<'s> Finder<'s> {
    fn new(source: &'s Source) -> Self {
        let (text, form) = (&source.text, source.layout.form);
        let lines = physical::lines(text, source.layout);
        let preprocessor: Vec<PreprocessorLine> = lines
            .iter()
            .filter(|line| line.kind == Kind::Preprocessor)
            .map(|line| PreprocessorLine {
                range: line.range.clone(),
                tokens: lex_part(text, line.range.start + 1..line.range.end),
            })
            .collect();
        let groups = match source.layout.preprocessed_by_compiler {
            true => Groups::new(text, &preprocessor, Language::Fortran, &source.undefined),
            // The compiler or tool that reads the text next does not evaluate conditionals.
            false => Groups::default(),
        };
        let conditions = Conditions::new(text, &preprocessor, &groups);
        let all = logical_lines(text, lines.iter(), form);
        let continued = Continued::new(&lines, form);
        let records = all
            .iter()
            .filter_map(|line| {
                let sentinel = line.sentinel?;
                Some(DirectiveLines::new(text, line, sentinel, form, &continued))
            })
            .collect();
        Self {
            continued,
            source,
            form,
            lines,
            preprocessor,
            conditions,
            groups,
            records,
            structural: all
                .iter()
                .filter(|line| is_structural(line, form))
                .map(|line| line.range.clone())
                .collect(),
            structural_groups: OnceCell::new(),
            views: RefCell::default(),
            closed: RefCell::default(),
            device: RefCell::default(),
            declaring: RefCell::default(),
            logical: OnceCell::new(),
            index: LineIndex::new(text),
            allowance: Allowance::new(text.len()),
        }
    }

    fn found(&self) -> Found {
        let text = &self.source.text;
        let lines =
            line_directives::line_map(&self.source.name, text, &self.preprocessor, &self.groups);
        if self.records.is_empty() && !calls::may_have_some(text) {
            return Found {
                directives: Vec::new(),
                calls: Vec::new(),
                closed: Vec::new(),
                device: Vec::new(),
                declaring: Vec::new(),
                lines,
                traits: TRAITS,
            };
        }
        Found {
            directives: self.directives(),
            calls: self.calls(),
            closed: self.closed(),
            device: self.device.borrow().clone(),
            declaring: self.declaring.borrow().clone(),
            lines,
            traits: TRAITS,
        }
    }

    fn directives(&self) -> Vec<FoundDirective> {
        let ends = self.ends();
        let mut directives = Vec::new();
        // The index in `directives` for each record.
        let mut places = Vec::new();
        for index in 0..self.records.len() {
            let directive = (!ends.contains(&index)).then(|| self.directive(index));
            places.push(directive.is_some().then_some(directives.len()));
            directives.extend(directive);
        }
        for directive in &mut directives {
            if let Extent::Body(body) = &mut directive.extent {
                for section in &mut body.sections {
                    section.directive = section.directive.and_then(|record| places[record]);
                }
            }
        }
        directives
    }

    /// The records that end a construct.
    fn ends(&self) -> HashSet<usize> {
        let end = |index: usize| {
            let view = self.view_at(self.records[index].range.start).ok()?;
            match view.items[view.span(index).ok()?.end?] {
                Element::Directive(end) => Some(end),
                Element::Statement(_) => None,
            }
        };
        (0..self.records.len()).filter_map(end).collect()
    }

    /// The index of the record that begins at an offset.
    fn record_at(&self, start: usize) -> Option<usize> {
        self.records
            .binary_search_by_key(&start, |record| record.range.start)
            .ok()
    }

    /// The view that shows `offset`.
    ///
    /// # Errors
    /// If there are too many to look at.
    fn view_at(&self, offset: usize) -> Result<Rc<View>, String> {
        if self.groups.is_too_deep(offset..offset + 1) {
            return Err(TOO_DEEP.to_owned());
        }
        let key = self.conditions.key(&self.groups, offset);
        let mut views = self.views.borrow_mut();
        if let Some((_, view)) = views.iter().find(|(known, _)| *known == key) {
            return Ok(Rc::clone(view));
        }
        if !views.is_empty() {
            self.allowance.spend(self.source.text.len())?;
        }
        let configuration = self.conditions.configuration_for(&self.groups, offset);
        let view = Rc::new(View::new(self, &configuration, None));
        self.closed.borrow_mut().extend(self.closed_in(&view));
        self.device.borrow_mut().extend(self.device_code_in(&view));
        let declaring = view.declaring(self.form);
        self.declaring.borrow_mut().extend(declaring);
        if views.len() == MAX_VIEWS {
            views.remove(0);
        }
        views.push((key, Rc::clone(&view)));
        Ok(view)
    }

    /// The logical lines of all branches together.
    fn logical(&self) -> &[Logical] {
        let read = || logical_lines(&self.source.text, self.lines.iter(), self.form);
        self.logical.get_or_init(read)
    }

    fn directive(&self, index: usize) -> FoundDirective {
        let record = &self.records[index];
        let view = self.view_at(record.range.start);
        let takes_statement = || {
            let view = view.as_ref();
            view.map_or(true, |view| {
                view.takes_statement(record.range.start, self.form)
            })
        };
        let mut extent = Extent::None;
        let directive = match (&record.meaning, record.unusable) {
            (Meaning::Unknown(reason), _) => Err(reason.clone()),
            (_, Some(reason)) => Err(reason.to_owned()),
            (Meaning::End(_), _) => Err("it ends no construct".to_owned()),
            (Meaning::Begin(directive), _)
                if directive.becomes_statements() && !takes_statement() =>
            {
                Err(NO_PLACE.to_owned())
            }
            (Meaning::Begin(directive), _) => {
                let mut directive = directive.clone();
                extent = match &view {
                    Ok(view) => self.extent(index, &mut directive, view),
                    Err(reason) => Extent::Unclear(reason.clone()),
                };
                Ok(directive)
            }
        };
        let loop_variables = match (&directive, &extent, &view) {
            (Ok(directive), Extent::Body(body), Ok(view)) => {
                loops::variables(view, body.range.start, directive.associated_loops())
            }
            _ => Vec::new(),
        };
        let updated = match (&directive, &extent, &view) {
            (Ok(directive), Extent::Body(body), Ok(view)) if directive.writes_atomically() => {
                updated::updated(view, record.range.start, &body.range)
            }
            _ => None,
        };
        FoundDirective {
            directive,
            range: record.range.clone(),
            text: format!("{} {}", record.sentinel_text(), joined(&record.words)),
            words: record.words.clone(),
            placement: Placement::Lines {
                before: record.range.start,
                after: record.after,
            },
            extent,
            function: view
                .ok()
                .and_then(|view| view.function_at(record.range.start)),
            branches: self.branches(record.range.start),
            loop_variables,
            updated,
            sequence: None,
        }
    }

    fn branches(&self, offset: usize) -> Vec<Branch> {
        self.groups.branches_at(offset)
    }
}

/// Whether the nesting depends on a line.
fn is_structural(line: &Logical, form: Form) -> bool {
    let moves =
        |statement: Statement| statement.kind != StatementKind::Other || statement.label.is_some();
    line.sentinel.is_some() || statements(line, form).into_iter().any(moves)
}

impl View {
    /// The program unit or subprogram around an offset.
    fn function_at(&self, offset: usize) -> Option<Function> {
        let unit = &self.structure.units[self.unit_at(offset)?];
        Some(Function {
            name: unit.head.name.clone()?,
            maybe_extern_inline: false,
        })
    }
}
