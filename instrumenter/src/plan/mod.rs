//! From the tree of constructs to what is placed where. It knows recipes and
//! positions, and no language.

mod outcome;
mod place;
mod region;
mod split;
mod user;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use profile::descriptor::Descriptor;

use crate::edit::Order;
use crate::find::{Found, Function};
use crate::nest::Nesting;
use crate::openmp::Event;
use crate::openmp::api::RoutineRow;

pub use outcome::Outcome;

/// Everything that is to be done to a source.
#[derive(Debug, Default)]
pub struct Plan {
    /// The regions, numbered by their index.
    pub regions: Vec<Region>,
    /// What is inserted between statements.
    pub insertions: Vec<Insertion>,
    /// What is changed within directives.
    pub directive_edits: Vec<DirectiveEdit>,
    /// Calls that are redirected.
    pub calls: Vec<CallEdit>,
    /// What became of each directive and call, in source order.
    pub listing: Vec<Listed>,
}

/// A region and what its descriptor's accessor needs to know.
#[derive(Debug)]
pub struct Region {
    /// Its record.
    pub descriptor: Descriptor,
    /// See [`Function::maybe_extern_inline`]; true where no function is known.
    pub maybe_extern_inline: bool,
    /// Whether it starts a team whose members have probes: they need its handle.
    pub passes_team: bool,
    /// The conditional branch that it stands in: it may not be compiled.
    pub branch: Option<Mark>,
}

/// A conditional branch of the source, whose compilation leaves a mark: numbers
/// of the conditional and of the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub usize, pub usize);

/// Something that is inserted at one place.
#[derive(Debug)]
pub struct Insertion {
    /// The offset.
    pub at: usize,
    /// Whether a line begins there.
    pub line_start: bool,
    /// Its place among others at the same offset.
    pub order: Order,
    /// The region whose directive may not be there: this text must then not be
    /// there either.
    pub guard: Option<Guard>,
    /// What is inserted.
    pub items: Vec<Item>,
}

/// The text depends on whether the directive of a region was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Remember that it was; this is in front of the directive.
    Sets(usize),
    /// Only if it was.
    Tests(usize),
    /// Only if it was; it is no longer needed then.
    Clears(usize),
}

/// A part of an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Opens a block of statements.
    Open,
    /// Closes it.
    Close,
    /// Reports an event of a region.
    Probe(Event, usize),
    /// An explicit barrier.
    Barrier,
    /// Leaves a user region by another way than its end.
    AlternateEnd(usize),
    /// Leaves the mark of a branch that is compiled.
    Mark(Mark),
    /// Calls a function of the library that takes nothing.
    Call(&'static str),
    /// The second directive of a split one.
    Directive {
        /// Its name.
        name: String,
        /// Its clauses.
        clauses: Vec<String>,
    },
}

/// A change within a directive's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveEdit {
    /// Part of it goes.
    Remove(Range<usize>),
    /// Part of it is spelled in another way that means the same.
    Replace(Range<usize>, &'static str),
    /// A clause is added.
    Add {
        /// Behind its last word.
        at: usize,
        /// What is added.
        clause: AddedClause,
    },
}

/// A clause that is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedClause {
    /// `nowait`, because an explicit barrier follows.
    Nowait,
    /// `shared` for what the other half of a split directive privatises.
    Shared(Vec<String>),
    /// `firstprivate` for the team's handle of this region.
    Team(usize),
}

/// A call that is redirected.
#[derive(Debug)]
pub struct CallEdit {
    /// The routine.
    pub routine: &'static RoutineRow,
    /// The bytes of its name.
    pub name: Range<usize>,
    /// Behind its opening parenthesis.
    pub arguments: usize,
    /// The region of the call site.
    pub region: usize,
}

/// A line of `romp list`.
#[derive(Clone, Debug)]
pub struct Listed {
    /// First byte of what it is about.
    pub offset: usize,
    /// Name of the construct or routine.
    pub construct: String,
    /// The directive or call as written.
    pub text: String,
    /// Names of the clauses.
    pub clauses: Vec<String>,
    /// What became of it.
    pub outcome: Outcome,
}

/// Plans a whole source.
#[must_use]
pub fn plan(found: &Found, nesting: &Nesting, host_only: bool) -> Plan {
    let mut planner = Planner {
        found,
        nesting,
        host_only,
        plan: Plan::default(),
        seen: Vec::new(),
        sequences: BTreeSet::new(),
        marks: BTreeMap::new(),
        user_regions: Vec::new(),
    };
    for construct in 0..nesting.constructs.len() {
        planner.construct(construct);
    }
    for call in &found.calls {
        planner.call(call);
    }
    planner.separate_sequences();
    planner.mark_branches();
    planner.not_understood();
    planner.plan.listing.sort_by_key(|listed| listed.offset);
    planner.plan
}

