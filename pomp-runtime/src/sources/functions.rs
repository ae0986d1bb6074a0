//! Functions of the program as regions. With `-finstrument-functions` a compiler calls two hooks,
//! one at the begin and one at the end of each function.
//!
//! The two hooks are defined weakly, so that a program's own are taken instead. If no part of a
//! program was built with that flag, nothing calls the hooks.
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

use super::boundary::{event_of, is_switched_off};
use super::by_address::{self, Table};
use crate::measure::clock::now;
use crate::measure::cxx;
use crate::measure::errno;
use crate::measure::function::Call;
use crate::measure::modules;
use crate::measure::mutex::lock;
use crate::measure::records::Region;
use crate::measure::records::region::{self, register};
use crate::measure::shared::{SharedRef, leak};
use crate::measure::thread::Thread;
use profile::event::Event;

/// A function begins.
#[unsafe(no_mangle)]
extern "C-unwind" fn romp_function_enter(function: *const c_void, call_site: *const c_void) {
    let here = 0_u8;
    let stack = std::hint::black_box(&raw const here).addr() as u64;
    let known = known(function.addr());
    if is_switched_off(known.and_then(|known| known.region.get())) {
        return;
    }
    event_of(
        move |thread| region_of(thread, known, function.addr()),
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
extern "C-unwind" fn romp_function_exit(function: *const c_void, _call_site: *const c_void) {
    let known = known(function.addr());
    if is_switched_off(known.and_then(|known| known.region.get())) {
        return;
    }
    event_of(
        move |thread| region_of(thread, known, function.addr()),
        |thread, region| thread.on_event(Event::FunctionExit, region, now),
    );
}

#[cfg(not(test))]
super::weak::define_weakly! {
    "__cyg_profile_func_enter" => "romp_function_enter",
    "__cyg_profile_func_exit" => "romp_function_exit",
}

/// The function at an address, if it was called before.
#[inline(always)]
fn known(address: usize) -> Option<&'static KnownFunction> {
    TABLE.find(address, |_| true)
}

/// The region of the function at an address. None between the fork and the begin of a team, where
/// only functions run that the compiler made from the construct.
#[inline(always)]
fn region_of(
    thread: &'static Thread,
    known: Option<&'static KnownFunction>,
    address: usize,
) -> Option<&'static Region> {
    if thread.is_between_teams() {
        return None;
    }
    known.or_else(|| read(address))?.region.get()
}

/// A function that was called before.
#[derive(Debug)]
struct KnownFunction {
    address: usize,
    region: SharedRef<Region>,
}

impl by_address::AddressRecord for KnownFunction {
    fn address(&self) -> usize {
        self.address
    }

    fn replaces(&self, _: &Self) -> bool {
        true
    }
}

static TABLE: Table<KnownFunction> = Table::none();

/// Data that is needed only when a new function is met.
struct FunctionBook {
    known: by_address::Registry<usize, KnownFunction>,
    symbols: BTreeMap<PathBuf, Symbols>,
}

static BOOK: Mutex<FunctionBook> = Mutex::new(FunctionBook {
    known: by_address::Registry::new(),
    symbols: BTreeMap::new(),
});

/// Looks up a function that is in no table yet.
#[cold]
#[inline(never)]
fn read(address: usize) -> Option<&'static KnownFunction> {
    errno::keep(|| {
        let _new = region::new();
        lock(&BOOK).enter(address)
    })
}

/// Functions may have been unloaded, and others loaded in their place. Called when a module that
/// we know of is loaded.
pub(super) fn modules_have_changed() {
    if TABLE.is_there() {
        let _new = region::new();
        lock(&BOOK).forget_unloaded();
    }
}

impl FunctionBook {
    fn forget_unloaded(&mut self) {
        if self.known.forget_unloaded(&TABLE) {
            self.symbols.clear();
        }
    }

    fn enter(&mut self, address: usize) -> Option<&'static KnownFunction> {
        self.forget_unloaded();
        if let Some(known) = self.known.get(&address) {
            return Some(known);
        }
        let known = leak(KnownFunction {
            address,
            region: SharedRef::none(),
        })?;
        known.region.set(register(self.describe(address)));
        self.known.enter(address, known, &TABLE)?;
        Some(known)
    }

    fn describe(&mut self, address: usize) -> Descriptor {
        let (module, base) = modules::module_at(address).unwrap_or_default();
        let offset = address.wrapping_sub(base) as u64;
        let symbols = self
            .symbols
            .entry(module.clone())
            .or_insert_with_key(|path| Symbols::read(path).unwrap_or_default());
        let symbol = symbols.at(offset).map(str::to_owned);
        let name = match &symbol {
            Some(symbol) => functions::name(symbol, &cxx::demangled),
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
}

/// The name for a function that has no symbol: `app+0x1234`.
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
        let mut book = FunctionBook {
            known: by_address::Registry::new(),
            symbols: BTreeMap::new(),
        };
        let descriptor = book.describe(address);
        let code = descriptor.code.unwrap();
        assert_eq!(
            Path::new(&code.module),
            std::env::current_exe().unwrap().as_path()
        );
        assert!(code.symbol.unwrap().contains("functions_are_known"));
    }
}
