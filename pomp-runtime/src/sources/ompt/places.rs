//! Regions by where the runtime was called from, found without a lock.
//!
//! A call that is the last act of a region's body may return into the runtime, which called the
//! body. Such a call is known by that region: its place is one byte after the region's place,
//! where there is no call.
//!
//! The address that LLVM's runtime gives may be missing, or that of another thread's call. So the
//! address that the thread noted for its call comes first (`stated`). A runtime may give no address
//! of a call that nobody noted. If such a call begins a worksharing construct, the place of its
//! region is unknown.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use profile::descriptor::{Descriptor, SourceLines};
use profile::model::Code;
use profile::region_kind::RegionKind;

use super::super::boundary::event_of;
use super::super::by_address::{self, Registry, Table};
use super::stated::{self, NotedCall, StatedPlace};
use crate::measure::mutex::lock;
use crate::measure::records::Region;
use crate::measure::records::region::{self, register};
use crate::measure::shared::{SharedRef, leak};
use crate::measure::thread::Thread;
use crate::measure::{errno, handed_out, modules};

/// The runtimes that call us: their files, and where they lie.
static RUNTIMES: Mutex<Vec<(PathBuf, usize)>> = Mutex::new(Vec::new());

/// From now on the runtime that an address belongs to calls us.
pub(super) fn add_runtime(address: usize) {
    lock(&RUNTIMES).extend(modules::module_at(address));
}

/// The files of the runtimes.
pub(super) fn runtimes() -> Vec<PathBuf> {
    let runtimes = lock(&RUNTIMES);
    runtimes.iter().map(|(path, _)| path.clone()).collect()
}

/// Whether the module at this address is a runtime that calls us.
fn is_runtime(base: usize) -> bool {
    lock(&RUNTIMES).iter().any(|(_, known)| *known == base)
}

/// The file of a region whose place is unknown.
const UNKNOWN: &str = "(unknown place)";

/// The subject of measurement at a place: the kind of the region, and for a critical section the number by
/// which the runtime knows it.
pub(super) type PlaceKind = (RegionKind, u64);

#[derive(Debug)]
struct CodePlace {
    address: usize,
    what: PlaceKind,
    region: SharedRef<Region>,
    known: PlaceKnowledge,
}

/// The knowledge about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceKnowledge {
    /// Its region.
    Region,
    /// The address is in the runtime.
    Inside,
    /// The compiler stated nothing.
    Nothing,
}

impl by_address::AddressRecord for CodePlace {
    fn address(&self) -> usize {
        self.address
    }

    fn replaces(&self, other: &Self) -> bool {
        self.what == other.what
    }
}

static TABLE: Table<CodePlace> = Table::none();

static BOOK: Mutex<Registry<(usize, PlaceKind), CodePlace>> = Mutex::new(Registry::new());

/// The code that called the runtime.
enum Caller {
    Program(Code),
    /// The compiler stated the place.
    Stated(Code, StatedPlace),
    Runtime,
    /// The compiler stated nothing.
    Silent,
    /// The runtime gave no address.
    Unknown,
}

/// The region of a construct that begins. The runtime gives an address to which its call returns;
/// none if no address is known.
#[inline(always)]
pub(super) fn region(what: PlaceKind, address: usize) -> Option<&'static Region> {
    match address {
        0 if !stated::noted_call().reports(what.0) => None,
        _ => region_or_unknown(what, address),
    }
}

/// As [`region`]; if no address is known, the region of an unknown place.
#[inline(always)]
pub(super) fn region_or_unknown(what: PlaceKind, address: usize) -> Option<&'static Region> {
    let place = find(what, address)?;
    match place.known {
        PlaceKnowledge::Inside => last_act(what),
        _ => place.region.get(),
    }
}

/// Whether a call returns into the runtime.
#[inline(always)]
pub(super) fn is_inside(what: PlaceKind, address: usize) -> bool {
    let place = (address != 0).then(|| by_address(what, address)).flatten();
    place.is_some_and(|place| place.known == PlaceKnowledge::Inside)
}

/// Whether the compiler stated the place of a call.
pub(super) fn is_stated(what: PlaceKind, address: usize) -> bool {
    noted_call_of(what, address).is_some_and(|noted| by_record(what, noted).is_some())
}

/// The place of a call. It comes from the record in which the compiler stated the place, else from
/// the return address that the entry noted, else from the address that the runtime gives.
#[inline(always)]
fn find(what: PlaceKind, address: usize) -> Option<&'static CodePlace> {
    let Some(noted) = noted_call_of(what, address) else {
        return by_address(what, address);
    };
    stated::mark_reported(noted, what.0);
    by_record(what, noted)
        // A call inside the runtime may serve one of the program, whose address the runtime gives.
        .or_else(|| {
            by_address(what, noted.return_address)
                .filter(|place| place.known != PlaceKnowledge::Inside)
        })
        .or_else(|| by_address(what, address))
}

/// The call that this thread noted, if an event belongs to it.
#[inline(always)]
fn noted_call_of(what: PlaceKind, address: usize) -> Option<NotedCall> {
    let noted = stated::noted_call();
    let is_its =
        noted.return_address != 0 && (noted.return_address == address || noted.reports(what.0));
    is_its.then_some(noted)
}

