//! Makes the plan: from the tree of constructs to the fragments and their places. This module
//! uses recipes and positions, and knows no language.

mod chunks;
mod decide;
mod placement;
mod region;
mod split;
mod user;
mod variable;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use profile::descriptor::Descriptor;

use crate::api::Api;
use crate::edit::Order;
use crate::find::{
    Closing, Found, FoundCall, FoundDirective, Function, InSequence, LoopNest, LoopReader, Position,
};
use crate::hashes::FileHashes;
use crate::names::PrefixMaps;
use crate::nest::Nesting;
use crate::openmp::api::RoutineRow;
use crate::openmp::parse::DirectiveToken;
use crate::openmp::recipes::{self, ImplicitBarrier};
use crate::openmp::{Association, Directive, Event};
use crate::{Disabled, Options};

pub use decide::Decision;

/// All changes to a source, and what they are about.
#[derive(Debug, Default)]
pub struct Plan {
    /// The regions, numbered by their index.
    pub regions: Vec<Region>,
    /// The insertions between statements.
    pub insertions: Vec<Insertion>,
    /// The directives whose text is changed.
    pub edited: Vec<EditedDirective>,
    /// The calls that are redirected.
    pub calls: Vec<CallEdit>,
    /// The outcome for each directive and call, in source order.
    pub listing: Vec<Listed>,
    /// The loops whose chunks can be traced.
    pub loops: Vec<LoopNest>,
    /// For each directive whose loop's chunks can't be traced, by its begin: the reason.
    pub unchunked: BTreeMap<usize, String>,
    /// Whether anything depends on `Options::host_only`.
    pub depends_on_device: bool,
    /// The directives that are rewritten and that not every compiler knows.
    pub asked: BTreeSet<Asked>,
}

/// A directive about which the compiler is asked whether it knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Whether it governs a loop instead of a block.
    pub is_loop: bool,
}

/// A region, with the data for its descriptor's accessor.
#[derive(Debug)]
pub struct Region {
    /// Its descriptor.
    pub descriptor: Descriptor,
    /// See [`Function::maybe_extern_inline`]; true where no function is known.
    pub maybe_extern_inline: bool,
    /// Whether it starts a team whose members have probes; these need the team's handle.
    pub passes_team: bool,
    /// Whether it creates a task that gets the handle of its creation.
    pub passes_task: bool,
    /// The number of threads that its directive asks for, if the expression can be evaluated
    /// twice.
    pub num_threads: Option<String>,
    /// The conditional branch that contains it; the branch may not be compiled.
    pub branch: Option<Mark>,
}

/// A conditional branch of the source that leaves a mark if it is compiled: the numbers of the
/// conditional and of the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub usize, pub usize);

/// An insertion at one place.
#[derive(Debug)]
pub struct Insertion {
    /// The offset.
    pub at: usize,
    /// Whether a line begins there.
    pub line_start: bool,
    /// Its order among insertions at the same offset.
    pub order: Order,
    /// Set if the directive of its region may not be compiled. Then this text must not be
    /// compiled either.
    pub guard: Option<Guard>,
    /// The inserted fragments.
    pub items: Vec<Fragment>,
}

/// A condition on whether the directive of a region was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Records that it was compiled; this is in front of the directive.
    Sets(usize),
    /// Compiled only if the directive was.
    Tests(usize),
    /// Compiled only if the directive was; ends the record.
    Clears(usize),
}

/// A part of an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// Opens a block of statements.
    Open,
    /// Closes the block.
    Close,
    /// Reports an event of a region.
    Probe(Event, usize),
    /// Reports the iterations of a loop: the number of the loop and its region.
    ChunksBegin(usize, usize),
    /// Tests whether a chunk begins.
    ChunkTest(usize),
    /// Reports that a thread has no more iterations of a loop.
    ChunksEnd(usize),
    /// An explicit barrier.
    Barrier,
    /// Leaves a user region before its end.
    AlternateEnd(usize),
    /// Leaves the mark of a compiled branch.
    Mark(Mark),
    /// Gives the number of the following line, where no other fragment does.
    Line,
    /// Calls a function of the library without arguments.
    Call(&'static str),
    /// Gives the call site of the calls in the following statement: this region.
    CallSite(usize),
    /// A directive of its own: a part of a split one, or an end directive.
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
    /// The changes.
    pub edits: Vec<DirectiveEdit>,
    /// The region whose directive must have been compiled for the changes to apply. Set for an
    /// end directive that ends one of several alternatives in branches of a conditional, if
    /// these need different changes.
    pub only_if: Option<usize>,
}

/// A change within a directive's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveEdit {
    /// Removes a part of it.
    Remove(Range<usize>),
    /// Replaces a part by an equivalent spelling.
    Replace(Range<usize>, &'static str),
    /// Adds a clause.
    Add {
        /// The offset behind its last word.
        at: usize,
        /// The added clause.
        clause: AddedClause,
    },
}

/// A clause that is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedClause {
    /// `nowait`, because an explicit barrier follows.
    Nowait,
    /// `shared` for the variables that the other part of a split directive privatises.
    Shared(Vec<String>),
    /// `firstprivate` for the handle of the team that this region starts.
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
    /// The offset behind its opening parenthesis.
    pub arguments: usize,
    /// The region of the call site.
    pub region: usize,
}

