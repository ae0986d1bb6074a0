//! Finds where `implicit none (external)` is in force, so that a procedure must be declared
//! before it is called (Fortran 2018, section 8.7).

use std::collections::BTreeSet;
use std::ops::Range;

use super::classify::StatementKind;
use super::configuration::View;
use super::squeezed::Squeezed;
use crate::source::Form;

impl View {
    /// The program units and subprograms with such a statement, and all that
    /// they contain.
    pub(super) fn declaring(&self, form: Form) -> Vec<Range<usize>> {
        let all = self.statements.iter().zip(&self.line_of);
        let strict = all.filter(|(statement, line)| {
            statement.kind == StatementKind::Other
                && is_strict(&mut statement.squeezed(&self.lines[**line], form))
        });
        let units = strict.filter_map(|(statement, _)| self.unit_at(statement.range.start));
        let units: BTreeSet<usize> = units.collect();
        let range = |unit: usize| self.structure.units[unit].range.clone();
        units.into_iter().map(range).collect()
    }
}

/// `implicit none (external)`, `implicit none (type, external)`
fn is_strict(statement: &mut Squeezed) -> bool {
    statement.eat("implicitnone(")
        && statement
            .rest()
            .split(|byte| b",)".contains(byte))
            .any(|word| word == b"external")
}
