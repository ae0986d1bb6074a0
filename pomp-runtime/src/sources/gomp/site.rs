//! Call sites: the facts about a call by its place, found without a lock.
//!
//! The place is the address to which the call returns. If a call passes the body of a construct,
//! the place is that body, since a body certainly belongs to one construct.

use std::ffi::CStr;
use std::sync::Mutex;

use profile::descriptor::Descriptor;
use profile::model::Code;
use profile::region_kind::RegionKind;

use super::super::by_address::{self, Registry, Table};
use super::super::task_functions::TaskFunction;
use super::super::{called, own_code};
use super::runtime::{self, Runtime};
use super::table::EventRegion;
use super::table::row::Row;
use crate::measure::cost;
use crate::measure::mutex::lock;
use crate::measure::records::Region;
use crate::measure::records::region::{self, register};
use crate::measure::shared::{SharedRef, leak};
use crate::measure::{errno, modules};

/// A call that was met before.
#[derive(Debug)]
struct Site {
    address: usize,
    entry: usize,
    function: usize,
    region: SharedRef<Region>,
    runtime: SharedRef<Runtime>,
    body: SharedRef<TaskFunction>,
}

/// The data that a call needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The runtime's function.
    pub(super) function: usize,
    /// Nothing is measured here: the runtime reports its own events, or memory was short.
    pub(super) runtime: Option<&'static Runtime>,
    pub(super) region: Option<&'static Region>,
    /// The function that is run instead of the body of a task.
    pub(super) body: Option<&'static TaskFunction>,
}

impl by_address::AddressRecord for Site {
    fn address(&self) -> usize {
        self.address
    }

    fn replaces(&self, other: &Self) -> bool {
        self.entry == other.entry
    }
}

static TABLE: Table<Site> = Table::none();

/// The known calls, by address and entry.
static BOOK: Mutex<Registry<(usize, usize), Site>> = Mutex::new(Registry::new());

/// Returns the place by which a call is known. The last call in the body of a construct may return
/// to where we called the body. Such a call is known by the body.
#[inline(always)]
pub(super) fn of_caller(caller: usize) -> usize {
    match own_code::holds(caller) {
        true => own_code::body(),
        false => caller,
    }
}

/// The facts about a call of an entry, at an address. `word` is the first argument that is its
/// own: behind the body, its data and the number of threads, if a team is made.
#[inline(always)]
pub(super) fn of<E: Row>(address: usize, word: usize) -> Call {
    match TABLE.find(address, |site| site.entry == E::NUMBER) {
        Some(site) => site.call(),
        None => read(E::NUMBER, E::NAME, E::OF, address, word),
    }
}

/// A flag in the numbers of entries whose calls belong to no region.
const UNPLACED: usize = 1 << 16;

/// The runtime's function for a call that belongs to no region.
#[inline(always)]
pub(super) fn function<E: Row>(address: usize) -> usize {
    match TABLE.find(address, |site| site.entry == E::NUMBER | UNPLACED) {
        Some(site) => site.function,
        None => {
            let of = EventRegion::Open(RegionKind::Loop);
            read(E::NUMBER | UNPLACED, E::NAME, of, address, 0).function
        }
    }
}

/// A flag in the numbers of entries that give the next chunk of a loop.
const REQUEST: usize = 1 << 17;

/// The runtime's function for a call that asks for the next chunk of a loop.
#[inline(always)]
pub(super) fn request(number: usize, name: &'static CStr, address: usize) -> usize {
    match TABLE.find(address, |site| site.entry == number | REQUEST) {
        Some(site) => site.function,
        None => {
            read(
                number | REQUEST,
                name,
                EventRegion::Open(RegionKind::Loop),
                address,
                0,
            )
            .function
        }
    }
}

impl Site {
    #[inline(always)]
    fn call(&self) -> Call {
        Call {
            function: self.function,
            runtime: self.runtime.get(),
            region: self.region.get(),
            body: self.body.get(),
        }
    }
}

impl Call {
    /// Its region, if it is measured.
    pub(super) fn measured_region(&self) -> Option<&'static Region> {
        self.region.filter(|_| self.runtime.is_some())
    }

    fn unmeasured(function: usize) -> Self {
        Self {
            function,
            runtime: None,
            region: None,
            body: None,
        }
    }
}

/// Whether there is memory for what is kept of a call, and for finding it.
fn is_memory_there() -> bool {
    const BYTES: usize = 1 << 15;
    Vec::<u8>::new().try_reserve_exact(BYTES).is_ok()
}

