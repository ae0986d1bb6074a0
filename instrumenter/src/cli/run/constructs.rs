//! Finds the construct of the source for each region of a program that was not built with Romp,
//! by the program's debug information, if there is any.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use addr2line::Loader;
use profile::model::{Code, Profile, Region, Runtime};
use profile::region_kind::RegionKind;

use super::align;
use super::branches::Compiled;
use super::by_line::find_by_lines;
use super::by_order::{find_bodies, find_calls};
use super::folding;
use super::guards::{name_critical, name_guards};
use super::module::{Frame, Module};
use super::sections::{self, Numbered};
use super::sources::Sources;
use super::symbols::GNU_BODY;
use super::wanted::{Wanted, is_head, set};
use trace::layout::Meaning;

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
            .or_insert_with_key(|path| {
                let module = Module::open(Path::new(path));
                sources.look_in(module.folders());
                sources.note_module(Path::new(path));
                module
            });
        let before = region.name.clone();
        name_critical(region, module.lines.as_ref());
        if before != region.name {
            names.extend(before.zip(region.name.clone()));
        }
        let (code, frames) = match module.stated(region) {
            Some(frame) => (code, vec![frame]),
            None => {
                let code = module.call(region, code);
                let mut frames = module.frames(&code);
                sources.name_main(&mut frames);
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
    let (by_order, by_line) = by_compiler(wanted, profile, &modules);
    let bodies = find_bodies(profile, &by_order, &mut sources);
    let known = (&modules, &bodies);
    find_calls(profile, &by_order, known, &mut sources, &mut meanings);
    find_by_lines(profile, &by_line, &mut sources, &mut meanings);
    find_sections(profile, &numbered, &mut sources);
    profile.run.notes.extend(sources.note_on_changed());
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

/// Divides regions into those of calls that GNU's compilers made, and all others.
fn by_compiler(
    wanted: Vec<Wanted>,
    profile: &Profile,
    modules: &HashMap<String, Module>,
) -> (Vec<Wanted>, Vec<Wanted>) {
    // If the code for one compiler's runtime is served by another runtime, the modules must be
    // judged separately.
    let is_gnu = profile.run.runtimes.iter().all(Runtime::is_gnu);
    wanted.into_iter().partition(|one| {
        let module = modules.get(&one.code.module);
        !one.is_stated && module.and_then(Module::is_gnu).unwrap_or(is_gnu)
    })
}

/// The lines with code, in files with constructs that may be left out.
fn compiled(
    wanted: &[Wanted],
    modules: &HashMap<String, Module>,
    sources: &mut Sources,
) -> BTreeMap<String, Compiled> {
    let mut compiled: BTreeMap<String, Compiled> = BTreeMap::new();
    let mut makers: BTreeMap<String, BTreeSet<Option<bool>>> = BTreeMap::new();
    let mut asked: BTreeSet<&String> = BTreeSet::new();
    for one in wanted {
        for frame in &one.frames {
            if sources.has_branches(&frame.file) {
                compiled.entry(frame.file.clone()).or_default();
                asked.insert(&one.code.module);
                let is_gnu = modules.get(&one.code.module).and_then(Module::is_gnu);
                makers.entry(frame.file.clone()).or_default().insert(is_gnu);
            }
        }
    }
    for (file, makers) in makers {
        if let (Some(is_gnu), 1) = (makers.first(), makers.len()) {
            compiled.entry(file).or_default().is_gnu = *is_gnu;
        }
    }
    for module in asked {
        let lines = modules.get(module).and_then(|module| module.lines.as_ref());
        let Some(lines) = lines else { continue };
        let places = lines.find_location_range(0, u64::MAX);
        for (address, ..) in places.into_iter().flatten() {
            add_lines(lines, address, &mut compiled);
        }
    }
    compiled
}

/// Adds the lines from which the code at an address was made to those of their files: its own, and
/// those of the calls of functions that were inlined. All code of a call may have lines of the
/// function that it calls.
fn add_lines(lines: &Loader, address: u64, compiled: &mut BTreeMap<String, Compiled>) {
    let Ok(mut frames) = lines.find_frames(address) else {
        return;
    };
    while let Ok(Some(frame)) = frames.next() {
        let place = frame
            .location
            .and_then(|place| Some((place.file?, place.line?)));
        if let Some((file, line)) = place
            && let Some(compiled) = compiled.get_mut(file)
        {
            compiled.lines.insert(line);
        }
    }
}

/// Whether the function that makes a call stands for several functions of the source. A function
/// that has constructs in the source, but only jumps to this one, was equal to it: otherwise it
/// would call the runtime itself.
fn is_shared(module: &Module, code: &Code, sources: &mut Sources) -> bool {
    let has_own = |frame: Frame| {
        let constructs = sources.of(&frame.file);
        let is_its = |own: &String| align::is_same(own, &frame.user, constructs.ignores_case);
        let mut functions = constructs.all.iter().filter_map(|of| of.function.as_ref());
        frame.function.contains(GNU_BODY) || functions.any(is_its)
    };
    module.is_shared(code.offset) || module.stand_ins(code).into_iter().any(has_own)
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

/// Finds the constructs of numbered sections.
fn find_sections(profile: &mut Profile, numbered: &[Numbered], sources: &mut Sources) {
    for section in numbered {
        if let Some((region, construct)) = sections::construct(section, profile, sources) {
            set(&mut profile.regions[region], &construct);
        }
    }
}
