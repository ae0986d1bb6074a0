//! Functions that were inlined into the function of a call.
//!
//! A compiler may lose that a call was made by an inlined function: then the call seems to be one of
//! the function around it. If an inlined function has fewer calls than its source has places for them,
//! calls of the function around it may be its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use profile::model::Code;
use profile::region_kind::RegionKind;

use super::align::{self, CallKind, Scope};
use super::entries::gnu_entry;
use super::module::{Frame, Module};
use super::sources::Sources;
use super::symbols::Part;
use super::wanted::{ASKS_FOR_NUMBER, Bodies, Function};

/// A function, and where it was inlined: the functions around it, and the lines that call it.
pub(super) type Instance = (Function, Vec<(String, u32)>);

/// Where the function of a frame was inlined.
pub(super) fn inlined_at(frames: &[Frame], own: usize) -> Vec<(String, u32)> {
    let around = frames[own + 1..].iter();
    around
        .map(|frame| (frame.function.clone(), frame.line))
        .collect()
}

/// The number of the frame in which a call is made. Only the outermost function is certain to have
/// calls of its own. An inlined function has calls if it has constructs.
pub(super) fn own_frame(
    frames: &[Frame],
    function: impl Fn(&Frame) -> Function,
    kind: RegionKind,
    bodies: &Bodies,
    sources: &mut Sources,
) -> Option<usize> {
    let has_calls = |frame: &Frame| {
        let constructs = sources.of(&frame.file);
        bodies.contains_key(&function(frame)) || constructs.may_have(kind, &frame.user)
    };
    frames
        .iter()
        .position(has_calls)
        .or(frames.len().checked_sub(1))
}

/// The functions at each place of the functions of the machine code that were asked for, by their
/// names.
#[derive(Default)]
pub(super) struct Inlined {
    stacks: HashMap<(String, Part), Rc<Vec<Vec<Frame>>>>,
}

impl Inlined {
    /// Whether calls that seem to be made by a function may come from another function that was
    /// inlined into it. `address` lies in the function's machine code.
    pub(super) fn may_be_of_others(
        &mut self,
        module: &Module,
        (own, address): (&Instance, u64),
        of: CallKind<'_>,
        sources: &mut Sources,
    ) -> bool {
        let (path, _, instance) = &own.0;
        let function = |frame: &Frame| (path.clone(), frame.function.clone(), *instance);
        let mut places: BTreeMap<Instance, usize> = BTreeMap::new();
        let stacks = self.stacks(module, path, address, sources);
        for frames in stacks.iter().filter(|frames| frames.len() > 1) {
            for (inner, number) in inner(frames, own, function, of, sources) {
                places.insert(inner, number);
            }
        }
        if places.is_empty() {
            return false;
        }
        let is_asked = |entry: &str| is_entry(of, entry);
        for call in module.calls_around(address, is_asked).unwrap_or_default() {
            let mut frames = module.frames(&at(path, call.address));
            sources.name_main(&mut frames);
            for (inner, _) in inner(&frames, own, function, of, sources) {
                if let Some(left) = places.get_mut(&inner) {
                    *left = left.saturating_sub(1);
                }
            }
        }
        places.values().any(|left| *left > 0)
    }

