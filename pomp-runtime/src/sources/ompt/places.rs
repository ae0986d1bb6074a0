//! Regions by where the runtime was called from, found without a lock.
//!
//! A call that is the last act of a region's body may return into the runtime, which called the
//! body. Such a call is known by that region: its place is one byte after the region's place,
//! where there is no call.
//!
//! LLVM's runtime sometimes gives no address: a thread that leaves a critical section clears the
//! address that the runtime keeps for the first thread. If the first thread then enters a
//! worksharing construct, the place of its region is unknown.

use std::path::PathBuf;
use std::sync::Mutex;

use profile::descriptor::{Descriptor, SourceLines};
use profile::model::Code;
use profile::region_kind::RegionKind;

use super::super::boundary::event_of;
use super::super::by_address::{self, Book, Table};
use crate::measure::mutex::lock;
use crate::measure::region::{self, Region, register};
use crate::measure::shared::{SharedRef, leak};
use crate::measure::thread::Thread;
use crate::measure::{errno, modules};

/// The runtimes that call us: their files, and where they lie.
static RUNTIMES: Mutex<Vec<(PathBuf, usize)>> = Mutex::new(Vec::new());

/// From now on the runtime that an address belongs to calls us.
pub(super) fn add_runtime(address: usize) {
    lock(&RUNTIMES).extend(modules::of(address));
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

/// What is measured at a place: the type of the region, and for a critical section the number by
/// which the runtime knows it.
pub(super) type What = (&'static str, u64);

#[derive(Debug)]
struct CodePlace {
    address: usize,
    what: What,
    region: SharedRef<Region>,
    /// Whether the address is in the runtime.
    is_inside: bool,
}

impl by_address::Known for CodePlace {
    fn address(&self) -> usize {
        self.address
    }

    fn replaces(&self, other: &Self) -> bool {
        self.what == other.what
    }
}

static TABLE: Table<CodePlace> = Table::none();

static BOOK: Mutex<Book<(usize, What), CodePlace>> = Mutex::new(Book::new());

/// The code that called the runtime.
enum Caller {
    Program(Code),
    Runtime,
    /// The runtime gave no address.
    Unknown,
}

/// The region of a construct whose call of the runtime returns to an address; none if there is no
/// address.
#[inline(always)]
pub(super) fn region(what: What, address: usize) -> Option<&'static Region> {
    match address {
        0 => None,
        _ => region_or_unknown(what, address),
    }
}

/// The region of a construct whose call of the runtime returns to an address; if there is no
/// address, the region of an unknown place.
#[inline(always)]
pub(super) fn region_or_unknown(what: What, address: usize) -> Option<&'static Region> {
    let place = find(what, address)?;
    match place.is_inside {
        false => place.region.get(),
        true => last_act(what),
    }
}

/// Whether a call returns into the runtime.
#[inline(always)]
pub(super) fn is_inside(what: What, address: usize) -> bool {
    address != 0 && find(what, address).is_some_and(|place| place.is_inside)
}

#[inline(always)]
fn find(what: What, address: usize) -> Option<&'static CodePlace> {
    let is_it = |place: &CodePlace| std::ptr::eq(place.what.0, what.0) && place.what == what;
    match TABLE.find(address, is_it) {
        Some(place) => Some(place),
        None => read(what, address, || match modules::of(address) {
            None if address == 0 => Some(Caller::Unknown),
            None => None,
            Some((_, base)) if is_runtime(base) => Some(Caller::Runtime),
            Some((module, base)) => Some(Caller::Program(Code {
                module: module.to_string_lossy().into_owned(),
                // The return address may be that of the next line.
                offset: address.wrapping_sub(base + 1) as u64,
                symbol: None,
            })),
        }),
    }
}

/// The region of the call that is the last act of the body that this thread executes.
#[cold]
#[inline(never)]
fn last_act(what: What) -> Option<&'static Region> {
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
fn executed(thread: &'static Thread, what: What) -> Option<&'static Region> {
    let is_its = |kind| kind == RegionKind::Taskgroup && what.0 == "taskloop";
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
fn descriptor(what: What, caller: Caller) -> Option<Descriptor> {
    let (code, file) = match caller {
        Caller::Runtime => return None,
        Caller::Program(code) => (Some(code), String::new()),
        Caller::Unknown => (None, UNKNOWN.to_owned()),
    };
    Some(Descriptor {
        region_type: what.0.to_owned(),
        name: (what.1 != 0).then(|| format!("?{:#x}", what.1)),
        begin: SourceLines {
            file,
            ..SourceLines::default()
        },
        code,
        ..Descriptor::default()
    })
}

/// Looks up an address that is met for the first time; none if its code belongs to no module.
#[cold]
#[inline(never)]
fn read(
    what: What,
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
        let is_inside = matches!(caller, Caller::Runtime);
        let place = leak(CodePlace {
            address,
            what,
            region: SharedRef::none(),
            is_inside,
        })?;
        place
            .region
            .set(descriptor(what, caller).and_then(register));
        book.enter((address, what), place, &TABLE);
        Some(place)
    })
}
