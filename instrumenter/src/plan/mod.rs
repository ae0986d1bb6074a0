//! From the tree of constructs to what is placed where. It knows recipes and
//! positions, and no language.

mod chunks;
mod decide;
mod placement;
mod region;
mod split;
mod user;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use profile::descriptor::Descriptor;

use crate::api::Api;
use crate::edit::Order;
use crate::find::{
    Closing, Found, FoundCall, FoundDirective, Function, InSequence, LoopNest, LoopReader, Position,
};
use crate::names::PrefixMaps;
use crate::nest::Nesting;
use crate::openmp::api::RoutineRow;
use crate::openmp::parse::DirectiveToken;
use crate::openmp::recipes::{self, ImplicitBarrier};
use crate::openmp::{Association, Directive, Event};
use crate::{Disabled, Options};

pub use decide::Decision;

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
    /// The loops whose chunks can be traced.
    pub loops: Vec<LoopNest>,
    /// By the begin of a directive: why the chunks of its loop cannot be.
    pub unchunked: BTreeMap<usize, String>,
    /// Whether anything depends on what `Options::host_only` says.
    pub depends_on_device: bool,
    /// The directives that are written anew and that not every compiler knows.
    pub asked: BTreeSet<Asked>,
}

/// A directive that the compiler is asked whether it knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Whether it governs a loop, not a block.
    pub is_loop: bool,
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
    /// Whether it creates a task that is handed what its creation is known by.
    pub passes_task: bool,
    /// How many threads its directive asks for, if that can be evaluated twice.
    pub num_threads: Option<String>,
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
    pub items: Vec<Fragment>,
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
pub enum Fragment {
    /// Opens a block of statements.
    Open,
    /// Closes it.
    Close,
    /// Reports an event of a region.
    Probe(Event, usize),
    /// Says what the iterations of a loop are, by its number, of a region.
    ChunksBegin(usize, usize),
    /// Looks whether a chunk begins.
    ChunkTest(usize),
    /// Says that a thread has no more iterations of a loop.
    ChunksEnd(usize),
    /// An explicit barrier.
    Barrier,
    /// Leaves a user region by another way than its end.
    AlternateEnd(usize),
    /// Leaves the mark of a branch that is compiled.
    Mark(Mark),
    /// Says which line follows, where nothing else need be said.
    Line,
    /// Calls a function of the library that takes nothing.
    Call(&'static str),
    /// Says where the calls in the statement that follows are: that region.
    CallSite(usize),
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
    pub words: Vec<DirectiveToken>,
    /// What is changed.
    pub edits: Vec<DirectiveEdit>,
    /// The region whose directive must have been compiled: this ends one of several, in
    /// branches of a conditional, and not all of them want the same of it.
    pub only_if: Option<usize>,
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
    /// `firstprivate` for the handle of the task that this region creates.
    Task(usize),
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
    pub outcome: Decision,
}

/// Plans a whole source. `is_tool`: the OpenMP runtime tells it what happens.
#[must_use]
pub fn plan(
    found: &Found,
    nesting: &Nesting,
    options: &Options,
    loops: Option<&dyn LoopReader>,
    is_tool: bool,
) -> Plan {
    let mut planner = Planner {
        found,
        nesting,
        disabled: &options.disabled,
        host_only: options.host_only,
        prefix_maps: &options.prefix_maps,
        unknown: &options.unknown,
        depends_on_device: Cell::new(false),
        api: options.api,
        loops,
        without_blocks: options.without_blocks,
        must_pass_tasks: options.api.declares_tasks(),
        passes_handles: !options.apart || options.api == Api::Pomp2,
        plan: Plan::default(),
        is_tool,
        cancelled: decide::cancelled(found, nesting),
        passed_over: decide::passed_over(found, nesting),
        untold: HashSet::new(),
        seen: HashMap::new(),
        marks: BTreeMap::new(),
        user_regions: HashMap::new(),
        user_ends: user::ends(found),
        call_sites: HashSet::new(),
    };
    for construct in 0..nesting.constructs.len() {
        planner.construct(construct);
    }
    for call in &found.calls {
        planner.call(call);
    }
    planner.agree_on_shared_ends();
    planner.separate_sequences();
    planner.mark_branches();
    planner.count_behind_branches();
    planner.not_understood();
    planner.plan.listing.sort_by_key(|listed| listed.offset);
    planner.plan.depends_on_device = planner.depends_on_device.get();
    planner.plan
}

struct Planner<'a> {
    found: &'a Found,
    nesting: &'a Nesting,
    disabled: &'a Disabled,
    /// No code is made for a device.
    host_only: bool,
    /// How descriptors name files.
    prefix_maps: &'a PrefixMaps,
    /// Whether that mattered.
    depends_on_device: Cell<bool>,
    /// Directives that the compiler does not know.
    unknown: &'a BTreeSet<String>,
    /// What the interface can be told.
    api: Api,
    /// Reads the loops whose chunks can be traced, if that is wanted.
    loops: Option<&'a dyn LoopReader>,
    /// Nothing can be declared between statements, not even in a block.
    without_blocks: bool,
    /// Every task must be handed what its creation is known by.
    must_pass_tasks: bool,
    /// Teams and tasks are handed what they are known by. What is handed on is code of the
    /// directive's line, and a directive that hands on nothing else has none: with coverage
    /// the library finds out itself, as it does for Fortran.
    passes_handles: bool,
    plan: Plan,
    /// The source is a tool that the OpenMP runtime tells of each barrier.
    is_tool: bool,
    /// Constructs that a `cancel` in them may end.
    cancelled: HashSet<usize>,
    /// Those whose ends it may pass over.
    passed_over: HashSet<usize>,
    /// Constructs whose threads the interface is not told of, where it must be.
    untold: HashSet<usize>,
    /// How many regions so far have this function and text, for the ordinals.
    seen: HashMap<(Option<String>, String), u32>,
    /// Begins of the conditional branches that hold regions.
    marks: BTreeMap<Mark, usize>,
    /// Open user regions: name and region.
    user_regions: HashMap<String, Vec<usize>>,
    /// By its begin, where the end of each user region stands.
    user_ends: HashMap<usize, usize>,
    /// Where call sites are said.
    call_sites: HashSet<usize>,
}