#[inline(always)]
fn by_record(what: PlaceKind, noted: NotedCall) -> Option<&'static CodePlace> {
    let NotedCall {
        record,
        return_address,
        ..
    } = noted;
    if record == 0 {
        return None;
    }
    let place = find_at(what, record, || stated_at(record, return_address))?;
    (place.known != PlaceKnowledge::Nothing).then_some(place)
}

#[inline(always)]
fn by_address(what: PlaceKind, address: usize) -> Option<&'static CodePlace> {
    find_at(what, address, || match modules::module_at(address) {
        None if address == 0 => Some(Caller::Unknown),
        None => None,
        Some((_, base)) if is_runtime(base) => Some(Caller::Runtime),
        Some((module, base)) => Some(Caller::Program(code(&module, base, address))),
    })
}

#[inline(always)]
fn find_at(
    what: PlaceKind,
    address: usize,
    caller: impl FnOnce() -> Option<Caller>,
) -> Option<&'static CodePlace> {
    TABLE
        .find(address, |place| place.what == what)
        .or_else(|| read(what, address, caller))
}

/// The call for which a record was passed. Its address is not in the module of its directive if it
/// was the last act of a function: then the record's own address is taken.
fn stated_at(record: usize, address: usize) -> Option<Caller> {
    let place = stated::place(record);
    let (Some(place), Some((module, base))) = (place, modules::module_at(record)) else {
        return Some(Caller::Silent);
    };
    let is_near = modules::module_at(address).is_some_and(|(_, of)| of == base);
    let address = if is_near { address } else { record + 1 };
    Some(Caller::Stated(code(&module, base, address), place))
}

/// The code of the call that returns to an address, which may be that of the next line.
fn code(module: &Path, base: usize, address: usize) -> Code {
    Code {
        module: module.to_string_lossy().into_owned(),
        offset: address.wrapping_sub(base + 1) as u64,
        symbol: None,
    }
}

/// The region of the call that is the last act of the body that this thread executes.
#[cold]
#[inline(never)]
fn last_act(what: PlaceKind) -> Option<&'static Region> {
    let body = event_of(move |thread| executed(thread, what), |_, body| body)?;
    let place = read(what, std::ptr::from_ref(body).addr(), || {
        let code = body.descriptor.code.clone()?;
        Some(Caller::Program(Code {
            offset: code.offset + 1,
            ..code
        }))
    });
    place?.region.get()
}

/// The parallel region or task whose body this thread executes. For a loop that makes tasks: the
/// group around it, which the runtime opened for it.
fn executed(thread: &'static Thread, what: PlaceKind) -> Option<&'static Region> {
    let is_its = |kind| kind == RegionKind::Taskgroup && what.0 == RegionKind::Taskloop;
    let mut frame = thread.top();
    while let Some(open) = frame {
        let region = open.region()?;
        let is_body = !open.role().is_construct() || region.kind.is_task_execution();
        if is_body || is_its(region.kind) {
            return Some(region);
        }
        frame = open.below();
    }
    None
}

/// The descriptor of a region by the code that called the runtime for it; none if that code is the
/// runtime's own.
fn descriptor(what: PlaceKind, caller: Caller) -> Option<Descriptor> {
    let descriptor = Descriptor {
        region_type: what.0.row().region_types[0].to_owned(),
        name: (what.1 != 0).then(|| format!("?{:#x}", what.1)),
        ..Descriptor::default()
    };
    match caller {
        Caller::Runtime | Caller::Silent => None,
        Caller::Program(code) => Some(Descriptor {
            code: Some(code),
            ..descriptor
        }),
        Caller::Stated(code, place) => Some(Descriptor {
            code: Some(code),
            begin: place.lines.clone(),
            end: place.lines,
            column: place.column,
            function: place.function,
            ..descriptor
        }),
        Caller::Unknown => Some(Descriptor {
            begin: SourceLines {
                file: UNKNOWN.to_owned(),
                ..SourceLines::default()
            },
            ..descriptor
        }),
    }
}

/// Says in which ways instances of a region may be passed over. Chunks of a loop are recorded at a
/// frame, so a loop whose chunks are to be seen has to have one.
fn set_passable(region: &'static Region) {
    let is_loop = region.kind == RegionKind::Loop;
    if is_loop {
        region.set_counted_in_part();
    }
    let has_events_asked_about = matches!(region.kind, RegionKind::Single | RegionKind::Barrier);
    if has_events_asked_about || is_loop && !handed_out::is_on() {
        region.set_asked_about();
    }
}

/// Looks up an address that is met for the first time; none if its code belongs to no module.
#[cold]
#[inline(never)]
fn read(
    what: PlaceKind,
    address: usize,
    caller: impl FnOnce() -> Option<Caller>,
) -> Option<&'static CodePlace> {
    errno::keep(|| {
        let _new = region::new();
        let mut book = lock(&BOOK);
        book.forget_unloaded(&TABLE);
        if let Some(place) = book.get(&(address, what)) {
            return Some(place);
        }
        let caller = caller()?;
        let known = match caller {
            Caller::Runtime => PlaceKnowledge::Inside,
            Caller::Silent => PlaceKnowledge::Nothing,
            _ => PlaceKnowledge::Region,
        };
        let place = leak(CodePlace {
            address,
            what,
            region: SharedRef::none(),
            known,
        })?;
        let region = descriptor(what, caller).and_then(register);
        if let Some(region) = region {
            set_passable(region);
        }
        place.region.set(region);
        book.enter((address, what), place, &TABLE);
        Some(place)
    })
}
