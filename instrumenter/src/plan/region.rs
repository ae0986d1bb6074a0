//! Makes the descriptor of a region from its construct.

use std::collections::BTreeMap;

use profile::descriptor::{Descriptor, SourceLines};

use super::split::Split;
use super::{Mark, Planner, Region};
use crate::find::{Branch, Closing, Extent, FoundCall, FoundDirective, Function};
use crate::names;
use crate::nest::Construct;
use crate::openmp::parse::joined;
use crate::openmp::recipes::{self, SHARE_WITH_PARALLEL};
use crate::openmp::{Directive, Leaf};

/// Why a `loop` construct keeps its barrier.
const NO_NOWAIT: &str = "a loop construct takes no nowait clause";

impl Planner<'_> {
    /// Adds the regions of a construct: one for each part of its directive, or one for the
    /// first two parts if POMP has a region type for both. `first` is the leaf that determines
    /// how the first part is measured.
    pub(super) fn regions(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
        first: Leaf,
        split: Option<&Split>,
        unsplit: Option<&str>,
    ) -> Vec<usize> {
        let rest = split.map_or(&[][..], |split| &split.rest);
        // The combined type applies even if the directive is not split.
        let second = directive.rows.get(1).map(|row| row.leaf);
        let shared =
            second.filter(|leaf| first == Leaf::Parallel && SHARE_WITH_PARALLEL.contains(leaf));
        let mut region_type = region_type(first, directive);
        region_type.extend(shared.map(|leaf| self::region_type(leaf, directive)));
        let text = match construct.implicit_section {
            true => "omp section (implicit)".to_owned(),
            false => found.text.clone(),
        };
        let binds_to_team = self.binds_to_team(construct, directive);
        let has_own_barrier = |leaf: Leaf| leaf == Leaf::GenericLoop && binds_to_team;
        let unsplit = unsplit.or_else(|| has_own_barrier(first).then_some(NO_NOWAIT));
        let descriptor = Descriptor {
            unsplit: unsplit.map(str::to_owned),
            ..self.descriptor(construct, found, directive, region_type)
        };
        let mut regions = vec![self.add(descriptor, found, text)];
        self.plan.regions[regions[0]].num_threads = num_threads(directive);
        for (number, unit) in rest.iter().enumerate() {
            if number == 0 && shared.is_some() {
                regions.push(regions[0]);
                continue;
            }
            let region_type = self::region_type(unit.leaf, directive);
            let unsplit = has_own_barrier(unit.leaf).then(|| NO_NOWAIT.to_owned());
            let descriptor = Descriptor {
                unsplit,
                ..self.descriptor(construct, found, directive, region_type)
            };
            let text = format!("omp {} {}", unit.name, unit.clauses.join(" "));
            regions.push(self.add(descriptor, found, text.trim_end().to_owned()));
        }
        regions
    }

    /// Whether a `loop` construct binds to a team, so that the team waits at its end (OpenMP 5.2, section 11.7).
    fn binds_to_team(&self, construct: &Construct, directive: &Directive) -> bool {
        if let Some(bind) = directive.clause("bind") {
            return bind.mentions("parallel");
        }
        let around = construct.parent.and_then(|parent| {
            let parent = self.nesting.constructs[parent].directive;
            self.found.directives[parent].directive.as_ref().ok()
        });
        let is_of_team = |directive: &Directive| directive.leaves().last() == Some(Leaf::Parallel);
        directive.has_leaf(Leaf::Parallel) || around.is_some_and(is_of_team)
    }

    fn descriptor(
        &self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
        region_type: String,
    ) -> Descriptor {
        let begin = match (&construct.block, construct.implicit_section) {
            (Some(block), true) => self.lines(block.begin.at, block.begin.at),
            _ => self.lines(directive.range.start, directive.range.end),
        };
        let end = match &construct.block {
            Some(block) => match &block.closing {
                Closing::Directive(end) => self.lines(end.range.start, last_byte(end.range.end)),
                _ => self.lines(last_byte(block.range.end), last_byte(block.range.end)),
            },
            None => begin.clone(),
        };
        Descriptor {
            region_type,
            begin,
            end,
            name: critical_name(directive).map(|name| match self.found.traits.folds_case {
                true => name.to_ascii_lowercase(),
                false => name,
            }),
            num_sections: num_sections(found, directive, construct),
            schedule: directive
                .clause("schedule")
                .and_then(|clause| clause.argument.as_ref())
                .map(|argument| joined(&argument.words)),
            column: self.found.lines.column(directive.range.start),
            variable: self.variable(construct, found),
            other: clause_keys(directive, construct),
            ..Descriptor::default()
        }
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
        let text = match (call.routine.name, call.lock.as_str()) {
            (name, "") => name.to_owned(),
            (name, lock) => format!("{name}({lock})"),
        };
        Some(self.add(descriptor, call, text))
    }

    /// Adds the region of a directive or call, which may be in a function and in branches.
    pub(super) fn add(
        &mut self,
        descriptor: Descriptor,
        place: &impl Located,
        text: String,
    ) -> usize {
        let function = place.function();
        let branch = place.branches().last();
        let mark = branch.map(|branch| Mark(branch.group, branch.branch));
        self.marks
            .extend(mark.zip(branch.map(|branch| branch.start)));
        let name = function.map(|function| function.name.clone());
        let seen = self.seen.entry((name.clone(), text.clone())).or_default();
        let ordinal = *seen;
        *seen += 1;
        let hash = self.hash(place.at());
        self.plan.regions.push(Region {
            descriptor: Descriptor {
                function: name,
                directive: Some(text),
                ordinal,
                hash,
                ..descriptor
            },
            maybe_extern_inline: function.is_none_or(|function| function.maybe_extern_inline),
            passes_team: false,
            passes_task: false,
            num_threads: None,
            branch: mark,
        });
        self.plan.regions.len() - 1
    }

    /// The hash of the file that an offset lies in.
    fn hash(&mut self, at: usize) -> Option<String> {
        let hashes = self.hashes.as_mut()?;
        let line = self.found.lines.presumed(at)?;
        hashes.of(&line.file).map(str::to_owned)
    }

    /// The name of a file as descriptors give it.
    fn named(&self, file: &str) -> String {
        let file = names::bytes(file);
        let mapped = self.prefix_maps.mapped(&file);
        String::from_utf8_lossy(&mapped).into_owned()
    }

    /// The lines from one offset to another, as the compiler counts them.
    pub(super) fn lines(&self, from: usize, to: usize) -> SourceLines {
        let line = |at: usize| self.found.lines.presumed(at);
        let (first, last) = (line(from), line(to));
        SourceLines {
            file: first
                .as_ref()
                .map(|line| self.named(&line.file))
                .unwrap_or_default(),
            first: first.map_or(0, |line| line.line),
            last: last.map_or(0, |line| line.line),
        }
    }
}

