//! What our own parser finds in the sources that debug information names.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use profile::descriptor::Descriptor;

use crate::{Options, instrument};

/// The constructs of a source, in its order.
#[derive(Debug, Default)]
pub(super) struct Constructs {
    pub(super) all: Vec<Descriptor>,
    /// Whether macros may make more of them.
    pub(super) may_be_more: bool,
}

/// Sources that were read.
#[derive(Debug, Default)]
pub(super) struct Sources(HashMap<String, Rc<Constructs>>);

impl Sources {
    /// The constructs of a source; none of one that is not there.
    pub(super) fn of(&mut self, file: &str) -> Rc<Constructs> {
        if let Some(known) = self.0.get(file) {
            return Rc::clone(known);
        }
        let read = Rc::new(read(file).unwrap_or_default());
        self.0.insert(file.to_owned(), Rc::clone(&read));
        read
    }
}

fn read(file: &str) -> Option<Constructs> {
    let source = super::super::read_source(Path::new(file)).ok()?;
    let result = instrument(&source, &Options::default());
    let may_be_more = !crate::list::hidden(&source, &result).is_empty();
    let regions = result.plan.regions.into_iter();
    let mut all: Vec<Descriptor> = regions.map(|region| region.descriptor).collect();
    all.sort_by_key(|descriptor| (descriptor.begin.first, descriptor.column));
    Some(Constructs { all, may_be_more })
}
