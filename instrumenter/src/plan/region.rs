//! The descriptor of a region, from its construct.

use std::collections::BTreeMap;

use profile::descriptor::{Descriptor, SourceLines};

use super::{Planner, Region};
use crate::find::{Extent, FoundCall, FoundDirective, Function};
use crate::nest::Construct;
use crate::openmp::parse::joined;
use crate::openmp::recipes;
use crate::openmp::{Directive, Leaf};

impl Planner<'_> {
    /// Adds the region of a construct and returns its number.
    pub(super) fn region(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
        unsplit: Option<&str>,
    ) -> usize {
        let begin = match (&construct.block, construct.implicit_section) {
            (Some(block), true) => self.lines(block.begin.at, block.begin.at),
            _ => self.lines(directive.range.start, directive.range.end),
        };
        let end = match &construct.block {
            Some(block) => self.lines(last_byte(block.range.end), last_byte(block.range.end)),
            None => begin.clone(),
        };
        let text = match construct.implicit_section {
            true => "omp section (implicit)".to_owned(),
            false => found.text.clone(),
        };
        let descriptor = Descriptor {
            region_type: region_type(construct, directive),
            begin,
            end,
            name: critical_name(directive),
            num_sections: num_sections(found, directive, construct),
            schedule: directive
                .clause("schedule")
                .and_then(|clause| clause.argument.as_ref())
                .map(|argument| joined(&argument.words)),
            column: self.found.lines.column(directive.range.start),
            unsplit: unsplit.map(str::to_owned),
            other: clause_keys(directive, construct),
            ..Descriptor::default()
        };
        self.add(descriptor, found.function.as_ref(), text)
    }

    /// Adds the region of a call; none if its line is unknown.
    pub(super) fn call_region(&mut self, call: &FoundCall) -> Option<usize> {
        self.found.lines.presumed(call.name.start)?;
        let lines = self.lines(call.name.start, call.name.start);
        let descriptor = Descriptor {
            region_type: "lock".into(),
            begin: lines.clone(),
            end: lines,
            name: Some(call.routine.name.to_owned()),
            column: self.found.lines.column(call.name.start),
            ..Descriptor::default()
        };
        Some(self.add(
            descriptor,
            call.function.as_ref(),
            call.routine.name.to_owned(),
        ))
    }

    fn add(&mut self, descriptor: Descriptor, function: Option<&Function>, text: String) -> usize {
        let name = function.map(|function| function.name.clone());
        let key = (name.clone(), text.clone());
        let ordinal = self.seen.iter().filter(|seen| **seen == key).count();
        self.seen.push(key);
        self.plan.regions.push(Region {
            descriptor: Descriptor {
                function: name,
                directive: Some(text),
                ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
                ..descriptor
            },
            maybe_extern_inline: function.is_none_or(|function| function.maybe_extern_inline),
            passes_team: false,
        });
        self.plan.regions.len() - 1
    }

    /// The lines from one offset to another, as the compiler counts them.
    fn lines(&self, from: usize, to: usize) -> SourceLines {
        let line = |at: usize| self.found.lines.presumed(at);
        let (first, last) = (line(from), line(to));
        SourceLines {
            file: first
                .as_ref()
                .map(|line| line.file.clone())
                .unwrap_or_default(),
            first: first.map_or(0, |line| line.line),
            last: last.map_or(0, |line| line.line),
        }
    }
}

fn last_byte(end: usize) -> usize {
    end.saturating_sub(1)
}

fn region_type(construct: &Construct, directive: &Directive) -> String {
    if construct.implicit_section {
        return "section".into();
    }
    directive
        .leaves()
        .filter_map(recipes::find)
        .map(|recipe| recipe.region_type)
        .collect()
}

fn critical_name(directive: &Directive) -> Option<String> {
    let argument = directive
        .argument
        .as_ref()
        .filter(|_| directive.has_leaf(Leaf::Critical));
    argument.map(|argument| joined(&argument.words))
}

fn num_sections(
    found: &FoundDirective,
    directive: &Directive,
    construct: &Construct,
) -> Option<u32> {
    match &found.extent {
        Extent::Body(body) if directive.has_leaf(Leaf::Sections) && !construct.implicit_section => {
            u32::try_from(body.sections.len()).ok()
        }
        _ => None,
    }
}

/// POMP2's keys for the clauses that are there.
fn clause_keys(directive: &Directive, construct: &Construct) -> BTreeMap<String, String> {
    if construct.implicit_section {
        return BTreeMap::new();
    }
    let key = |clause: &crate::openmp::Clause| {
        let key = clause.row?.descriptor_key?;
        let value = match (clause.name.as_str(), &clause.argument) {
            ("default", Some(argument)) => joined(&argument.words),
            _ => "1".into(),
        };
        Some((key.to_owned(), value))
    };
    directive.clauses.iter().filter_map(key).collect()
}
