//! Finds constructs by the functions that their bodies became, and by the order of calls in a
//! function. The lines of the calls that GNU's compilers make are often wrong.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use profile::model::{Code, Profile, Region};
use profile::region_kind::RegionKind;
use trace::layout::Meaning;

use super::align::{self, Call, CallKind, Found, InCode, Scope, UNNAMED};
use super::bodies;
use super::directives;
use super::entries::gnu_entry;
use super::folding;
use super::inlined::{Inlined, inlined_at, is_entry, own_frame};
use super::machine::Instruction;
use super::module::{Frame, Module};
use super::optional::Optional;
use super::parts::Parts;
use super::sections;
use super::sources::{Constructs, Sources};
use super::symbols::GNU_BODY;
use super::wanted::{Bodies, Function, Wanted, is_head, offset, set};

/// Calls that may belong to the same constructs: their function, the places of the calls by which it
/// was inlined, name of the kind, name or variant, and whether it only asks for the thread's number.
type Group = (
    Function,
    Vec<(String, u32)>,
    &'static str,
    Option<String>,
    bool,
);

/// The properties of the calls of a group.
fn kind_of(group: &Group, kind: RegionKind) -> CallKind<'_> {
    let (_, _, _, name, is_head) = group;
    CallKind {
        kind,
        name: name.as_deref(),
        is_head: *is_head,
    }
}

/// A call in a group.
struct GroupedCall<'w> {
    region: usize,
    /// The function that it is in.
    frame: &'w Frame,
    /// An address in the machine code of that function.
    address: u64,
    call: Call,
}

/// Whether the code of a region is the function that the body of its construct became. The code of
/// a `target` construct is its call.
fn is_body(kind: RegionKind) -> bool {
    use RegionKind as K;
    align::has_function(kind) && kind != K::Target
        || matches!(kind, K::TaskExec | K::UntiedTaskExec)
}

/// Finds the constructs whose bodies are functions.
pub(super) fn find_bodies(
    profile: &mut Profile,
    wanted: &[Wanted],
    sources: &mut Sources,
) -> Bodies {
    let mut found = Bodies::new();
    let mut regions: BTreeMap<Function, Vec<usize>> = BTreeMap::new();
    for one in wanted {
        let region = &profile.regions[one.region];
        // The body must not be a function that is inlined into this one.
        let is_own = |frame: &&Frame| {
            frame.function.contains(GNU_BODY) && is_body(region.kind) && !one.is_shared
        };
        let Some(frame) = one.frames.last().filter(is_own) else {
            continue;
        };
        let constructs = sources.of(&frame.file);
        let of_body = directives::of_body(
            &constructs.all,
            constructs.may_be_more(region.kind, Some(&frame.user))
                || constructs
                    .optional(None, Some(&frame.user))
                    .next()
                    .is_some(),
            region.kind,
            frame.line,
        );
        if let Found::Certain(number) = of_body {
            let function = one.function(frame);
            found.insert(function.clone(), (frame.file.clone(), number));
            regions.entry(function).or_default().push(one.region);
        }
    }
    let found = bodies::each_its_own(found, &regions, profile, sources);
    let found = bodies::not_around(found, &regions, profile, sources);
    for (function, (file, number)) in &found {
        for index in &regions[function] {
            let construct = &sources.of(file).all[*number];
            set(&mut profile.regions[*index], construct);
        }
    }
    found
}

/// What tells calls of a region's kind apart, as in [`CallKind`].
fn name_of_calls(
    region: &Region,
    code: &Code,
    modules: &HashMap<String, Module>,
) -> Option<String> {
    match &region.name {
        Some(name) if name.starts_with(UNNAMED) => Some("?".to_owned()),
        Some(name) => Some(name.clone()),
        None if is_head(region) => None,
        None => {
            let module = modules.get(&code.module)?;
            let variant = module.variant_called(region.kind, code.offset)?;
            Some(variant.to_owned())
        }
    }
}

