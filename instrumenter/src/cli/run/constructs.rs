//! Finds the construct of the source for each region of a program that was not built with Romp,
//! by the program's debug information, if there is any.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use profile::descriptor::Descriptor;
use profile::model::{Code, Profile, Region, Runtime};
use profile::region_kind::RegionKind;

use super::align::{self, Call, Found, Of, Scope, UNNAMED};
use super::folding;
use super::guards::{name_critical, name_guards};
use super::module::{Frame, GNU_BODY, Module};
use super::sections::{self, Numbered};
use super::sources::{Compiled, Sources};
use trace::layout::Meaning;

/// A region whose construct is looked for.
#[derive(Debug)]
struct Wanted {
    region: usize,
    code: Code,
    /// What tells the function at its address from others with the same name.
    instance: u64,
    /// The functions at its address, innermost first.
    frames: Vec<Frame>,
    /// Whether the compiler stated its place.
    is_stated: bool,
    /// Whether its function was made from several equal ones, so that its construct is not certain.
    is_shared: bool,
}

/// A function of a module: its name, and what tells it from others with this name.
type Function = (String, String, u64);

impl Wanted {
    /// The function of a frame at its address.
    fn function(&self, frame: &Frame) -> Function {
        let (module, name) = (self.code.module.clone(), frame.function.clone());
        (module, name, self.instance)
    }
}

/// Functions made from the bodies of constructs. The value is the file and the number of the
/// construct.
type Bodies = HashMap<Function, (String, usize)>;

/// Calls that may belong to the same constructs: their function, name of the kind, name, and
/// whether it only asks for the thread's number.
type Group = (Function, &'static str, Option<String>, bool);

/// A call in a group: its region, and the function that it is in.
type GroupedCall<'w> = (usize, &'w Frame, Call);

/// Finds the construct of each region that is identified by its machine code. Returns for each
/// region of the profile what it turned out to be.
pub(super) fn locate(profile: &mut Profile) -> Vec<(Region, Meaning)> {
    let mut modules: HashMap<String, Module> = HashMap::new();
    let mut sources = Sources::default();
    let numbered = sections::numbered(profile);
    let mut wanted = Vec::new();
    let mut names: HashMap<String, String> = HashMap::new();
    for (index, region) in profile.regions.iter_mut().enumerate() {
        let Some(code) = region.code.clone() else {
            continue;
        };
        if region.kind == RegionKind::Function {
            continue;
        }
        let module = modules
            .entry(code.module.clone())
            .or_insert_with_key(|module| Module::open(Path::new(module)));
        let before = region.name.clone();
        name_critical(region, module.lines.as_ref());
        if before != region.name {
            names.extend(before.zip(region.name.clone()));
        }
        let (code, frames) = match module.stated(region) {
            Some(frame) => (code, vec![frame]),
            None => {
                let code = module.call(region, code);
                let frames = module.frames(&code);
                (code, frames)
            }
        };
        let is_stated = region.begin[0] > 0;
        if let Some(frame) = frames.first().filter(|_| !is_stated) {
            place_near(region, frame, &frames);
        }
        wanted.push(Wanted {
            region: index,
            is_shared: is_shared(module, &code, &mut sources),
            instance: module.instance(code.offset),
            code,
            frames,
            is_stated,
        });
    }
    let compiled = compiled(&wanted, &modules, &mut sources);
    sources.remove_left_out(&compiled);
    for contention in &mut profile.contention {
        if let Some(name) = names.get(&contention.name) {
            contention.name.clone_from(name);
        }
    }
    let meaning = |region: &Region| match is_head(region) {
        // Without the source, the user may as well have asked for the thread's number.
        true => Meaning::Nothing,
        false => Meaning::Itself,
    };
    let mut meanings: Vec<Meaning> = profile.regions.iter().map(meaning).collect();
    // If the code for one compiler's runtime is served by another runtime, the modules must be
    // judged separately.
    let is_gnu = |runtime: &Runtime| runtime.path.contains("libgomp");
    let is_gnu = profile.run.runtimes.iter().all(is_gnu);
    let (by_order, by_line): (Vec<Wanted>, Vec<Wanted>) = wanted.into_iter().partition(|one| {
        let module = modules.get(&one.code.module);
        !one.is_stated && module.and_then(Module::is_gnu).unwrap_or(is_gnu)
    });
    let bodies = find_bodies(profile, &by_order, &mut sources);
    find_calls(profile, &by_order, &bodies, &mut sources, &mut meanings);
    find_by_lines(profile, &by_line, &mut sources, &mut meanings);
    find_sections(profile, &numbered, &mut sources);
    name_guards(profile);
    for region in &mut profile.regions {
        if region.kind == RegionKind::Ordered && region.code.is_some() {
            region.name = None;
        }
    }
    let regions = profile.regions.iter().cloned();
    let found = regions.zip(meanings.iter().copied()).collect();
    folding::apply(profile, &meanings);
    folding::drop_empty(profile);
    found
}

