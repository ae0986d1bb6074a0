//! Regions by where the runtime was called from, found without a lock.

use std::sync::Mutex;

use profile::descriptor::Descriptor;
use profile::model::Code;

use super::super::by_address::{self, Book, Table};
use crate::measure::mutex::lock;
use crate::measure::region::{self, Region, register};
use crate::measure::shared::{SharedRef, leak};
use crate::measure::{errno, modules};

/// What is measured there: type of the region, and of a critical section what the runtime
/// calls its name.
pub(super) type What = (&'static str, u64);

#[derive(Debug)]
struct CodePlace {
    address: usize,
    what: What,
    region: SharedRef<Region>,
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

/// The region of a construct whose call of the runtime returns to an address; none
/// without one.
#[inline(always)]
pub(super) fn region(what: What, address: usize) -> Option<&'static Region> {
    if address == 0 {
        return None;
    }
    match TABLE.find(address, |place| {
        std::ptr::eq(place.what.0, what.0) && place.what == what
    }) {
        Some(place) => place.region.get(),
        None => read(what, address),
    }
}

#[cold]
#[inline(never)]
fn read(what: What, address: usize) -> Option<&'static Region> {
    errno::keep(|| {
        let _new = region::new();
        let mut book = lock(&BOOK);
        book.forget_unloaded(&TABLE);
        if let Some(place) = book.get(&(address, what)) {
            return place.region.get();
        }
        let (module, base) = modules::of(address)?;
        let region = register(Descriptor {
            region_type: what.0.to_owned(),
            name: (what.1 != 0).then(|| format!("?{:#x}", what.1)),
            code: Some(Code {
                module: module.to_string_lossy().into_owned(),
                // Behind the call may stand the next line.
                offset: address.wrapping_sub(base + 1) as u64,
                symbol: None,
            }),
            ..Descriptor::default()
        });
        let place = leak(CodePlace {
            address,
            what,
            region: SharedRef::none(),
        })?;
        place.region.set(region);
        book.enter((address, what), place, &TABLE);
        region
    })
}