/// The calls that are not known yet, in groups.
fn grouped<'w>(
    profile: &Profile,
    wanted: &'w [Wanted],
    (modules, bodies): (&HashMap<String, Module>, &Bodies),
    sources: &mut Sources,
) -> BTreeMap<Group, Vec<GroupedCall<'w>>> {
    let mut groups: BTreeMap<Group, Vec<GroupedCall<'w>>> = BTreeMap::new();
    let starts: BTreeSet<(&String, u64)> = wanted
        .iter()
        .filter(|one| is_body(profile.regions[one.region].kind))
        .map(|one| (&one.code.module, one.code.offset))
        .collect();
    for one in wanted {
        let region = &profile.regions[one.region];
        let is_of_body = |frame: &Frame| frame.function.contains(GNU_BODY);
        // The place of a body is known, or it belongs to a directive that the source does not
        // show, such as one in a macro.
        let has_no_order = is_body(region.kind) && one.frames.last().is_some_and(is_of_body);
        if region.directive.is_some() || has_no_order || sections::is_numbered(region) {
            continue;
        }
        let function = |frame: &Frame| one.function(frame);
        let Some(own) = own_frame(&one.frames, function, region.kind, bodies, sources) else {
            continue;
        };
        let frame = &one.frames[own];
        let kind = profile::region_kind::REGION_KINDS
            .iter()
            .find(|row| row.kind == region.kind);
        let group = (
            one.function(frame),
            inlined_at(&one.frames, own),
            kind.map_or("", |row| row.short_name),
            name_of_calls(region, &one.code, modules),
            is_head(region),
        );
        // A call that returns to the library was the last act of a body. If it is a jump, it has a
        // line, which is that of the directive if the body ends with a barrier.
        let is_jump = one.code.offset != offset(region);
        let body = bodies.get(&one.function(frame));
        let is_at_body = body.is_some_and(|(file, number)| {
            let begin = &sources.of(file).all[*number].begin;
            (begin.first..=begin.last).contains(&frame.line)
        });
        let is_last =
            is_jump && is_at_body || starts.contains(&(&one.code.module, one.code.offset));
        let call = match is_last {
            true => Call {
                address: u64::MAX,
                line: u32::MAX,
            },
            false => Call {
                address: one.code.offset,
                line: frame.line,
            },
        };
        groups.entry(group).or_default().push(GroupedCall {
            region: one.region,
            frame,
            address: one.code.offset,
            call,
        });
    }
    groups
}

/// The calls of a group among those that the machine code of its function has, executed or not: for the heads
/// of loops, all that ask for the thread's number. None if not all executed calls are among them.
fn own_calls(
    (function, inlined): (&Function, &Vec<(String, u32)>),
    (of, executed, in_code): (CallKind<'_>, &[GroupedCall<'_>], &[Instruction]),
    known: (&HashMap<String, Module>, &Bodies),
    sources: &mut Sources,
) -> Option<Vec<Call>> {
    let (modules, bodies) = known;
    let (path, _, instance) = function;
    let module = modules.get(path)?;
    let is_last = |one: &&GroupedCall<'_>| one.call.address == u64::MAX;
    let last = executed.iter().find(is_last);
    let mut calls: Vec<Call> = last.map(|one| one.call).into_iter().collect();
    for found in in_code {
        // A jump may be the last act that is known already.
        if last.is_some() && found.is_jump {
            continue;
        }
        let mut frames = module.frames(&Code {
            module: path.clone(),
            offset: found.address,
            symbol: None,
        });
        sources.name_main(&mut frames);
        let of_frame = |frame: &Frame| (path.clone(), frame.function.clone(), *instance);
        let Some(own) = own_frame(&frames, of_frame, of.kind, bodies, sources) else {
            continue;
        };
        if of_frame(&frames[own]) == *function && inlined_at(&frames, own) == *inlined {
            calls.push(Call {
                address: found.address,
                line: frames[own].line,
            });
        }
    }
    // The calls were read rightly only if all executed ones are among them.
    let is_read = |one: &GroupedCall<'_>| {
        let mut calls = calls.iter();
        calls.any(|call| call.address == one.call.address)
    };
    executed.iter().all(is_read).then_some(calls)
}

/// Leaves out of a group what the machine code shows to be no such call: a call of another function, which then
/// jumped to the runtime, so that the runtime returned behind that call.
fn retain_calls(calls: &mut Vec<GroupedCall<'_>>, in_code: Option<&[Instruction]>) {
    if let Some(in_code) = in_code {
        let addresses: BTreeSet<u64> = in_code.iter().map(|call| call.address).collect();
        let is_call = |one: &GroupedCall<'_>| addresses.contains(&one.address);
        calls.retain(|one| one.call.address == u64::MAX || is_call(one));
    }
}