/// The lines with code, in files with constructs that may be left out.
fn compiled(
    wanted: &[Wanted],
    modules: &HashMap<String, Module>,
    sources: &mut Sources,
) -> Compiled {
    let mut compiled = Compiled::new();
    let mut asked: BTreeSet<&String> = BTreeSet::new();
    for one in wanted {
        for frame in &one.frames {
            if sources.has_branches(&frame.file) {
                compiled.entry(frame.file.clone()).or_default();
                asked.insert(&one.code.module);
            }
        }
    }
    for module in asked {
        let lines = modules.get(module).and_then(|module| module.lines.as_ref());
        let places = lines.and_then(|lines| lines.find_location_range(0, u64::MAX).ok());
        for (_, _, place) in places.into_iter().flatten() {
            let lines = place.file.and_then(|file| compiled.get_mut(file));
            if let (Some(lines), Some(line)) = (lines, place.line) {
                lines.insert(line);
            }
        }
    }
    compiled
}

/// Whether the function that makes a call stands for several functions of the source. A function
/// that has constructs in the source, but only jumps to this one, was equal to it: otherwise it
/// would call the runtime itself.
fn is_shared(module: &Module, code: &Code, sources: &mut Sources) -> bool {
    let has_own = |frame: Frame| {
        let constructs = sources.of(&frame.file);
        let is_its = |own: &String| align::is_same(own, &frame.user);
        let mut functions = constructs.all.iter().filter_map(|of| of.function.as_ref());
        frame.function.contains(GNU_BODY) || functions.any(is_its)
    };
    module.is_shared(code.offset) || module.stand_ins(code).into_iter().any(has_own)
}

/// Whether a region is a loop that only asks for the thread's number.
fn is_head(region: &Region) -> bool {
    region.kind == RegionKind::Loop && region.code.is_some() && region.schedule.is_some()
}

/// Sets the place of a region from what is known without the source.
fn place_near(region: &mut Region, frame: &Frame, frames: &[Frame]) {
    let outermost = frames.last().map(|frame| frame.user.clone());
    region.function = outermost.filter(|name| !name.is_empty());
    if frame.line > 0 {
        region.file.clone_from(&frame.file);
        region.begin = [frame.line; 2];
        region.end = [frame.line; 2];
        region.near = true;
    }
}

/// Finds the constructs at the lines that debug information gives for calls. With LLVM's
/// compilers these lines are right.
fn find_by_lines(
    profile: &mut Profile,
    wanted: &[Wanted],
    sources: &mut Sources,
    meanings: &mut [Meaning],
) {
    let mut found: HashMap<(&str, u64), (String, usize)> = HashMap::new();
    // Loops that make tasks, and those with a group that the runtime opened around them.
    let (mut loops, mut groups) = (Vec::new(), BTreeSet::new());
    let place = |one: &Wanted| {
        (
            one.code.module.clone(),
            offset(&profile.regions[one.region]),
        )
    };
    let places: BTreeSet<(String, u64)> = wanted.iter().map(place).collect();
    for one in wanted {
        let region = &mut profile.regions[one.region];
        let offset = offset(region);
        // There is no call one byte behind another call; such an address marks a last act.
        if places.contains(&(one.code.module.clone(), offset.wrapping_sub(1))) {
            continue;
        }
        for frame in &one.frames {
            let constructs = sources.of(&frame.file);
            let at = |kind| {
                let name = region.name.as_deref();
                let column = one.is_stated.then_some(region.column);
                align::at_directive(&constructs.all, kind, name, (frame.line, column))
            };
            let at_line = match at(region.kind) {
                // LLVM's runtime opens a group around such a loop.
                Found::Near if region.kind == RegionKind::Taskgroup => at(RegionKind::Taskloop),
                found => found,
            };
            if let Found::Certain(number) = at_line {
                note_part(
                    region.kind,
                    &constructs.all[number],
                    &mut meanings[one.region],
                );
                if region.kind == RegionKind::Taskloop {
                    loops.push((one.region, frame.file.clone(), number));
                } else if at(region.kind) == Found::Near {
                    groups.insert((frame.file.clone(), number));
                }
                set(region, &constructs.all[number]);
                let place = (one.code.module.as_str(), offset);
                found.insert(place, (frame.file.clone(), number));
                break;
            }
        }
    }
    for (region, file, number) in loops {
        if groups.contains(&(file, number)) {
            meanings[region] = Meaning::PartOfItsParallel;
        }
    }
    find_last_acts(profile, wanted, found, sources, meanings);
}

