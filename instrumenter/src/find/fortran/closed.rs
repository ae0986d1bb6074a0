//! Parts of a source where no call may stand.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::Finder;
use super::classify::StatementKind;
use super::configuration::View;
use super::directives::{DirectiveLines, Meaning};
use super::statements::Statement;
use super::structure::Unit;
use super::unit_heads::UnitKind;
use crate::find::NO_PLACE;
use crate::find::c::preprocessed;
use crate::openmp::{Directive, Leaf};

/// A part and the reason.
type Closed = (Range<usize>, &'static str);

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
        closed.extend(outside.map(|range| (range, NO_PLACE)));
        closed
    }

    /// The parts of a view that are in no main program and in no procedure. A main program
    /// without a `program` statement begins with the directives in front of its first statement;
    /// that may be its `end`.
    fn outside_procedures(&self, view: &View) -> Vec<Range<usize>> {
        let with_statements =
            |unit: &&Unit| unit.head.kind == UnitKind::Program || is_procedure(unit);
        let units = view.structure.units.iter().filter(with_statements);
        let mut inside: Vec<_> = units.map(|unit| unit.range.clone()).collect();
        inside.sort_by_key(|range| range.start);
        let starts: HashSet<usize> = inside.iter().map(|range| range.start).collect();
        let is_main = |statement: &&Statement| {
            let start = statement.range.start;
            let is_head = matches!(statement.kind, StatementKind::Unit(_));
            (starts.contains(&start) && !is_head) || view.unit_at(start).is_none()
        };
        let mains: Vec<usize> = view
            .statements
            .iter()
            .filter(is_main)
            .map(|statement| statement.range.start)
            .collect();
        let mut outside = Vec::new();
        let mut behind = 0;
        let end = self.source.text.len() + 1;
        for range in inside.iter().cloned().chain(std::iter::once(end..end)) {
            let next = mains.partition_point(|main| *main < behind);
            let holds_main = mains.get(next).is_some_and(|main| *main <= range.start);
            if range.start > behind && !holds_main {
                outside.push(behind..range.start);
            }
            behind = behind.max(range.end);
        }
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

#[cfg(test)]
mod tests {
    use super::super::tests::{FREE, find};
    use crate::find::NO_PLACE;

    #[test]
    fn where_no_call_may_stand() {
        let closed = |text: &str| {
            let found = find(text, FREE);
            let line = |at| found.lines.physical(at);
            let show = |(range, reason): &(std::ops::Range<usize>, &str)| {
                format!("{}-{} {reason}", line(range.start), line(range.end))
            };
            let closed = found.closed.iter();
            let within = closed.filter(|(_, reason)| *reason != NO_PLACE);
            within.map(show).collect::<Vec<_>>().join("; ")
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

    #[test]
    fn no_statement_may_stand_outside_programs_and_procedures() {
        let text = "!$pomp inst on\nmodule m\ncontains\nsubroutine s\n!$pomp inst off\nend subroutine\nend module\n!$pomp inst on\n";
        let found = find(text, FREE);
        let is_outside = |at: usize| {
            let mut closed = found.closed.iter();
            closed.any(|(range, reason)| range.contains(&at) && *reason == NO_PLACE)
        };
        let places = text.match_indices("!$pomp").map(|(at, _)| is_outside(at));
        assert_eq!(places.collect::<Vec<_>>(), [true, false, true]);
    }
}