    /// Whether calls of a function that was inlined may be those of functions around it, too: one of
    /// these has fewer calls than its source has places. A compiler makes one call of equal ones at
    /// the ends of branches, and it may have the place of either.
    pub(super) fn may_be_of_those_around(
        module: &Module,
        (own, address): (&Instance, u64),
        of: CallKind<'_>,
        bodies: &Bodies,
        sources: &mut Sources,
    ) -> bool {
        let (path, _, instance) = &own.0;
        let function = |frame: &Frame| (path.clone(), frame.function.clone(), *instance);
        let mut of_call = |address| {
            let mut frames = module.frames(&at(path, address));
            sources.name_main(&mut frames);
            let instance = |at: usize| (function(&frames[at]), inlined_at(&frames, at));
            let instances: Vec<Instance> = (0..frames.len()).map(instance).collect();
            let makes = own_frame(&frames, function, of.kind, bodies, sources);
            (instances, frames, makes)
        };
        if own.1.is_empty() || of.is_head || gnu_entry(of.kind, of.name).is_none() {
            return false;
        }
        let is_asked = |entry: &str| is_entry(of, entry);
        let calls = module.calls_around(address, is_asked).unwrap_or_default();
        let all: Vec<_> = calls.iter().map(|call| of_call(call.address)).collect();
        let Some((around, frames, _)) = all.iter().find(|(instances, ..)| instances.contains(own))
        else {
            return true;
        };
        let own = around.iter().position(|one| one == own).unwrap_or(0);
        let outer = around.iter().zip(frames).skip(own + 1);
        let mut lacking = outer.filter(|(instance, frame)| {
            let body = bodies.get(&instance.0);
            let file = body.map_or(&frame.file, |(file, _)| file);
            let constructs = sources.of(file);
            let scope = Scope::of(body, &constructs.all, &frame.user);
            let least = align::least_calls(&constructs.all, scope, of);
            let is_its = |(of, _, makes): &&(Vec<Instance>, Vec<Frame>, Option<usize>)| {
                makes.is_some_and(|makes| of[makes] == **instance)
            };
            all.iter().filter(is_its).count() < least
        });
        lacking.next().is_some()
    }

    /// The lines of a file from which the code of the function at an address was made.
    pub(super) fn lines_of(
        &mut self,
        module: &Module,
        path: &str,
        (address, file): (u64, &str),
        sources: &mut Sources,
    ) -> BTreeSet<u32> {
        let stacks = self.stacks(module, path, address, sources);
        let frames = stacks.iter().flatten();
        let of_file = frames.filter(|frame| frame.file == file);
        of_file.map(|frame| frame.line).collect()
    }

    /// The functions at each place of the machine code of the function at an address.
    fn stacks(
        &mut self,
        module: &Module,
        path: &str,
        address: u64,
        sources: &mut Sources,
    ) -> Rc<Vec<Vec<Frame>>> {
        let Some((part, pieces)) = module.pieces_around(address) else {
            return Rc::default();
        };
        let read = || {
            let mut stacks: Vec<Vec<Frame>> = Vec::new();
            for address in module.places_in(pieces) {
                let mut frames = module.frames(&at(path, address));
                sources.name_main(&mut frames);
                if stacks.last() != Some(&frames) {
                    stacks.push(frames);
                }
            }
            Rc::new(stacks)
        };
        let known = self.stacks.entry((path.to_owned(), part));
        Rc::clone(known.or_insert_with(read))
    }
}

/// The functions inlined into a function that have places for such calls, with the number of these.
fn inner(
    frames: &[Frame],
    own: &Instance,
    function: impl Fn(&Frame) -> Function,
    of: CallKind<'_>,
    sources: &mut Sources,
) -> Vec<(Instance, usize)> {
    let is_own = |at: &usize| function(&frames[*at]) == own.0 && inlined_at(frames, *at) == own.1;
    let own = (0..frames.len()).find(is_own).unwrap_or(0);
    let mut found = Vec::new();
    for (at, frame) in frames[..own].iter().enumerate() {
        let constructs = sources.of(&frame.file);
        let scope = Scope::Function(&frame.user);
        let number = align::constructs_called(&constructs.all, scope, of).len();
        if number > 0 {
            found.push(((function(frame), inlined_at(frames, at)), number));
        }
    }
    found
}

fn at(path: &str, offset: u64) -> Code {
    Code {
        module: path.to_owned(),
        offset,
        symbol: None,
    }
}

/// Whether calls are those of an entry.
pub(super) fn is_entry(of: CallKind<'_>, entry: &str) -> bool {
    match (of.kind, of.name) {
        (RegionKind::Loop, _) if of.is_head => entry == ASKS_FOR_NUMBER,
        (RegionKind::Lock, Some(name)) => entry.trim_end_matches('_') == name,
        _ => gnu_entry(of.kind, of.name).is_some_and(|is_asked| is_asked(entry)),
    }
}