/// The return address of a region's call, as measured.
fn offset(region: &Region) -> u64 {
    region.code.as_ref().map_or(0, |code| code.offset)
}

/// Finds the constructs of calls that bodies make as their last act. The address of such a call
/// is one byte behind the call to which its body was passed.
fn find_last_acts<'a>(
    profile: &mut Profile,
    wanted: &'a [Wanted],
    mut found: HashMap<(&'a str, u64), (String, usize)>,
    sources: &mut Sources,
    meanings: &mut [Meaning],
) {
    // A body that is found in this way may call others.
    let mut behind: Vec<&'a Wanted> = wanted.iter().collect();
    behind.sort_by_key(|one| offset(&profile.regions[one.region]));
    for one in behind {
        let region = &mut profile.regions[one.region];
        let offset = offset(region);
        let body = offset
            .checked_sub(1)
            .and_then(|place| found.get(&(one.code.module.as_str(), place)));
        let Some((file, body)) = body.filter(|_| region.directive.is_none()).cloned() else {
            continue;
        };
        let constructs = sources.of(&file);
        if region.kind == RegionKind::Taskloop
            && constructs.all[body].kind() == Some(RegionKind::Taskloop)
        {
            meanings[one.region] = Meaning::PartOfItsParallel;
            set(region, &constructs.all[body]);
            continue;
        }
        let last = align::last_of_body(
            &constructs.all,
            constructs.may_be_more(constructs.all[body].function.as_deref()),
            &constructs.all[body],
            region.kind,
        );
        // A construct with another call has no call here.
        if let Found::Certain(number) = last
            && !found
                .values()
                .any(|(of, known)| *of == file && *known == number)
        {
            note_part(
                region.kind,
                &constructs.all[number],
                &mut meanings[one.region],
            );
            set(region, &constructs.all[number]);
            found.insert((one.code.module.as_str(), offset), (file, number));
        }
    }
}

/// Records that the worksharing of a combined construct is a part of that construct.
fn note_part(kind: RegionKind, construct: &Descriptor, meaning: &mut Meaning) {
    let is_combined = construct.kind().is_some_and(RegionKind::is_parallel);
    if is_combined && matches!(kind, RegionKind::Loop | RegionKind::Sections) {
        *meaning = Meaning::PartOfItsParallel;
    }
}

/// Whether the code of a region is the function that the body of its construct became. That of a
/// `target` construct is its call.
fn is_body(kind: RegionKind) -> bool {
    use RegionKind as K;
    align::has_function(kind) && kind != K::Target
        || matches!(kind, K::TaskExec | K::UntiedTaskExec)
}

/// Finds the constructs whose bodies are functions.
fn find_bodies(profile: &mut Profile, wanted: &[Wanted], sources: &mut Sources) -> Bodies {
    let mut bodies = Bodies::new();
    for one in wanted {
        let region = &mut profile.regions[one.region];
        // The body must not be a function that is inlined into this one.
        let is_own = |frame: &&Frame| {
            frame.function.contains(GNU_BODY) && is_body(region.kind) && !one.is_shared
        };
        let Some(frame) = one.frames.last().filter(is_own) else {
            continue;
        };
        let constructs = sources.of(&frame.file);
        let found = align::of_body(
            &constructs.all,
            constructs.may_be_more(Some(&frame.user)),
            region.kind,
            frame.line,
        );
        if let Found::Certain(number) = found {
            set(region, &constructs.all[number]);
            bodies.insert(one.function(frame), (frame.file.clone(), number));
        }
    }
    bodies
}

/// The calls that are not known yet, in groups.
fn grouped<'w>(
    profile: &Profile,
    wanted: &'w [Wanted],
    bodies: &Bodies,
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
        // Only the outermost function is certain to have calls of its own. An inlined function
        // has calls if it has constructs.
        let is_of = |frame: &&Frame| {
            let key = one.function(frame);
            let constructs = sources.of(&frame.file);
            bodies.contains_key(&key) || constructs.may_have(region.kind, &frame.user)
        };
        let Some(frame) = one.frames.iter().find(is_of).or(one.frames.last()) else {
            continue;
        };
        let kind = profile::region_kind::KINDS
            .iter()
            .find(|row| row.kind == region.kind);
        let group = (
            one.function(frame),
            kind.map_or("", |row| row.short_name),
            region
                .name
                .clone()
                .map(|name| match name.starts_with(UNNAMED) {
                    true => "?".to_owned(),
                    false => name,
                }),
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
        groups
            .entry(group)
            .or_default()
            .push((one.region, frame, call));
    }
    groups
}

