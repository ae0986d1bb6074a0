//! Functions of the program as regions: what `-finstrument-functions` has a
//! compiler call at the begin and end of each.
//!
//! The two hooks are defined weakly, so that a program's own are taken instead.
//! Where nothing was built with that flag nothing calls them.
//!
//! Known functions are found by their address in a table that is read without
//! a lock. One that is new is looked up in the modules of the process, and the
//! symbols of its module are read, once. The table is given up when a module
//! was unloaded, since another may be loaded in its place.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use profile::descriptor::Descriptor;
use profile::functions::{self, Symbols};
use profile::model::Code;

use super::boundary::event_of;
use crate::measure::clock::now;
use crate::measure::errno;
use crate::measure::event::Event;
use crate::measure::function::Call;
use crate::measure::modules;
use crate::measure::mutex::lock;
use crate::measure::region::{self, Region, register};
use crate::measure::shared::{Link, leak, leak_slice};
use crate::measure::thread::Thread;

/// Slots of the first table; a power of two.
const FIRST_SLOTS: usize = 1024;

/// A function begins.
#[unsafe(no_mangle)]
extern "C" fn romp_function_enter(function: *const c_void, call_site: *const c_void) {
    let here = 0_u8;
    let stack = std::hint::black_box(&raw const here).addr() as u64;
    event_of(
        |thread| region_of(thread, function.addr()),
        |thread, region| {
            let site = call_site.addr() as u64;
            thread.enter_function(
                Call {
                    region,
                    stack,
                    site,
                },
                now,
            );
        },
    );
}

/// A function ends.
#[unsafe(no_mangle)]
extern "C" fn romp_function_exit(function: *const c_void, _call_site: *const c_void) {
    event_of(
        |thread| region_of(thread, function.addr()),
        |thread, region| thread.report(Event::FunctionExit, region, now),
    );
}

#[cfg(not(test))]
super::weak::define_weakly! {
    "__cyg_profile_func_enter" => "romp_function_enter",
    "__cyg_profile_func_exit" => "romp_function_exit",
}

/// The region of the function at an address; none between fork and begin of a
/// team, where only what a compiler has made of the construct runs.
#[inline(always)]
fn region_of(thread: &'static Thread, address: usize) -> Option<&'static Region> {
    if thread.is_between_teams() {
        return None;
    }
    let known = TABLE.get().and_then(|table| table.find(address));
    known.or_else(|| read(address))?.region.get()
}

/// A function that was called before.
#[derive(Debug)]
struct Known {
    address: usize,
    region: Link<Region>,
}

/// All that are known, found by address. Never full.
#[derive(Debug)]
struct Table {
    slots: &'static [Link<Known>],
}

/// The table in force. Those it replaced stay, for threads that still read them.
static TABLE: Link<Table> = Link::none();

impl Table {
    fn new(slots: usize) -> Option<&'static Self> {
        let slots = leak_slice(slots, Link::none)?;
        leak(Self { slots })
    }

    /// The slots where a function can stand, in order.
    #[inline(always)]
    fn slots_of(&self, address: usize) -> impl Iterator<Item = &'static Link<Known>> {
        let mixed = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mask = self.slots.len().wrapping_sub(1);
        let slots = self.slots;
        (mixed as usize..).map_while(move |slot| slots.get(slot & mask))
    }

    #[inline(always)]
    fn find(&self, address: usize) -> Option<&'static Known> {
        for slot in self.slots_of(address) {
            let known = slot.get()?;
            if known.address == address {
                return Some(known);
            }
        }
        None
    }

    fn enter(&self, known: &'static Known) {
        if let Some(slot) = self
            .slots_of(known.address)
            .find(|slot| slot.get().is_none())
        {
            slot.set(Some(known));
        }
    }
}

/// What only those need to know who come to a new function.
struct Book {
    known: BTreeMap<usize, &'static Known>,
    symbols: BTreeMap<PathBuf, Symbols>,
    /// How many modules had been unloaded when the table was begun.
    unloaded: u64,
}

static BOOK: Mutex<Book> = Mutex::new(Book {
    known: BTreeMap::new(),
    symbols: BTreeMap::new(),
    unloaded: 0,
});

/// Reads what is to be known of a function that no table has.
#[cold]
#[inline(never)]
fn read(address: usize) -> Option<&'static Known> {
    errno::keep(|| {
        let _new = region::new();
        lock(&BOOK).enter(address)
    })
}

/// Functions may have gone, and others come in their place. Called when a
/// module that we know of is loaded.
pub(super) fn modules_have_changed() {
    if TABLE.get().is_some() {
        let _new = region::new();
        lock(&BOOK).forget_unloaded();
    }
}

impl Book {
    fn forget_unloaded(&mut self) {
        let unloaded = modules::unloaded();
        if unloaded != self.unloaded {
            self.unloaded = unloaded;
            self.known.clear();
            self.symbols.clear();
            TABLE.set(None);
        }
    }

    fn enter(&mut self, address: usize) -> Option<&'static Known> {
        self.forget_unloaded();
        if let Some(known) = self.known.get(&address) {
            return Some(known);
        }
        let known = leak(Known {
            address,
            region: Link::none(),
        })?;
        known.region.set(register(self.describe(address)));
        self.known.insert(address, known);
        self.table()?.enter(known);
        Some(known)
    }

    fn describe(&mut self, address: usize) -> Descriptor {
        let (module, base) = modules::of(address).unwrap_or_default();
        let offset = address.wrapping_sub(base) as u64;
        let symbols = self
            .symbols
            .entry(module.clone())
            .or_insert_with_key(|path| Symbols::read(path).unwrap_or_default());
        let symbol = symbols.at(offset).map(str::to_owned);
        let name = match &symbol {
            Some(symbol) => functions::name(symbol),
            None => nameless(&module, offset),
        };
        Descriptor {
            region_type: "function".into(),
            name: Some(name),
            code: Some(Code {
                module: module.to_string_lossy().into_owned(),
                offset,
                symbol,
            }),
            ..Descriptor::default()
        }
    }

    /// The table, with room for one more.
    fn table(&self) -> Option<&'static Table> {
        let table = TABLE.get();
        let slots = table.map_or(0, |table| table.slots.len());
        if let Some(table) = table.filter(|_| self.known.len() * 2 < slots) {
            return Some(table);
        }
        let larger = Table::new((slots * 2).max(FIRST_SLOTS))?;
        self.known.values().for_each(|known| larger.enter(known));
        TABLE.set(Some(larger));
        Some(larger)
    }
}

/// What a function is called that has no symbol: `app+0x1234`.
fn nameless(module: &Path, offset: u64) -> String {
    let module = module.file_name().unwrap_or_default().to_string_lossy();
    format!("{module}+{offset:#x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_module_and_address() {
        let address = functions_are_known_by_module_and_address as *const () as usize;
        let mut book = Book {
            known: BTreeMap::new(),
            symbols: BTreeMap::new(),
            unloaded: 0,
        };
        let descriptor = book.describe(address);
        let code = descriptor.code.unwrap();
        assert_eq!(
            Path::new(&code.module),
            std::env::current_exe().unwrap().as_path()
        );
        assert!(code.symbol.unwrap().contains("functions_are_known"));
    }

    #[test]
    fn the_table_keeps_every_function() {
        let table = Table::new(64).unwrap();
        for address in 1..30 {
            let region = Link::none();
            table.enter(leak(Known { address, region }).unwrap());
        }
        for address in 1..30 {
            assert_eq!(table.find(address).unwrap().address, address);
        }
        assert!(table.find(30).is_none());
    }
}
