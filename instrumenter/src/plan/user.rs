//! The directives of POMP: regions that the user marks, and switches.

use std::collections::HashMap;

use profile::descriptor::Descriptor;

use super::decide::passed;
use super::{Decision, Fragment, Insertion, Planner};
use crate::edit::Order;
use crate::find::{Found, FoundDirective, Placement};
use crate::nest::Construct;
use crate::openmp::events::USER;
use crate::openmp::parse::joined;
use crate::openmp::{Directive, Inst, Leaf};

/// Whether a directive is one of POMP's.
pub(super) fn is_user_directive(directive: &Directive) -> bool {
    let leaf = directive.rows[0].leaf;
    matches!(leaf, Leaf::Inst(_) | Leaf::Noinstrument | Leaf::Instrument)
}

/// For the directive at the begin of each region, the directive at its end; both by their
/// begins.
pub(super) fn ends(found: &Found) -> HashMap<usize, usize> {
    let mut open: HashMap<String, Vec<usize>> = HashMap::new();
    let mut ends = HashMap::new();
    for found in &found.directives {
        let Ok(directive) = &found.directive else {
            continue;
        };
        let Some(argument) = &directive.argument else {
            continue;
        };
        if directive.has_leaf(Leaf::Inst(Inst::Begin)) {
            let begins = open.entry(joined(&argument.words)).or_default();
            begins.push(found.range.start);
        } else if directive.has_leaf(Leaf::Inst(Inst::End)) {
            let begins = open.get_mut(&joined(&argument.words));
            let begin = begins.and_then(Vec::pop);
            ends.extend(begin.map(|begin| (begin, found.range.start)));
        }
    }
    ends
}

impl Planner<'_> {
    /// Places the fragments that a directive of POMP asks for.
    pub(super) fn user_directive(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Decision {
        if self.disabled.pomp {
            return passed(format!("switched off by {}=pomp", self.disabled.by));
        }
        let leaf = directive.rows[0].leaf;
        let marks = matches!(
            leaf,
            Leaf::Inst(Inst::Begin | Inst::AlternateEnd | Inst::End)
        );
        if let Some(reason) = self.disabled_reason(marks.then_some("region")) {
            return passed(reason);
        }
        if let Some(reason) = self.why_untold(construct.parent) {
            return passed(reason);
        }
        let Leaf::Inst(inst) = leaf else {
            return passed("it switches instrumentation");
        };
        match self.user_fragment(inst, found, directive) {
            Ok(fragment) => {
                let (at, line_start) = match found.placement {
                    Placement::Lines { after, .. } => (after, true),
                    Placement::Inline => (found.range.end, false),
                };
                self.plan.insertions.push(Insertion {
                    at,
                    line_start,
                    order: Order::close(0),
                    guard: None,
                    items: vec![fragment],
                });
                Decision::Instrumented { unsplit: None }
            }
            Err(reason) => Decision::LeftAlone { reason },
        }
    }

    fn user_fragment(
        &mut self,
        inst: Inst,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Result<Fragment, String> {
        let name = directive
            .argument
            .as_ref()
            .map(|argument| joined(&argument.words));
        let name = name.ok_or_else(|| "it gives no name in parentheses".to_owned());
        Ok(match inst {
            Inst::Call(function) => {
                self.check_open(found.range.start, found)?;
                Fragment::Call(function)
            }
            Inst::Begin => {
                self.check_begin(found, name.as_deref().unwrap_or_default())?;
                let region = self.user_region(found, directive, &name?);
                Fragment::Probe(USER.opening(), region)
            }
            Inst::AlternateEnd => Fragment::AlternateEnd(self.open_user_region(&name?)?),
            Inst::End => {
                let name = name?;
                let region = self.open_user_region(&name)?;
                if let Some(open) = self.user_regions.get_mut(&name) {
                    open.pop();
                }
                let end = self.lines(directive.range.start, directive.range.end);
                self.plan.regions[region].descriptor.end = end;
                Fragment::Probe(USER.closing(), region)
            }
        })
    }

    /// Fails unless a region has a known line, and an end in the same file.
    fn check_begin(&self, found: &FoundDirective, name: &str) -> Result<(), String> {
        let start = found.range.start;
        if self.found.lines.presumed(start).is_none() {
            return Err("which line it is on can't be told, because of a #line before it".into());
        }
        let end = self.user_ends.get(&start);
        let end = *end.ok_or_else(|| format!("no end({name}) of its own follows it"))?;
        self.check_open(start, found)?;
        self.check_open(end, found)?;
        let around = |at| self.nesting.around(at);
        match self.api.must_know_threads() && around(start) != around(end) {
            true => Err(format!("its end({name}) stands in another construct")),
            false => Ok(()),
        }
    }

    /// Whether a call may stand at an offset of the function that a directive is in.
    fn check_open(&self, offset: usize, found: &FoundDirective) -> Result<(), String> {
        let closed = self.closed_reason(offset, found.function.as_ref());
        let forbidden = || self.forbidden_in(self.nesting.around(offset), None);
        match closed.or_else(forbidden) {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(()),
        }
    }

    /// The innermost open region of this name. Fails if there is none.
    fn open_user_region(&self, name: &str) -> Result<usize, String> {
        let open = self.user_regions.get(name).and_then(|open| open.last());
        let open = open.copied();
        open.ok_or_else(|| format!("no region {name} was begun before it"))
    }

    fn user_region(&mut self, found: &FoundDirective, directive: &Directive, name: &str) -> usize {
        let begin = self.lines(directive.range.start, directive.range.end);
        let descriptor = Descriptor {
            region_type: "userRegion".into(),
            end: begin.clone(),
            begin,
            name: Some(name.to_owned()),
            column: self.found.lines.column(directive.range.start),
            ..Descriptor::default()
        };
        let region = self.add(descriptor, found, found.text.clone());
        let open = self.user_regions.entry(name.to_owned()).or_default();
        open.push(region);
        region
    }
}
