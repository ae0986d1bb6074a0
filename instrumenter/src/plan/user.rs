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
use crate::openmp::{Directive, Leaf};

/// Whether a directive is one of POMP's.
pub(super) fn is_user_directive(directive: &Directive) -> bool {
    items_for(directive.rows[0].leaf).is_some()
}

/// The request that a directive makes.
enum Asked {
    Nothing,
    Call(&'static str),
    Begin,
    AlternateEnd,
    End,
}

fn items_for(leaf: Leaf) -> Option<Asked> {
    Some(match leaf {
        Leaf::InstInit => Asked::Call("Init"),
        Leaf::InstFinalize => Asked::Call("Finalize"),
        Leaf::InstOn => Asked::Call("On"),
        Leaf::InstOff => Asked::Call("Off"),
        Leaf::InstBegin => Asked::Begin,
        Leaf::InstAltend => Asked::AlternateEnd,
        Leaf::InstEnd => Asked::End,
        Leaf::Noinstrument | Leaf::Instrument => Asked::Nothing,
        _ => return None,
    })
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
        if directive.has_leaf(Leaf::InstBegin) {
            let begins = open.entry(joined(&argument.words)).or_default();
            begins.push(found.range.start);
        } else if directive.has_leaf(Leaf::InstEnd) {
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
        let marks = [Leaf::InstBegin, Leaf::InstAltend, Leaf::InstEnd];
        let group = marks.contains(&directive.rows[0].leaf).then_some("region");
        if let Some(reason) = self.disabled_reason(group) {
            return Decision::PassedThrough { reason };
        }
        if let Some(reason) = self.untold_in(construct.parent) {
            return passed(reason);
        }
        match self.user_items(found, directive) {
            Ok(items) if items.is_empty() => Decision::PassedThrough {
                reason: "it switches instrumentation".into(),
            },
            Ok(items) => {
                let (at, line_start) = match found.placement {
                    Placement::Lines { after, .. } => (after, true),
                    Placement::Inline => (found.range.end, false),
                };
                self.plan.insertions.push(Insertion {
                    at,
                    line_start,
                    order: Order::close(0),
                    guard: None,
                    items,
                });
                Decision::Instrumented { unsplit: None }
            }
            Err(reason) => Decision::LeftAlone { reason },
        }
    }

    fn user_items(
        &mut self,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Result<Vec<Fragment>, String> {
        let name = directive
            .argument
            .as_ref()
            .map(|argument| joined(&argument.words));
        let name = name.ok_or_else(|| "it gives no name in parentheses".to_owned());
        Ok(match items_for(directive.rows[0].leaf) {
            None | Some(Asked::Nothing) => Vec::new(),
            Some(Asked::Call(function)) => {
                self.check_open(found.range.start, found)?;
                vec![Fragment::Call(function)]
            }
            Some(Asked::Begin) => {
                self.check_begin(found, name.as_deref().unwrap_or_default())?;
                let region = self.user_region(found, directive, &name?);
                vec![Fragment::Probe(USER.opening(), region)]
            }
            Some(Asked::AlternateEnd) => {
                let open = self.open_user_region(&name?)?;
                let region = open.last().copied();
                region.map(Fragment::AlternateEnd).into_iter().collect()
            }
            Some(Asked::End) => {
                let Some(region) = self.open_user_region(&name?)?.pop() else {
                    return Ok(Vec::new());
                };
                let end = self.lines(directive.range.start, directive.range.end);
                self.plan.regions[region].descriptor.end = end;
                vec![Fragment::Probe(USER.closing(), region)]
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

    /// The open regions of this name, the innermost last. Fails if there is none.
    fn open_user_region(&mut self, name: &str) -> Result<&mut Vec<usize>, String> {
        let open = self
            .user_regions
            .get_mut(name)
            .filter(|open| !open.is_empty());
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
