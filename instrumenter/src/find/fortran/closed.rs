//! Finds the parts of a source where no call may be inserted.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Finder;
use super::configuration::View;
use super::directives::{DirectiveLines, Meaning};
use super::unit_heads::UnitKind;
use crate::find::c::preprocessed;
use crate::openmp::{Directive, Leaf};

/// A part and the reason.
type Closed = (Range<usize>, &'static str);

impl Finder<'_> {
    /// The closed parts of all views in which a directive or a call was found.
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
        closed
    }

    /// The procedures of a view that may be compiled for a device. These are the procedures
    /// with a `declare target` that names nothing: such a directive applies to the innermost
    /// procedure around it.
    pub(super) fn device_code_in(&self, view: &View) -> Vec<Range<usize>> {
        let declares = |record: &&DirectiveLines| matches!(&record.meaning, Meaning::Begin(directive) if names_nothing(directive));
        let declaring = self.records.iter().filter(declares);
        let units: BTreeSet<usize> = declaring
            .filter_map(|record| view.unit_at(record.range.start))
            .collect();
        let units = units
            .into_iter()
            .filter_map(|unit| view.structure.units.get(unit));
        let of_device = units.filter(|unit| unit.head.kind.is_procedure());
        of_device.map(|unit| unit.range.clone()).collect()
    }
}

/// A `declare target` without a list.
fn names_nothing(directive: &Directive) -> bool {
    const LISTS: [&str; 4] = ["to", "enter", "link", "local"];
    directive.has_leaf(Leaf::DeclareTarget)
        && directive.argument.is_none()
        && LISTS.iter().all(|name| directive.clause(name).is_none())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FREE, find};

    #[test]
    fn where_no_call_may_stand() {
        let closed = |text: &str| {
            let found = find(text, FREE);
            let line = |at| found.lines.physical(at);
            let show = |(range, reason): &(std::ops::Range<usize>, &str)| {
                format!("{}-{} {reason}", line(range.start), line(range.end))
            };
            found.closed.iter().map(show).collect::<Vec<_>>().join("; ")
        };
        for (text, expected) in [
            (
                "pure subroutine s\n!$omp simd\nend\n",
                "1-3 it stands in a pure procedure",
            ),
            ("impure elemental subroutine s\n!$omp simd\nend\n", ""),
            (
                "interface\npure subroutine s\n!$omp declare target\nend subroutine\nend interface\nend\n",
                "1-5 it stands in an interface block; 2-4 it stands in a pure procedure",
            ),
            (
                "!$omp barrier\ndo concurrent (i = 1:3)\nend do\nend\n",
                "2-3 it stands in a do concurrent loop",
            ),
            (
                "!$omp barrier\nend\nblock data\nend\n",
                "3-4 it stands in block data",
            ),
        ] {
            assert_eq!(closed(text), expected, "{text}");
        }
    }
}
