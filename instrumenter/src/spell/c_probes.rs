//! C and C++: the calls of the functions that report events.

use std::collections::{BTreeMap, BTreeSet};

use super::c::CSpeller;
use super::c_asked::Asked;
use super::c_chunks as chunks;
use super::c_regions::STATIC;
use super::c_shapes::{BEGIN_ANNOUNCED, CREATE_TASK, EXECUTE_TASK, FORK_WHOLE, Shape, declaration};
use super::{Step, steps};
use crate::api::Api;
use crate::openmp::Event;
use crate::openmp::events::{
    BARRIER_LEAVE, MEMBER, OR_PASS, Passage, PassageStep, TASK, TASK_EXECUTION, TEAM,
};
use crate::plan::{Fragment, Listed};

impl CSpeller<'_> {
    /// The form of the call of the function that reports an event.
    pub(super) fn shape(&self, event: Event, region: usize) -> Shape {
        let passes = &self.plan.regions[region];
        match () {
            () if event == TEAM.opening() && passes.passes_team => Shape::GivesTeam,
            () if event == TEAM.opening() => Shape::StaysWhole,
            () if event == MEMBER.opening() && passes.passes_team => Shape::TakesTeam,
            () if event == MEMBER.opening() => Shape::FindsTeam,
            () if let Some(passage) = self.passage(event) => match passage.step {
                PassageStep::Begins(_) => Shape::Asks(passage),
                _ => Shape::IfAsked(passage),
            },
            () if !passes.passes_task => Shape::Plain,
            () if event == TASK.opening() => Shape::GivesTask,
            () if event == TASK_EXECUTION.opening() => Shape::TakesTask,
            () => Shape::Plain,
        }
    }

    /// What an event means for an instance that the program passes over itself. A branch of ours would
    /// count in the user's coverage.
    fn passage(&self, event: Event) -> Option<Passage> {
        event.passage().filter(|_| !self.around.apart)
    }

    /// The regions whose instances the program passes over itself, each with whether other constructs
    /// may begin in an instance. A function that must not refer
    /// to static objects has to call the library. So has every function that a `target` region may
    /// call: it must not refer to an object of each thread's own.
    pub(super) fn passed_over(&self) -> BTreeMap<usize, bool> {
        let is_for_device = |listed: &Listed| listed.construct.contains("target");
        if self.plan.listing.iter().any(is_for_device) {
            return BTreeMap::new();
        }
        let asking = self.steps().filter_map(|step| match step {
            Step::Fragment(Fragment::Probe(event, region)) => Some((*event, *region)),
            _ => None,
        });
        asking
            .filter_map(|(event, region)| match self.shape(event, region) {
                Shape::Asks(passage) => Some((region, passage.has_inside)),
                _ => None,
            })
            .filter(|(region, _)| *self.accessor(&self.plan.regions[*region]) == STATIC)
            .collect()
    }

    /// The call of the function that reports an event.
    pub(super) fn probe(&self, event: Event, region: usize) -> String {
        if self.api == Api::Pomp2 {
            return self.pomp2_probe(event, region);
        }
        let descriptor = self.descriptor(region);
        let name = event.name();
        let function = format!("POMP_{name}");
        let statement = |function: &str, arguments: &str| self.asked.statement(function, arguments);
        match self.shape(event, region) {
            Shape::GivesTeam => {
                let handle = self.asked.value(&function, &descriptor, "0");
                format!("void *{} = {handle};", self.team(region))
            }
            Shape::StaysWhole => statement(FORK_WHOLE, &descriptor),
            Shape::TakesTeam => {
                statement(&function, &format!("{descriptor}, {}", self.team(region)))
            }
            Shape::FindsTeam => statement(BEGIN_ANNOUNCED, &descriptor),
            Shape::GivesTask => {
                let handle = self.asked.value(CREATE_TASK, &descriptor, "0");
                format!("void *{} = {handle};", self.new_task(region))
            }
            Shape::TakesTask => {
                let arguments = format!("{descriptor}, {}", self.new_task(region));
                statement(EXECUTE_TASK, &arguments)
            }
            Shape::Asks(passage) => {
                let function = format!("{function}{OR_PASS}");
                let otherwise = (function.as_str(), descriptor.as_str());
                let asking = self.passing.asking(otherwise, passage, region);
                // A library may have the function for the end alone.
                let timed = match self.asked.condition(&[&function]) {
                    Some(condition) => format!("{condition} ? {asking} : 1"),
                    None => asking,
                };
                format!("int {} = {timed};", self.timed(region))
            }
            Shape::IfAsked(passage) => {
                let statement = statement(&function, &descriptor);
                let timed = match self.passing.reports(passage, region) {
                    Some(reports) => format!("{} || {reports}", self.timed(region)),
                    None => self.timed(region),
                };
                match self.asked.is_empty() {
                    true => format!("if ({timed}) {statement}"),
                    false => format!("if ({timed}) {{ {statement} }}"),
                }
            }
            Shape::Plain => statement(&function, &descriptor),
        }
    }

    /// The text that reports the ends of a region's barrier and of the region in one call. `end` is
    /// the event of the region's end. A library without that function gets a substitute, which
    /// calls the functions of the two events.
    pub(super) fn leave(&self, end: Event, region: usize) -> String {
        let function = format!("POMP_{BARRIER_LEAVE}");
        let call = format!("{function}({});", self.descriptor(region));
        let end = format!("POMP_{}", end.name());
        self.asked.guarded(&[&function, &end], call)
    }

    /// Declarations of the functions that the text calls.
    pub(super) fn used_functions(&self) -> BTreeSet<String> {
        let calls = self.plan.calls.iter().map(|call| {
            let routine = call.routine;
            let (result, parameters) = (routine.result, routine.parameters);
            format!(
                "{result} POMP_{}(struct ompregdescr *, {parameters})",
                routine.wrapper
            )
        });
        let register =
            "void POMP_Register_table(unsigned, unsigned, struct romp_region *, unsigned)";
        let asking = (!self.asked.is_empty()).then_some(Asked::FUNCTION);
        let others = [register].into_iter().chain(asking).map(str::to_owned);
        self.reporting().chain(calls).chain(others).collect()
    }

    /// Declarations of the functions that report something to the library, and do nothing else.
    fn reporting(&self) -> impl Iterator<Item = String> {
        let probes = self.steps().filter_map(|step| match step {
            Step::Fragment(Fragment::Probe(event, region)) => {
                Some(declaration(*event, self.shape(*event, *region)))
            }
            Step::Fragment(Fragment::Call(name)) => Some(format!("void POMP_{name}(void)")),
            Step::Leave(..) => Some(format!("void POMP_{BARRIER_LEAVE}(struct ompregdescr *)")),
            Step::Fragment(_) => None,
        });
        let has_loops = !self.plan.loops.is_empty();
        let chunks = has_loops.then_some(chunks::DECLARATIONS);
        let chunks = chunks.into_iter().flatten().map(|text| (*text).to_owned());
        probes.chain(chunks)
    }

    fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let insertions = self.plan.insertions.iter();
        insertions.flat_map(|insertion| steps(&insertion.items, self.api))
    }

    /// The functions that are called only if the library has them. The flags are in the epilogue,
    /// which a text without regions does not have.
    pub(super) fn asked_for(&self) -> BTreeSet<String> {
        if !self.around.asks || self.plan.regions.is_empty() {
            return BTreeSet::new();
        }
        let ends = self.steps().filter_map(|step| match step {
            Step::Leave(end, _) => Some(format!("POMP_{}", end.name())),
            Step::Fragment(_) => None,
        });
        let declared = self.reporting();
        let names = declared.filter_map(|declaration| {
            let name = &declaration[declaration.find("POMP_")?..];
            name.split('(').next().map(str::to_owned)
        });
        names.chain(ends).collect()
    }
}