/// Finds the constructs of the calls that are not known yet.
pub(super) fn find_calls(
    profile: &mut Profile,
    wanted: &[Wanted],
    known: (&HashMap<String, Module>, &Bodies),
    sources: &mut Sources,
    meanings: &mut [Meaning],
) {
    let groups = grouped(profile, wanted, known, sources);
    let shared = wanted.iter().filter(|one| one.is_shared);
    let shared: BTreeSet<usize> = shared.map(|one| one.region).collect();
    let executed = folding::executed(profile);
    let mut parts = Parts::default();
    let mut search = Search {
        known,
        others: Inlined::default(),
        optional: Optional::default(),
    };
    for (group, mut calls) in groups {
        let Some(first) = calls.first() else { continue };
        let kind = profile.regions[first.region].kind;
        let of = kind_of(&group, kind);
        let in_code = search.in_code(&group, &calls, of);
        retain_calls(&mut calls, in_code.as_deref());
        if kind == RegionKind::Atomic && search.only_reduce(&group, kind, sources) {
            for one in &calls {
                meanings[one.region] = Meaning::Nothing;
            }
            continue;
        }
        let answer = search.constructs_of(&group, (of, &calls, in_code), sources);
        let Some(mut answer) = answer else { continue };
        answer.check_singles(kind, &calls, &executed);
        for (one, found) in calls.iter().zip(answer.found) {
            let index = one.region;
            search.optional.note(&answer.file, found);
            let place = |number| (answer.file.clone(), number);
            match found {
                // GCC's runtime combines the parts of a reduction as it executes an `atomic`.
                Found::PartOf(_) if kind == RegionKind::Atomic && !answer.may_be_more => {
                    meanings[index] = Meaning::Nothing;
                }
                Found::Near | Found::PartOf(_) | Found::None => {}
                Found::Certain(_) if shared.contains(&index) => meanings[index] = Meaning::Itself,
                Found::EndOf(_) if shared.contains(&index) => {}
                Found::Certain(number) => {
                    parts.begins(place(number), index, answer.is_head_of_several);
                }
                Found::EndOf(number) => {
                    let is_copy = answer.copied.contains(&one.call.line);
                    parts.ends(place(number), index, is_copy);
                }
            }
        }
    }
    parts.set(&executed, profile, sources, meanings);
}

/// The search for the constructs of calls.
struct Search<'s> {
    known: (&'s HashMap<String, Module>, &'s Bodies),
    others: Inlined,
    optional: Optional,
}

/// What was found for the calls of a group.
struct Answer {
    file: String,
    found: Vec<Found>,
    /// Whether there may be more constructs than the source shows.
    may_be_more: bool,
    /// Whether one question for the thread's number may serve several loops.
    is_head_of_several: bool,
    /// The lines of calls of which there may be copies.
    copied: BTreeSet<u32>,
    /// The number of constructs that have such calls.
    places: usize,
}

impl Answer {
    /// Forgets the constructs of calls for `single` constructs if there are copies, and the constructs were not
    /// executed equally often. A thread that skips one of them may have a copy of the next one's call,
    /// with the line of the first.
    fn check_singles(&mut self, kind: RegionKind, calls: &[GroupedCall<'_>], executed: &[u64]) {
        if kind != RegionKind::Single || self.copied.is_empty() {
            return;
        }
        let mut times: BTreeMap<usize, u64> = BTreeMap::new();
        for (one, found) in calls.iter().zip(&self.found) {
            if let Found::Certain(number) = found {
                *times.entry(*number).or_default() += executed[one.region];
            }
        }
        let distinct: BTreeSet<u64> = times.values().copied().collect();
        if distinct.len() > 1 || times.len() < self.places {
            self.found.fill(Found::Near);
        }
    }
}

impl Search<'_> {
    /// The calls of a kind that the machine code of a group's function has, executed or not. None if the code
    /// does not tell.
    fn in_code(
        &self,
        group: &Group,
        calls: &[GroupedCall<'_>],
        of: CallKind<'_>,
    ) -> Option<Vec<Instruction>> {
        let is_lock = of.kind == RegionKind::Lock;
        let is_told = of.is_head || is_lock || gnu_entry(of.kind, of.name).is_some();
        let module = self.known.0.get(&group.0.0).filter(|_| is_told)?;
        module.calls_around(calls.first()?.address, |entry: &str| is_entry(of, entry))
    }

    /// Whether the calls of a group only combine the parts of a reduction of the construct whose body makes them.
    /// Their lines may be those of the user's operator.
    fn only_reduce(&self, group: &Group, kind: RegionKind, sources: &mut Sources) -> bool {
        let Some((file, body)) = self.known.1.get(&group.0) else {
            return false;
        };
        let constructs = sources.of(file);
        let body = &constructs.all[*body];
        let lines = body.begin.first..=body.end.last;
        directives::only_reduce(&constructs.all, kind, lines)
            && !constructs.may_be_more(kind, body.function.as_deref())
    }

    /// The constructs of the calls of a group. None if they may be those of other functions.
    fn constructs_of(
        &mut self,
        group: &Group,
        (of, calls, in_code): (CallKind<'_>, &[GroupedCall<'_>], Option<Vec<Instruction>>),
        sources: &mut Sources,
    ) -> Option<Answer> {
        let (function, inlined, ..) = group;
        let (modules, bodies) = self.known;
        let first = calls.first()?;
        let body = bodies.get(function);
        let file = body.map_or(&first.frame.file, |(file, _)| file);
        // A file that is included in a function has lines of its own.
        if calls.iter().any(|one| one.frame.file != *file) {
            return None;
        }
        let constructs = sources.of(file);
        let scope = Scope::of(body, &constructs.all, &first.frame.user);
        // The user makes the calls of lock routines, so they are in no order of directives.
        let in_code = in_code.filter(|_| of.kind != RegionKind::Lock);
        let entries = in_code.and_then(|in_code| {
            own_calls(
                (function, inlined),
                (of, calls, &in_code),
                self.known,
                sources,
            )
        });
        // The number of questions for the thread's number does not tell the number of loops: the user may
        // ask as well, and a compiler may ask once for several loops.
        let in_code = entries.as_deref().filter(|_| !of.is_head);
        let module = modules.get(&function.0);
        let lines = module.filter(|_| in_code.is_some()).map(|module| {
            let at = (first.address, file.as_str());
            self.others.lines_of(module, &function.0, at, sources)
        });
        let own = (function.clone(), inlined.clone());
        let at = (&own, first.address);
        let (left_out, may_be_fewer) =
            self.optional
                .left_out((file, &constructs), scope, of, in_code);
        let may_be_more = constructs.may_be_more(of.kind, scope.function())
            || may_be_fewer
            || module.is_some_and(|module| self.others.may_be_of_others(module, at, of, sources));
        let is_of_others = module
            .is_some_and(|module| Inlined::may_be_of_those_around(module, at, of, bodies, sources));
        if is_of_others {
            return None;
        }
        let mut found = of_group(
            &constructs,
            may_be_more,
            scope,
            of,
            calls,
            in_code.zip(lines.as_ref()),
            &left_out,
        );
        let called = align::constructs_called(&constructs.all, scope, of);
        let called = called.iter().filter(|number| !left_out.contains(number));
        let number = entries.as_ref().map_or(calls.len(), Vec::len);
        let places = called.count();
        let compared = number.cmp(&places);
        if of.is_head {
            forget_users_own(calls, &constructs, compared, &mut found);
        }
        Some(Answer {
            file: file.clone(),
            found,
            may_be_more,
            places,
            is_head_of_several: of.is_head && compared == Ordering::Less,
            copied: match compared {
                Ordering::Greater => lines_of_several(calls),
                _ => BTreeSet::new(),
            },
        })
    }
}

