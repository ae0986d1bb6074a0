//! Where a statement may be inserted: among the executable statements of a main program or a
//! procedure (Fortran 2018, section 5.1).

use std::cmp::Reverse;
use std::ops::Range;

use super::classify::{self, Compound, StatementKind};
use super::squeezed::Squeezed;
use super::statements::Statement;
use super::structure::Structure;
use super::unit_heads::UnitKind;
use crate::find::nested::Nested;

/// The program units, subprograms and `block` constructs of a view.
#[derive(Debug)]
pub(super) struct Places {
    scopes: Vec<Scope>,
    nested: Nested,
    /// The scopes that are in no other scope, in order.
    outermost: Vec<usize>,
}

/// A program unit, a subprogram or a `block` construct.
#[derive(Debug)]
struct Scope {
    range: Range<usize>,
    /// The kind of a unit; none for a `block` construct.
    unit: Option<UnitKind>,
    /// Whether it is a main program without a `program` statement.
    is_implied: bool,
    /// The offset where its last declaration ends.
    declared: usize,
    /// Whether a statement behind its declarations was found.
    executes: bool,
    /// The offset where its `contains` begins.
    contains: usize,
}

impl Scope {
    fn new(range: &Range<usize>, unit: Option<UnitKind>, is_implied: bool) -> Self {
        Self {
            range: range.clone(),
            unit,
            is_implied,
            declared: 0,
            executes: false,
            contains: usize::MAX,
        }
    }

    /// Adds the next statement.
    fn add(&mut self, statement: &Statement, mut text: Squeezed) {
        let declares = match statement.kind {
            StatementKind::Unit(_) | StatementKind::EndUnit(_) => return,
            StatementKind::Open(compound) | StatementKind::Close(compound) => {
                matches!(compound, Compound::Interface | Compound::Type)
            }
            StatementKind::Other if text.rest() == b"contains" => {
                self.contains = self.contains.min(statement.range.start);
                return;
            }
            // An included file is taken for what its surroundings are: declarations or
            // executable statements.
            StatementKind::Other if text.rest() == b"include''" => !self.executes,
            StatementKind::Other => classify::declares(&mut text),
            _ => false,
        };
        match declares {
            true => self.declared = statement.range.end,
            false => self.executes = true,
        }
    }

    /// Whether an offset is among the scope's executable statements.
    fn holds(&self, offset: usize) -> bool {
        (self.declared..self.contains).contains(&offset)
    }
}

impl Places {
    /// Reads the units and `block` constructs of a view, and its statements in order.
    pub(super) fn new<'a>(
        structure: &Structure,
        statements: impl Iterator<Item = (&'a Statement, Squeezed)>,
    ) -> Self {
        let units = structure.units.iter().map(|unit| {
            let is_implied = unit.head.kind == UnitKind::Program && unit.head.name.is_none();
            Scope::new(&unit.range, Some(unit.head.kind), is_implied)
        });
        let blocks = structure.blocks.iter();
        let blocks = blocks.map(|range| Scope::new(range, None, false));
        let mut scopes: Vec<Scope> = units.chain(blocks).collect();
        let nested = Nested::new(scopes.iter().map(|scope| scope.range.clone()));
        for (statement, text) in statements {
            if let Some(scope) = nested.innermost(statement.range.start) {
                scopes[scope].add(statement, text);
            }
        }
        let outermost = outermost(&scopes);
        Self {
            scopes,
            nested,
            outermost,
        }
    }

    /// Whether a statement may be put in the place of a directive.
    pub(super) fn take_statement(&self, offset: usize) -> bool {
        let Some(innermost) = self.nested.innermost(offset) else {
            // A main program without a `program` statement begins with the directives in
            // front of its first statement.
            let starts_before = |scope: &usize| self.scopes[*scope].range.start < offset;
            let next = self.outermost.partition_point(starts_before);
            let next = self.outermost.get(next).map(|scope| &self.scopes[*scope]);
            return next.is_some_and(|next| next.is_implied && next.holds(offset));
        };
        let mut around = self.nested.around(offset).map(|scope| &self.scopes[scope]);
        let unit = around.find_map(|scope| scope.unit);
        let executes = |kind: UnitKind| kind == UnitKind::Program || kind.is_procedure();
        unit.is_some_and(executes) && self.scopes[innermost].holds(offset)
    }
}

/// The scopes that are in no other scope, in order.
fn outermost(scopes: &[Scope]) -> Vec<usize> {
    let mut by_begin: Vec<usize> = (0..scopes.len()).collect();
    by_begin.sort_by_key(|scope| {
        let range = &scopes[*scope].range;
        (range.start, Reverse(range.end))
    });
    let mut behind = 0;
    by_begin.retain(|scope| {
        let range = &scopes[*scope].range;
        let is_outermost = range.start >= behind;
        behind = behind.max(range.end);
        is_outermost
    });
    by_begin
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FREE, find};
    use crate::find::{FoundDirective, NO_PLACE};

    /// For each POMP directive of a text, whether it may become a statement.
    fn take_statements(text: &str) -> Vec<bool> {
        let found = find(text, FREE);
        let refused = |found: &FoundDirective| {
            let reason = found.directive.as_ref().err();
            reason.is_some_and(|reason| reason == NO_PLACE)
        };
        found
            .directives
            .iter()
            .map(|found| !refused(found))
            .collect()
    }

    #[test]
    fn a_statement_stands_among_executable_ones() {
        for (text, expected) in [
            (
                "!$pomp inst on\nmodule m\n!$pomp inst on\ncontains\nsubroutine s\n!$pomp inst off\nend subroutine\nend module\n!$pomp inst on\n",
                &[false, false, true, false][..],
            ),
            (
                "program p\n!$pomp inst off\nuse m, only: a => b\nimplicit none\n!$pomp inst off\ninteger x\n!$pomp inst on\nx = 1\ncontains\n!$pomp inst off\nsubroutine s\n!$pomp inst on\nreal :: y\ny = 1\n!$pomp inst off\nend\n!$pomp inst off\nend\n",
                &[false, false, true, false, false, true, false],
            ),
            (
                "!$pomp inst off\ninteger i\n!$pomp inst on\ni = 1\nblock\n!$pomp inst off\ninteger j\n!$pomp inst on\nj = 1\nend block\n!$pomp inst off\nend\n!$pomp inst off\n",
                &[false, true, false, true, true, false],
            ),
            // Words that may also begin a name.
            (
                "realpart = 1\n!$pomp inst on\nusual = 2\nsaved(1) = 3\nparameters(2) = 4\nreal_pointer => x\ninteger(1) = 5\nend\n",
                &[true],
            ),
            ("!$pomp inst off\nend\n", &[true]),
            ("end\n!$pomp inst off\n", &[false]),
            (
                "subroutine s\n!$pomp inst off\ntype t\ninteger a\nend type\n!$pomp inst off\ninterface\nend interface\n!$pomp inst on\nend\n",
                &[false, false, true],
            ),
            ("block data\n!$pomp inst off\nend\n", &[false]),
            (
                "!$pomp inst off\ninclude 'a'\n!$pomp inst on\nx = 1\n!$pomp inst off\ninclude 'b'\nend\n",
                &[false, true, true],
            ),
            ("!$pomp inst off\ninclude 'procedures'\n", &[false]),
        ] {
            assert_eq!(take_statements(text), expected, "{text}");
        }
    }
}