/// A directive or call with a place in the source.
pub(super) trait Located {
    /// Where it begins.
    fn at(&self) -> usize;
    /// The function around it.
    fn function(&self) -> Option<&Function>;
    /// The conditional branches around it, outermost first.
    fn branches(&self) -> &[Branch];
}

impl Located for FoundDirective {
    fn at(&self) -> usize {
        self.range.start
    }
    fn function(&self) -> Option<&Function> {
        self.function.as_ref()
    }
    fn branches(&self) -> &[Branch] {
        &self.branches
    }
}

impl Located for FoundCall {
    fn at(&self) -> usize {
        self.name.start
    }
    fn function(&self) -> Option<&Function> {
        self.function.as_ref()
    }
    fn branches(&self) -> &[Branch] {
        &self.branches
    }
}

fn last_byte(end: usize) -> usize {
    end.saturating_sub(1)
}

/// The number of threads that a directive asks for, if it is a single expression without side
/// effects, so that it can be evaluated again.
fn num_threads(directive: &Directive) -> Option<String> {
    let clause = directive.clause("num_threads")?;
    let words = &clause.argument.as_ref()?.words;
    let is_more = words.iter().any(|word| [",", ":"].contains(&&*word.text));
    (!is_more && !words.is_empty() && !clause.may_have_side_effect()).then(|| joined(words))
}

/// The `regionType` of a leaf construct. POMP2 has a type of its own for untied tasks.
fn region_type(leaf: Leaf, directive: &Directive) -> String {
    let name = recipes::find(leaf).map_or("", |recipe| recipe.region_type);
    // POMP2 has a type for each spelling of the loop construct.
    let is_do = leaf == Leaf::Loop && directive.rows.iter().any(|row| row.name == "do");
    let name = if is_do { "do" } else { name };
    match leaf == Leaf::Task && directive.clause("untied").is_some() {
        true => format!("{name}untied"),
        false => name.to_owned(),
    }
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

/// The keys that POMP2 has for the clauses of a directive.
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
