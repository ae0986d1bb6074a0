//! Parts of a program unit where no call may stand.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Finder;
use super::configuration::View;
use super::directives::{DirectiveLines, Meaning};
use super::structure::Unit;
use super::unit_heads::UnitKind;
use crate::find::c::preprocessed;
use crate::openmp::{Directive, Leaf};

/// A part and the reason.
type Closed = (Range<usize>, &'static str);

/// Why a directive of POMP's own, which becomes a statement, is left where none may stand.
pub(super) const OUTSIDE: &str = "no statement may stand in its place";

impl Finder<'_> {
    /// The closed parts of every view that a directive or a call was seen in.
    pub(super) fn closed(&self) -> Vec<Closed> {
        let mut closed = self.closed.borrow().clone();
        let system = preprocessed::system_ranges(&self.source.text);
        closed.extend(
            system
                .into_iter()
                .map(|range| (range, preprocessed::SYSTEM_HEADER)),
        );
        closed.sort_by_key(|(range, _)| (range.start, range.end));
        closed.dedup();
        closed
    }

    /// The closed parts of a view.
    pub(super) fn closed_in(&self, view: &View) -> Vec<Closed> {
        let structure = &view.structure;
        let mut closed = Vec::new();
        closed.extend(
            structure
                .interfaces
                .iter()
                .map(|range| (range.clone(), "it stands in an interface block")),
        );
        closed.extend(
            structure
                .concurrent_loops
                .iter()
                .map(|range| (range.clone(), "it stands in a do concurrent loop")),
        );
        for unit in &structure.units {
            let reason = if unit.head.pure {
                "it stands in a pure procedure"
            } else if unit.head.kind == UnitKind::BlockData {
                "it stands in block data"
            } else {
                continue;
            };
            closed.push((unit.range.clone(), reason));
        }
        let outside = self.outside_procedures(view).into_iter();
        closed.extend(outside.map(|range| (range, OUTSIDE)));
        closed
    }

    /// The parts of a view that are in no main program and in no procedure.
    fn outside_procedures(&self, view: &View) -> Vec<Range<usize>> {
        let with_statements =
            |unit: &&Unit| unit.head.kind == UnitKind::Program || is_procedure(unit);
        let units = view.structure.units.iter().filter(with_statements);
        let mut inside: Vec<_> = units.map(|unit| unit.range.clone()).collect();
        inside.sort_by_key(|range| range.start);
        let mut outside = Vec::new();
        let mut behind = 0;
        for range in inside {
            if range.start > behind {
                outside.push(behind..range.start);
            }
            behind = behind.max(range.end);
        }
        outside.push(behind..self.source.text.len() + 1);
        outside
    }

    /// The procedures of a view that may be compiled for a device: a `declare target`
    /// in one, but not in one inside of it, names no procedure. Then it means this one.
    pub(super) fn device_code_in(&self, view: &View) -> Vec<Range<usize>> {
        let declares = |record: &&DirectiveLines| matches!(&record.meaning, Meaning::Begin(directive) if names_nothing(directive));
        let declaring = self.records.iter().filter(declares);
        let units: BTreeSet<usize> = declaring
            .filter_map(|record| view.unit_at(record.range.start))
            .collect();
        let units = units
            .into_iter()
            .filter_map(|unit| view.structure.units.get(unit));
        let of_device = units.filter(|unit| is_procedure(unit));
        of_device.map(|unit| unit.range.clone()).collect()
    }
}

fn is_procedure(unit: &Unit) -> bool {
    matches!(
        unit.head.kind,
        UnitKind::Subroutine | UnitKind::Function | UnitKind::ModuleProcedure
    )
}

/// A `declare target` without a list.
fn names_nothing(directive: &Directive) -> bool {
    const LISTS: [&str; 4] = ["to", "enter", "link", "local"];
    directive.has_leaf(Leaf::DeclareTarget)
        && directive.argument.is_none()
        && LISTS.iter().all(|name| directive.clause(name).is_none())
}
