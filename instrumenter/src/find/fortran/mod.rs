//! The front end for Fortran, free and fixed form.
//!
//! physical lines -> logical lines -> statements and directive records -> per
//! configuration of the conditionals, a token-level matcher, checked by a syntax
//! tree of the statements alone. Form, sentinels, labels, continuations and the
//! column limit are the lexer's; everything behind it is the same in both forms.

mod calls;
mod card;
mod classify;
mod closed;
mod directives;
mod extents;
mod frames;
mod glue;
mod logical;
mod physical;
mod sections;
mod squeezed;
mod statements;
mod structure;
mod tokens;
mod view;
mod words;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::c::groups::{Configuration, Groups};
use super::c::lexer::{PreprocessorLine, lex_part};
use super::c::{line_directives, preprocessed};
use super::{Branch, Extent, Found, FoundDirective, FrontEnd, Function, Placement, Traits};
use crate::openmp::Language;
use crate::openmp::parse::joined;
use crate::source::{Form, Source};
use directives::{Meaning, Record};
use logical::logical_lines;
use physical::{Kind, Physical};
use view::View;

/// What Fortran says that changes how constructs are planned.
const TRAITS: Traits = Traits {
    folds_case: true,
    private_by_rule: true,
    declares_in_procedures: true,
    types_functions: true,
};

/// The front end for Fortran; the source says in which form.
#[derive(Debug, Default)]
pub struct FortranFrontEnd;

impl FrontEnd for FortranFrontEnd {
    fn find(&self, source: &Source) -> Found {
        Finder::new(source).find()
    }

    fn text_begin(&self, text: &[u8]) -> usize {
        preprocessed::begin(text).unwrap_or_else(|| physical::first_byte(text))
    }

    fn is_preprocessed(&self, text: &[u8]) -> bool {
        preprocessed::is_preprocessed(text)
    }

    /// Sentinels and labels are tokens too.
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
        ranges.extend(lines.map(|token| token.range.clone()));
        ranges.sort_by_key(|range| range.start);
        ranges
    }

    /// As the most likely branches of its conditionals show it.
    fn syntax_errors(&self, source: &Source) -> usize {
        let finder = Finder::new(source);
        let configuration = finder
            .groups
            .guarded_configuration(&source.text, &finder.preprocessor);
        let view = View::new(&finder, &configuration);
        view.tree(&finder).error_count()
    }
}

/// Everything that is known of one source while its constructs are looked up.
struct Finder<'s> {
    source: &'s Source,
    form: Form,
    lines: Vec<Physical>,
    preprocessor: Vec<PreprocessorLine>,
    groups: Groups,
    records: Vec<Record>,
    /// The views that were asked for so far.
    views: RefCell<Vec<Rc<View>>>,
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
            true => Groups::new(text, &preprocessor, Language::Fortran),
            // Whoever reads the text next ignores them.
            false => Groups::default(),
        };
        let all = logical_lines(text, lines.iter(), form);
        let records = all
            .iter()
            .filter_map(|line| Some(Record::new(text, line, line.sentinel?, form)))
            .collect();
        Self {
            source,
            form,
            lines,
            preprocessor,
            groups,
            records,
            views: RefCell::default(),
        }
    }

    fn find(self) -> Found {
        let text = &self.source.text;
        let lines =
            line_directives::line_map(&self.source.name, text, &self.preprocessor, &self.groups);
        if self.records.is_empty() && !calls::may_have_some(text) {
            return Found {
                directives: Vec::new(),
                calls: Vec::new(),
                closed: Vec::new(),
                lines,
                traits: TRAITS,
            };
        }
        Found {
            directives: self.directives(),
            calls: self.calls(),
            closed: self.closed(),
            lines,
            traits: TRAITS,
        }
    }

    fn directives(&self) -> Vec<FoundDirective> {
        let mut directives = Vec::new();
        // The place of each record in the list.
        let mut places = Vec::new();
        for index in 0..self.records.len() {
            let directive = self.directive(index);
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

    /// The index of the record that begins at an offset.
    fn record_at(&self, start: usize) -> Option<usize> {
        self.records
            .binary_search_by_key(&start, |record| record.range.start)
            .ok()
    }

    /// The view of a configuration.
    fn view(&self, configuration: &Configuration) -> Rc<View> {
        let mut views = self.views.borrow_mut();
        let known = views
            .iter()
            .find(|view| view.configuration == *configuration);
        if let Some(view) = known {
            return Rc::clone(view);
        }
        let view = Rc::new(View::new(self, configuration));
        views.push(Rc::clone(&view));
        view
    }

    /// The view that shows `offset`.
    fn view_at(&self, offset: usize) -> Rc<View> {
        self.view(&self.groups.configuration_for(offset))
    }

    /// A directive, unless it belongs to another as its end.
    fn directive(&self, index: usize) -> Option<FoundDirective> {
        let record = &self.records[index];
        let view = self.view_at(record.range.start);
        let mut extent = Extent::None;
        let directive = match &record.meaning {
            Meaning::Unknown(reason) => Err(reason.clone()),
            Meaning::End(_) if !view.structure.orphans.contains(&index) => return None,
            Meaning::End(_) => Err("it ends no construct".to_owned()),
            Meaning::Begin(directive) => {
                let mut directive = directive.clone();
                extent = self.extent(index, &mut directive, &view);
                Ok(directive)
            }
        };
        Some(FoundDirective {
            directive,
            range: record.range.clone(),
            text: format!("{} {}", record.sentinel_text(), joined(&record.words)),
            words: record.words.clone(),
            placement: Placement::Lines {
                before: record.range.start,
                after: record.after,
            },
            extent,
            function: view.function_at(record.range.start),
            branches: self.branches(record.range.start),
        })
    }

    fn branches(&self, offset: usize) -> Vec<Branch> {
        self.groups.branches_at(offset)
    }
}

impl View {
    /// The program unit or subprogram around an offset.
    fn function_at(&self, offset: usize) -> Option<Function> {
        let mut units = self.structure.units.iter();
        let unit = units.find(|unit| unit.range.contains(&offset))?;
        Some(Function {
            name: unit.head.name.clone()?,
            maybe_extern_inline: false,
        })
    }
}