/// Finds the constructs of the calls that are not known yet.
fn find_calls(
    profile: &mut Profile,
    wanted: &[Wanted],
    bodies: &Bodies,
    sources: &mut Sources,
    meanings: &mut [Meaning],
) {
    let groups = grouped(profile, wanted, bodies, sources);
    let shared = wanted.iter().filter(|one| one.is_shared);
    let shared: BTreeSet<usize> = shared.map(|one| one.region).collect();
    let executed = folding::executed(profile);
    let mut ends: BTreeMap<(String, usize), Vec<usize>> = BTreeMap::new();
    let mut begun: BTreeMap<(String, usize), u64> = BTreeMap::new();
    for ((function, _, name, is_head), calls) in groups {
        let Some((first, frame, _)) = calls.first() else {
            continue;
        };
        let kind = profile.regions[*first].kind;
        let body = bodies.get(&function);
        let file = body.map_or(&frame.file, |(file, _)| file);
        let constructs = sources.of(file);
        let scope = match body {
            Some((_, number)) => Scope::Body(&constructs.all[*number]),
            None => Scope::Function(&frame.user),
        };
        // A call that is the last act of a function is one, wherever the function is called.
        let mut distinct: Vec<Call> = calls.iter().map(|(_, _, call)| *call).collect();
        distinct.sort_by_key(|call| call.address);
        distinct.dedup_by_key(|call| call.address);
        let found = align::of_calls(
            &constructs.all,
            constructs.may_be_more(scope.function()),
            scope,
            Of {
                kind,
                name: name.as_deref(),
                is_head,
            },
            &distinct,
        );
        for (index, _, call) in &calls {
            let number = distinct.partition_point(|one| one.address < call.address);
            let found = found[number];
            let region = &mut profile.regions[*index];
            match found {
                Found::Near | Found::None => {}
                Found::Certain(_) if shared.contains(index) => meanings[*index] = Meaning::Itself,
                Found::EndOf(_) if shared.contains(index) => {}
                Found::Certain(number) => {
                    let construct = &constructs.all[number];
                    meanings[*index] = Meaning::Itself;
                    note_part(kind, construct, &mut meanings[*index]);
                    set(region, construct);
                    *begun.entry((file.clone(), number)).or_default() += executed[*index];
                }
                Found::EndOf(number) => {
                    ends.entry((file.clone(), number)).or_default().push(*index);
                }
            }
        }
    }
    for (place, barriers) in ends {
        let construct = &sources.of(&place.0).all[place.1];
        let ended: u64 = barriers.iter().map(|index| executed[*index]).sum();
        // What is counted by its begin ends as often. A compiler may make one call of the barriers
        // of several constructs.
        let is_begun = begun.get(&place).is_some_and(|begun| *begun >= ended);
        if construct.kind() != Some(RegionKind::Single) || is_begun {
            for index in barriers {
                meanings[index] = Meaning::Barrier;
                set(&mut profile.regions[index], construct);
            }
        }
    }
}

/// Finds the constructs of numbered sections.
fn find_sections(profile: &mut Profile, numbered: &[Numbered], sources: &mut Sources) {
    for section in numbered {
        if let Some((region, construct)) = sections::construct(section, profile, sources) {
            set(&mut profile.regions[region], &construct);
        }
    }
}

/// Turns a region into that of a construct.
fn set(region: &mut Region, construct: &Descriptor) {
    let end = construct.end_lines();
    let construct = construct.clone();
    let kind = construct.kind().unwrap_or(region.kind);
    (region.kind, region.region_type) = match (region.kind, kind) {
        (RegionKind::TaskExec | RegionKind::UntiedTaskExec, RegionKind::UntiedTask) => {
            (RegionKind::UntiedTaskExec, "taskuntiedexec".to_owned())
        }
        (RegionKind::TaskExec | RegionKind::UntiedTaskExec, _) => {
            (RegionKind::TaskExec, "taskexec".to_owned())
        }
        (RegionKind::Section, _) => (RegionKind::Section, "section".to_owned()),
        _ => (kind, construct.region_type),
    };
    region.end = end;
    region.file = construct.begin.file;
    region.begin = [construct.begin.first, construct.begin.last];
    region.column = construct.column;
    region.name = construct.name;
    region.function = construct.function;
    region.directive = construct.directive;
    region.ordinal = construct.ordinal;
    region.schedule = construct.schedule;
    region.num_sections = construct.num_sections;
    region.code = None;
    region.near = false;
}