struct Planner<'a> {
    found: &'a Found,
    nesting: &'a Nesting,
    /// No code is made for a device.
    host_only: bool,
    plan: Plan,
    /// Function and text of every region so far, for the ordinals.
    seen: Vec<(Option<String>, String)>,
    /// Begins of the sequences of directives that something was placed in.
    sequences: BTreeSet<usize>,
    /// Begins of the conditional branches that hold regions.
    marks: BTreeMap<Mark, usize>,
    /// Open user regions: name and region.
    user_regions: Vec<(String, usize)>,
}

impl Planner<'_> {
    fn construct(&mut self, index: usize) {
        let construct = &self.nesting.constructs[index];
        let found = &self.found.directives[construct.directive];
        let Ok(directive) = &found.directive else {
            return;
        };
        let outcome = match user::is_user_directive(directive) {
            true => self.user_directive(found, directive),
            false => self.outcome(construct, found, directive),
        };
        if let Outcome::Instrumented { unsplit } = &outcome
            && !user::is_user_directive(directive)
        {
            let sequence = found.sequence.as_ref();
            self.sequences
                .extend(sequence.map(|sequence| sequence.begin));
            self.place(construct, found, directive, unsplit.as_deref());
        }
        if construct.implicit_section {
            return;
        }
        self.plan.listing.push(Listed {
            offset: directive.range.start,
            construct: directive.name(),
            text: found.text.clone(),
            clauses: directive
                .clauses
                .iter()
                .map(|clause| clause.name.clone())
                .collect(),
            outcome,
        });
    }

    /// Gives the directives of a sequence texts of their own, if there is
    /// something to put between them.
    fn separate_sequences(&mut self) {
        let members = self.found.directives.iter();
        for sequence in members.filter_map(|found| found.sequence.as_ref()) {
            if self.sequences.contains(&sequence.begin) {
                let edits = sequence.edits.iter().cloned();
                let replace = |(range, text)| DirectiveEdit::Replace(range, text);
                self.plan.directive_edits.extend(edits.map(replace));
            }
        }
    }

    /// Regions that are not compiled must not be said to be there.
    fn mark_branches(&mut self) {
        let marks = std::mem::take(&mut self.marks);
        let insertions = marks.into_iter().map(|(mark, at)| Insertion {
            at,
            line_start: true,
            order: Order::close(usize::MAX),
            guard: None,
            items: vec![Item::Mark(mark)],
        });
        self.plan.insertions.extend(insertions);
    }

    /// Directives whose text was not understood are listed, never touched.
    fn not_understood(&mut self) {
        for found in &self.found.directives {
            if let Err(reason) = &found.directive {
                self.plan.listing.push(Listed {
                    offset: found.range.start,
                    construct: String::new(),
                    text: found.text.clone(),
                    clauses: Vec::new(),
                    outcome: Outcome::LeftAlone {
                        reason: reason.clone(),
                    },
                });
            }
        }
    }

    fn call(&mut self, call: &crate::find::FoundCall) {
        let around = self.nesting.constructs.iter().rposition(|construct| {
            let block = construct.block.as_ref();
            block.is_some_and(|block| block.range.contains(&call.name.start))
        });
        let closed = self
            .closed_reason(call.name.start, call.function.as_ref())
            .or_else(|| self.forbidden_in(around));
        let outcome = match closed {
            Some(reason) => Outcome::PassedThrough {
                reason: reason.into(),
            },
            None => Outcome::Instrumented { unsplit: None },
        };
        if let Outcome::Instrumented { .. } = outcome
            && let Some(region) = self.call_region(call)
        {
            self.plan.calls.push(CallEdit {
                routine: call.routine,
                name: call.name.clone(),
                arguments: call.arguments,
                region,
            });
        }
        self.plan.listing.push(Listed {
            offset: call.name.start,
            construct: call.routine.name.to_owned(),
            text: call.routine.name.to_owned(),
            clauses: Vec::new(),
            outcome,
        });
    }

    /// Why nothing may be inserted at an offset, if so.
    fn closed_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let device = self.device_reason(offset, function);
        let closed = self.nesting.closed.iter();
        device
            .filter(|_| !self.host_only)
            .or_else(|| reason_at(closed, offset))
    }

    /// Why there may be device code at an offset, if so.
    fn device_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let named = |function: &Function| self.nesting.device_functions.contains(&function.name);
        match function.is_some_and(named) {
            true => Some("it stands in a declare target function"),
            false => reason_at(self.nesting.device.iter(), offset),
        }
    }
}

fn reason_at<'r>(
    mut reasons: impl Iterator<Item = &'r (Range<usize>, &'static str)>,
    offset: usize,
) -> Option<&'static str> {
    let found = reasons.find(|(range, _)| range.contains(&offset));
    found.map(|(_, why)| *why)
}