#[cold]
#[inline(never)]
fn read(entry: usize, name: &'static CStr, of: EventRegion, address: usize, word: usize) -> Call {
    errno::keep(|| {
        // Without memory, nothing is measured, but the call reaches its function.
        if !is_memory_there()
            && let Some(function) = called::by_all(name)
        {
            return Call::unmeasured(function.addr());
        }
        let place = modules::module_at(address);
        let (path, base) = place.clone().unwrap_or_default();
        let runtime = runtime::of_module(&path, base);
        let known = runtime.and_then(|runtime| match entry & REQUEST {
            0 => runtime.function(entry & !UNPLACED),
            _ => runtime.request(entry & !REQUEST),
        });
        // Without memory for what is kept of the runtime, the call reaches it all the same.
        let asked = || called::by(&path, name).map(|function| function.addr());
        let Some(function) = known.or_else(asked) else {
            called::cannot_call(name);
        };
        let mut call = Call::unmeasured(function);
        let Some(runtime) = runtime.filter(|_| place.is_some()) else {
            return call;
        };
        // Events that the runtime reports itself are not reported twice. Locks are an exception:
        // for a lock the runtime would report a place in this library as the place of the call.
        if runtime.reports_events() && !is_lock(of) {
            enter(entry, address, call);
            return call;
        }
        let _new = region::new();
        // The return address may be that of the next line, or of another function.
        let offset = match of {
            EventRegion::Body(_) => address,
            _ if address == own_code::body() => address,
            _ => address.wrapping_sub(1),
        };
        let copies = name == c"GOMP_single_copy_start";
        call.region = region_type(of).and_then(|region_type| {
            register(Descriptor {
                region_type: region_type.to_owned(),
                name: own_name(of, name, word),
                // Nothing else tells it from other loops.
                schedule: matches!(of, EventRegion::Head).then(|| "static".to_owned()),
                num_sections: has_sections(of).then_some(word as u32),
                unsplit: copies.then(|| COPIES.to_owned()),
                other: copies.then(has_copyprivate).into_iter().collect(),
                code: Some(Code {
                    module: path.to_string_lossy().into_owned(),
                    offset: offset.wrapping_sub(base) as u64,
                    symbol: None,
                }),
                ..Descriptor::default()
            })
        });
        if let Some(region) = call.region
            && matches!(
                of,
                EventRegion::Call("barrier" | "single") | EventRegion::Head
            )
        {
            region.set_asked_about();
        }
        call.runtime = Some(runtime);
        call.body = call
            .region
            .filter(|_| is_task(of))
            .and_then(|region| TaskFunction::new(address, region));
        enter(entry, address, call);
        call
    })
}

fn region_type(of: EventRegion) -> Option<&'static str> {
    match of {
        EventRegion::Call(region_type) | EventRegion::Body(region_type) => Some(region_type),
        EventRegion::Named => Some("critical"),
        EventRegion::Head => Some("for"),
        EventRegion::Open(_) => None,
    }
}

/// Why the waits at a `single` with `copyprivate` are estimated.
const COPIES: &str = "threads wait at the construct for the values of copyprivate";

/// The key of a descriptor that says so.
fn has_copyprivate() -> (String, String) {
    ("hasCopyPrivate".to_owned(), "1".to_owned())
}

/// Whether a call has the number of sections.
fn has_sections(of: EventRegion) -> bool {
    matches!(
        of,
        EventRegion::Call("sections") | EventRegion::Body("parallelsections")
    )
}

fn is_lock(of: EventRegion) -> bool {
    matches!(of, EventRegion::Call("lock"))
}

fn is_task(of: EventRegion) -> bool {
    matches!(of, EventRegion::Body("task" | "taskloop"))
}

/// The routine of a lock, a stand-in for the name of a critical section, or the kind of an
/// `ordered` directive.
fn own_name(of: EventRegion, name: &CStr, word: usize) -> Option<String> {
    match of {
        EventRegion::Call("lock") => {
            let name = name.to_string_lossy();
            Some(name.trim_end_matches('_').to_owned())
        }
        // Nothing else distinguishes the standalone directives.
        EventRegion::Call("ordered") => match name.to_bytes() {
            name if name.ends_with(b"_wait") => Some("sink".to_owned()),
            name if name.ends_with(b"_post") => Some("source".to_owned()),
            _ => None,
        },
        EventRegion::Named => {
            let (module, base) = modules::module_at(word).unwrap_or_default();
            Some(format!(
                "{}+{:#x}",
                module.display(),
                word.wrapping_sub(base)
            ))
        }
        _ => None,
    }
}

/// Keeps a call that was looked up. Without memory, the next call is looked up again.
fn enter(entry: usize, address: usize, call: Call) {
    let mut book = lock(&BOOK);
    book.forget_unloaded(&TABLE);
    if book.get(&(address, entry)).is_some() {
        return;
    }
    let site = Site {
        address,
        entry,
        function: call.function,
        region: SharedRef::none(),
        runtime: SharedRef::none(),
        body: SharedRef::none(),
    };
    let Some(site) = leak(site) else { return };
    site.region.set(call.region);
    site.runtime.set(call.runtime);
    site.body.set(call.body);
    book.enter((address, entry), site, &TABLE);
    MET.set(Some(site));
    cost::add_look_for_place(look_for_place);
}

/// The latest call that was met for the first time. Each call is looked for like this one before it is measured.
static MET: SharedRef<Site> = SharedRef::none();

fn look_for_place() {
    if let Some(met) = MET.get() {
        let found = TABLE.find(met.address, |site| site.entry == met.entry);
        std::hint::black_box(found.map(Site::call));
    }
}