/// Forgets the loops of calls that ask for the thread's number, but may be the user's own: one in a line of
/// the source that asks for it, and one without the line of a directive if there are more such calls than loops.
fn forget_users_own(
    calls: &[GroupedCall<'_>],
    constructs: &Constructs,
    calls_to_loops: Ordering,
    found: &mut [Found],
) {
    for (one, found) in calls.iter().zip(found) {
        let line = one.call.line;
        found.forget_unless(|number| {
            let begin = &constructs.all[number].begin;
            let is_at_directive = (begin.first..=begin.last).contains(&line);
            !constructs.asking.contains(&line)
                && (is_at_directive || calls_to_loops != Ordering::Greater)
        });
    }
}

/// The lines that several calls have.
fn lines_of_several(calls: &[GroupedCall<'_>]) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    let lines = calls.iter().map(|one| one.call.line);
    lines.filter(|line| !seen.insert(*line)).collect()
}

/// The constructs of the calls of a group. They are told by all calls that the code has, if these are known: a
/// call that was not executed may be one of a directive, or a copy of another call.
fn of_group(
    constructs: &Constructs,
    may_be_more: bool,
    scope: Scope<'_>,
    of: CallKind<'_>,
    calls: &[GroupedCall<'_>],
    in_code: Option<(&[Call], &BTreeSet<u32>)>,
    left_out: &BTreeSet<usize>,
) -> Vec<Found> {
    let all = &constructs.all;
    let code = in_code.map(|(calls, lines)| InCode {
        calls: calls.len(),
        lines,
        repeated: &constructs.repeated,
    });
    let find = |others: &[Call]| {
        // A call that is the last act of a function is one, wherever the function is called.
        let mut distinct: Vec<Call> = calls.iter().map(|one| one.call).collect();
        distinct.extend(others);
        distinct.sort_by_key(|call| call.address);
        distinct.dedup_by_key(|call| call.address);
        let found = align::of_calls(all, may_be_more, scope, of, &distinct, (code, left_out));
        let place = |call: Call| distinct.partition_point(|other| other.address < call.address);
        let of_each = calls.iter().map(|one| found[place(one.call)]);
        of_each.collect::<Vec<Found>>()
    };
    let Some((all, _)) = in_code.filter(|_| !of.is_named_critical()) else {
        return find(&[]);
    };
    let mut found = find(all);
    // Threads without iterations have copies of the barriers behind a loop, which may not be executed.
    if of.kind == RegionKind::Barrier {
        for (found, by_executed) in found.iter_mut().zip(find(&[])) {
            if *found == Found::Near {
                *found = by_executed;
            }
        }
    }
    found
}