impl Planner<'_> {
    fn construct(&mut self, index: usize) {
        let construct = &self.nesting.constructs[index];
        let found = &self.found.directives[construct.directive];
        let Ok(directive) = &found.directive else {
            return;
        };
        let outcome = match user::is_user_directive(directive) {
            true => self.user_directive(construct, found, directive),
            false => self.openmp_directive(index, found, directive),
        };
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

    fn openmp_directive(
        &mut self,
        index: usize,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Decision {
        let construct = &self.nesting.constructs[index];
        // A section without a directive is no part of its construct's.
        let split = match construct.implicit_section {
            true => Ok(None),
            false => split::split(directive, &found.loop_variables, self.found.traits),
        };
        let outcome = self.decide(index, found, directive, &split);
        if self.api.must_know_threads() && decide::has_untold_threads(directive, &outcome) {
            self.untold.insert(index);
        }
        if let Decision::Instrumented { unsplit } = &outcome {
            self.ask(directive, &split, unsplit.is_none());
            self.place(construct, found, directive, split, unsplit.as_deref());
        }
        outcome
    }

    /// Notes that a directive is written anew, unless every compiler knows it.
    fn ask(&mut self, directive: &Directive, split: &split::SplitResult, is_separate: bool) {
        let has_barrier = directive.leaves().any(|leaf| {
            let recipe = recipes::find(leaf);
            recipe.is_some_and(|recipe| recipe.barrier == ImplicitBarrier::Outside)
        });
        let is_anew = matches!(split, Ok(Some(_))) || has_barrier && is_separate;
        if is_anew && !directive.is_known_to_all() {
            self.plan.asked.insert(Asked {
                name: directive.name(),
                is_loop: directive.association() == Association::LoopNest,
            });
        }
    }

    /// One directive may end alternatives in the branches of a conditional. It is changed
    /// once if all of them change it in the same way.
    fn agree_on_shared_ends(&mut self) {
        let mut constructs: HashMap<usize, usize> = HashMap::new();
        let blocks = self.nesting.constructs.iter();
        for block in blocks.filter_map(|construct| construct.block.as_ref()) {
            if let Closing::Directive(end) = &block.closing {
                *constructs.entry(end.range.start).or_default() += 1;
            }
        }
        let edited = &mut self.plan.edited;
        edited.sort_by_key(|edited| edited.range.start);
        for same in edited.chunk_by_mut(|a, b| a.range == b.range) {
            let ended = constructs.get(&same[0].range.start).copied();
            let agree = same.iter().all(|other| other.edits == same[0].edits);
            if ended.is_none_or(|ended| agree && same.len() == ended) {
                same.iter_mut().for_each(|end| end.only_if = None);
            }
        }
        edited.dedup_by(|a, b| {
            let is_end = constructs.contains_key(&a.range.start);
            is_end && a.range == b.range && a.only_if.is_none()
        });
    }

    /// Gives the directives of a sequence texts of their own, if there is
    /// something to put between them; if not, compilers may want them together.
    fn separate_sequences(&mut self) {
        let places = self.plan.insertions.iter().map(|insertion| insertion.at);
        let places: BTreeSet<usize> = places.collect();
        let mut separate = BTreeSet::new();
        for found in &self.found.directives {
            let inner = |sequence: &InSequence| sequence.begin < found.range.start;
            let before = found.sequence.as_ref().filter(|sequence| inner(sequence));
            let needed = before.filter(|_| places.contains(&found.range.start));
            separate.extend(needed.map(|sequence| sequence.begin));
        }
        for found in &self.found.directives {
            let Some(sequence) = &found.sequence else {
                continue;
            };
            if separate.contains(&sequence.begin) {
                let edits = sequence.edits.iter().cloned();
                let replace = |(range, text)| DirectiveEdit::Replace(range, text);
                self.plan.edited.push(EditedDirective {
                    range: found.range.clone(),
                    words: Vec::new(),
                    edits: edits.map(replace).collect(),
                    only_if: None,
                });
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
            items: vec![Fragment::Mark(mark)],
        });
        self.plan.insertions.extend(insertions);
    }

    /// Lines are counted in a branch that is not compiled too, but nothing is read
    /// there that says which they are.
    fn count_behind_branches(&mut self) {
        let places = self.plan.insertions.iter().map(|insertion| insertion.at);
        let places: BTreeSet<usize> = places.collect();
        let of_directives = self.found.directives.iter().map(|found| &found.branches);
        let of_calls = self.found.calls.iter().map(|call| &call.branches);
        let changed = of_directives
            .chain(of_calls)
            .flatten()
            .filter(|branch| places.range(branch.start..branch.end).next().is_some());
        let behind: BTreeSet<usize> = changed.filter_map(|branch| branch.behind).collect();
        let insertions = behind.into_iter().map(|at| Insertion {
            at,
            line_start: true,
            order: Order::close(usize::MAX),
            guard: None,
            items: vec![Fragment::Line],
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
                    outcome: Decision::LeftAlone {
                        reason: reason.clone(),
                    },
                });
            }
        }
    }

    /// What to say of a construct whose group is switched off, if it is.
    fn disabled_reason(&self, group: Option<&str>) -> Option<String> {
        let group = group.filter(|group| self.disabled.groups.contain(group))?;
        Some(format!("switched off by {}={group}", self.disabled.by))
    }

    fn call(&mut self, call: &FoundCall) {
        let around = self.nesting.around(call.name.start);
        let closed = self
            .closed_call_reason(call)
            .or_else(|| self.api.lacks(call.routine, self.found.traits))
            .or_else(|| self.forbidden_in(around, None))
            .map(str::to_owned);
        let outcome = match closed.or_else(|| self.disabled_reason(Some("lock"))) {
            Some(reason) => Decision::PassedThrough { reason },
            None => Decision::Instrumented { unsplit: None },
        };
        if let Decision::Instrumented { .. } = outcome {
            self.redirect(call);
        }
        self.plan.listing.push(Listed {
            offset: call.name.start,
            construct: call.routine.name.to_owned(),
            text: call.routine.name.to_owned(),
            clauses: Vec::new(),
            outcome,
        });
    }

    /// Gives a call its region.
    fn redirect(&mut self, call: &FoundCall) {
        let in_place = !self.needs_statement(call);
        let before = call.before.filter(|_| !in_place);
        // The calls of one statement are one region.
        if before.is_some_and(|before| self.call_sites.contains(&before.at)) {
            return;
        }
        let Some(region) = self.call_region(call) else {
            return;
        };
        if in_place {
            self.plan.calls.push(CallEdit {
                routine: call.routine,
                name: call.name.clone(),
                arguments: call.arguments,
                region,
            });
        }
        if let Some(Position { at, line_start }) = before {
            self.call_sites.insert(at);
            self.plan.insertions.push(Insertion {
                at,
                line_start,
                order: Order::open(usize::MAX),
                guard: None,
                items: vec![Fragment::CallSite(region)],
            });
        }
    }

    /// Whether a call must stay, so that a statement in front of it says where it
    /// is.
    fn needs_statement(&self, call: &FoundCall) -> bool {
        call.routine.result != "void" && self.found.traits.types_functions
    }

    /// Why a call may not be redirected, if so.
    fn closed_call_reason(&self, call: &FoundCall) -> Option<&'static str> {
        if self.needs_statement(call) {
            if call.before.is_none() {
                return Some("no statement may stand in front of it");
            }
            return self.closed_reason(call.name.start, call.function.as_ref());
        }
        let declared = self.nesting.declaring.at(call.name.start);
        declared.or_else(|| self.closed_reason(call.name.start, call.function.as_ref()))
    }

    /// Why nothing may be inserted at an offset, if so.
    fn closed_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let device = self.device_reason(offset, function);
        device
            .filter(|_| self.is_for_device())
            .or_else(|| self.nesting.closed.at(offset))
    }

    /// Asked of what a compiler makes code for a device of, if it does that.
    fn is_for_device(&self) -> bool {
        self.depends_on_device.set(true);
        !self.host_only
    }

    /// Why there may be device code at an offset, if so.
    fn device_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let named = |function: &Function| self.nesting.device_functions.contains(&function.name);
        match function.is_some_and(named) {
            true => Some("it stands in a declare target function"),
            false => self.nesting.device.at(offset),
        }
    }
}
