//! From the tree of constructs to what is placed where. It knows recipes and
//! positions, and no language.

mod outcome;
mod place;
mod region;
mod split;
mod user;

use std::ops::Range;

use profile::descriptor::Descriptor;

use crate::edit::Order;
use crate::find::{Found, FoundCall, Function};
use crate::nest::Nesting;
use crate::openmp::Event;
use crate::openmp::api::RoutineRow;
use crate::openmp::parse::Word;

pub use outcome::Outcome;

/// Everything that is to be done to a source.
#[derive(Debug, Default)]
pub struct Plan {
    /// The regions, numbered by their index.
    pub regions: Vec<Region>,
    /// What is inserted between statements.
    pub insertions: Vec<Insertion>,
    /// What is changed within directives.
    pub edited: Vec<EditedDirective>,
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
}

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
    /// Calls a function of the library that takes nothing.
    Call(&'static str),
    /// A directive of its own: what a combined one is split into, or the end
    /// of a construct.
    Directive {
        /// Whether it ends a construct.
        ends: bool,
        /// Its name.
        name: String,
        /// Its clauses.
        clauses: Vec<String>,
    },
}

/// A directive that is changed.
#[derive(Debug)]
pub struct EditedDirective {
    /// Its bytes: whole lines without the last newline, or an operator.
    pub range: Range<usize>,
    /// Its words behind the sentinel.
    pub words: Vec<Word>,
    /// What is changed.
    pub edits: Vec<DirectiveEdit>,
}

/// A change within a directive's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveEdit {
    /// Part of it goes.
    Remove(Range<usize>),
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
pub fn plan(found: &Found, nesting: &Nesting) -> Plan {
    let mut planner = Planner {
        found,
        nesting,
        plan: Plan::default(),
        seen: Vec::new(),
        user_regions: Vec::new(),
    };
    for construct in 0..nesting.constructs.len() {
        planner.construct(construct);
    }
    for call in &found.calls {
        planner.call(call);
    }
    planner.not_understood();
    planner.plan.listing.sort_by_key(|listed| listed.offset);
    planner.plan
}

struct Planner<'a> {
    found: &'a Found,
    nesting: &'a Nesting,
    plan: Plan,
    /// Function and text of every region so far, for the ordinals.
    seen: Vec<(Option<String>, String)>,
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

    fn call(&mut self, call: &FoundCall) {
        let outcome = match self.closed_call_reason(call) {
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

    /// Why a call may not be redirected, if so.
    fn closed_call_reason(&self, call: &FoundCall) -> Option<&'static str> {
        if call.routine.result != "void" && self.found.traits.types_functions {
            return Some("a function in its place would have to be declared");
        }
        self.closed_reason(call.name.start, call.function.as_ref())
    }

    /// Why nothing may be inserted at an offset, if so.
    fn closed_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let device = |function: &&Function| self.nesting.device_functions.contains(&function.name);
        if function.filter(device).is_some() {
            return Some("it stands in a declare target function");
        }
        self.nesting
            .closed
            .iter()
            .find(|(range, _)| range.contains(&offset))
            .map(|(_, why)| *why)
    }
}