/// An entry of `romp list`.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The first byte of its directive or call.
    pub offset: usize,
    /// Name of the construct or routine.
    pub construct: String,
    /// The directive or call as written.
    pub text: String,
    /// Names of the clauses.
    pub clauses: Vec<String>,
    /// The outcome.
    pub outcome: Decision,
}

/// Plans a whole source. `is_tool`: the source is a tool that the OpenMP runtime reports to.
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
        hashes: options.has_hashes.then(FileHashes::default),
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
        plain_teams: HashSet::new(),
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
    /// Whether no code is made for a device.
    host_only: bool,
    /// How descriptors name files.
    prefix_maps: &'a PrefixMaps,
    /// The hashes of files, if descriptors have them.
    hashes: Option<FileHashes>,
    /// Whether the result depends on `host_only`.
    depends_on_device: Cell<bool>,
    /// Directives that the compiler does not know.
    unknown: &'a BTreeSet<String>,
    /// The interface that the instrumented text calls.
    api: Api,
    /// The reader of loops, if chunks are to be traced.
    loops: Option<&'a dyn LoopReader>,
    /// Whether nothing can be declared between statements, not even in a block.
    without_blocks: bool,
    /// Whether every task must get the handle of its creation.
    must_pass_tasks: bool,
    /// Whether teams and tasks get handles. The code that passes a handle belongs to the
    /// directive's line. A directive without such code has none. So with coverage no handles
    /// are passed, and the library finds the team or task itself, as it does for Fortran.
    passes_handles: bool,
    plan: Plan,
    /// Whether the source is a tool to which the OpenMP runtime reports each barrier.
    is_tool: bool,
    /// Constructs that a `cancel` in them may end.
    cancelled: HashSet<usize>,
    /// Constructs whose ends a `cancel` in them may pass over.
    passed_over: HashSet<usize>,
    /// Constructs whose threads are not reported to an interface that requires that.
    untold: HashSet<usize>,
    /// The measured constructs of which [`Self::is_plain_team`] holds.
    plain_teams: HashSet<usize>,
    /// The number of regions so far with this function and text, for the ordinals.
    seen: HashMap<(Option<String>, String), u32>,
    /// Begins of the conditional branches that hold regions.
    marks: BTreeMap<Mark, usize>,
    /// Open user regions, by name.
    user_regions: HashMap<String, Vec<usize>>,
    /// The offset of the end of each user region, by its begin.
    user_ends: HashMap<usize, usize>,
    /// The offsets of the statements that give call sites.
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
        // A section without a directive gets no part of its construct's directive.
        let split = match construct.implicit_section {
            true => Ok(None),
            false => split::split(directive, &found.loop_variables, self.found.traits),
        };
        let outcome = self.decide(index, found, directive, &split);
        if self.api.must_know_threads() && decide::has_untold_threads(directive, &outcome) {
            self.untold.insert(index);
        }
        if let Decision::Instrumented { unsplit } = &outcome {
            if unsplit.is_none() && self.is_plain_team(directive) {
                self.plain_teams.insert(index);
            }
            self.ask(directive, &split, unsplit.is_none());
            self.place(construct, found, directive, split, unsplit.as_deref());
        }
        outcome
    }

    /// Records that a directive is rewritten, unless every compiler knows it.
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

    /// Makes the changes of shared end directives agree. One end directive may end alternatives
    /// in branches of a conditional. It is changed once if all of them need the same change.
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

    /// Gives the directives of a sequence texts of their own, if anything is inserted between
    /// them. Otherwise they stay together, as some compilers may require.
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

    /// Marks the branches with regions, so that regions in uncompiled branches are not
    /// registered.
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

    /// Gives line numbers behind conditional branches with insertions. The compiler counts the
    /// lines of an uncompiled branch, but ignores the `#line` in it.
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

    /// Lists directives that were not understood. They are never changed.
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

    /// The reason for a construct whose group is switched off, if it is.
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

    /// Redirects a call, or gives its call site in a statement in front of it.
    fn redirect(&mut self, call: &FoundCall) {
        let in_place = !self.needs_statement(call);
        let before = call.before.filter(|_| !in_place);
        // All calls in one statement share a region.
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

    /// Whether a call must keep its name. Then a statement in front of it gives the call site.
    fn needs_statement(&self, call: &FoundCall) -> bool {
        call.routine.result != "void" && self.found.traits.types_functions
    }

    /// Returns why a call may not be redirected, if so.
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

    /// Returns why nothing may be inserted at an offset, if so.
    fn closed_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let device = self.device_reason(offset, function);
        device
            .filter(|_| self.is_for_device())
            .or_else(|| self.nesting.closed.at(offset))
    }

    /// Whether device code must be avoided. Records that the plan depends on the answer.
    fn is_for_device(&self) -> bool {
        self.depends_on_device.set(true);
        !self.host_only
    }

    /// Returns why there may be device code at an offset, if so.
    fn device_reason(&self, offset: usize, function: Option<&Function>) -> Option<&'static str> {
        let named = |function: &Function| self.nesting.device_functions.contains(&function.name);
        match function.is_some_and(named) {
            true => Some("it stands in a declare target function"),
            false => self.nesting.device.at(offset),
        }
    }
}
