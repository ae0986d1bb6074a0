//! How statements change the nesting of constructs, of loops that end at labels, and of program
//! units.

use super::classify::{Compound, StatementKind};
use super::frames::{Construct, Frame, Key, OpenUnit, Wants};
use super::statements::Statement;
use super::structure::{NOT_ENDED, Pass, Unit};
use super::unit_heads::{UnitHead, UnitKind};

/// The reason for a construct whose last statement also ends an outer loop.
const SHARED_LABEL: &str = "its last statement also ends a loop that begins outside of it";

impl Pass<'_> {
    /// Applies a statement to the nesting.
    pub(super) fn statement(&mut self, at: usize, statement: &Statement) {
        self.implied_program(statement);
        self.begin_governed_code(false, Some(&statement.kind));
        let loops = |label| self.frames.first_in_unit(&Key::Label(label));
        let ended_by_label = statement.label.and_then(loops);
        match &statement.kind {
            StatementKind::Do { label, concurrent } => {
                self.frames.push(Frame::Construct(Construct {
                    compound: None,
                    label: *label,
                    concurrent: *concurrent,
                    start: statement.range.start,
                }));
            }
            StatementKind::Open(compound) => self.frames.push(Frame::Construct(Construct {
                compound: Some(*compound),
                label: None,
                concurrent: false,
                start: statement.range.start,
            })),
            // Compilers take one `end do` for all loops that end at its label.
            StatementKind::EndDo if ended_by_label.is_some() => {}
            StatementKind::EndDo => self.close_construct(at, None),
            StatementKind::Close(compound) => self.close_construct(at, Some(*compound)),
            StatementKind::Else => self.otherwise(),
            StatementKind::Unit(head) => self.open_unit(head, statement),
            StatementKind::EndUnit(kind) => self.close_unit(at, *kind),
            StatementKind::Other => self.completed(at),
        }
        if let Some(outermost) = ended_by_label.filter(|outermost| *outermost < self.frames.len()) {
            self.close_labelled(at, outermost, statement.label);
        }
    }

    /// `end do`, `end if`, and so on: closes the innermost construct of this kind, and
    /// everything still open in it.
    fn close_construct(&mut self, at: usize, compound: Option<Compound>) {
        if let Some(partner) = self.frames.last_in_unit(&Key::Construct(compound)) {
            self.drop_frames(partner, NOT_ENDED, at);
        }
        self.completed(at);
    }

    /// `else` inside an `atomic compare capture`: the capture is the other branch of the `if`,
    /// not a statement of its own (OpenMP 5.2, section 15.8.4).
    fn otherwise(&mut self) {
        if let Some(Frame::Construct(branches)) = self.frames.last()
            && branches.compound == Some(Compound::If)
            && let Some(Frame::Directive(open)) = self.frames.around_innermost()
            && open.wants == Wants::Statements(2)
        {
            open.wants = Wants::Statements(1);
        }
    }

    /// Closes every loop that ends at a label. A directive between two of these loops governs
    /// an inner one.
    fn close_labelled(&mut self, at: usize, outermost: usize, label: Option<u64>) {
        while self.frames.len() > outermost {
            let inner = label.and_then(|label| self.frames.last_of(&Key::Label(label)));
            self.drop_frames(inner.unwrap_or(outermost).max(outermost), SHARED_LABEL, at);
        }
        self.completed(at);
    }

    /// Records a construct that has ended.
    pub(super) fn leave_construct(&mut self, open: &Construct, end: usize) {
        if open.concurrent {
            self.found.concurrent_loops.push(open.start..end);
        }
        match open.compound {
            Some(Compound::Interface) => self.found.interfaces.push(open.start..end),
            Some(Compound::Block) => self.found.blocks.push(open.start..end),
            _ => {}
        }
    }

    /// Records a unit that has ended.
    pub(super) fn leave_unit(&mut self, open: OpenUnit, end: usize) {
        self.strict.clear();
        self.found.units.push(Unit {
            range: open.start..end,
            head: open.head,
        });
    }

    fn open_unit(&mut self, head: &UnitHead, statement: &Statement) {
        let in_interface = self.frames.last().is_some_and(Frame::is_interface);
        if in_interface && head.kind == UnitKind::ModuleProcedure {
            return;
        }
        self.frames.push(Frame::Unit(OpenUnit {
            head: head.clone(),
            start: statement.range.start,
        }));
    }

    /// Opens a main program without a `program` statement. It may even consist of its `end`
    /// alone.
    fn implied_program(&mut self, statement: &Statement) {
        let is_head = matches!(statement.kind, StatementKind::Unit(_));
        if is_head || self.frames.last_of(&Key::AnyUnit).is_some() {
            return;
        }
        let head = UnitHead {
            kind: UnitKind::Program,
            name: None,
            pure: false,
        };
        let start = statement.range.start;
        self.frames.surround(Frame::Unit(OpenUnit { head, start }));
    }

    fn close_unit(&mut self, at: usize, kind: Option<UnitKind>) {
        let key = kind.map_or(Key::AnyUnit, Key::Unit);
        let innermost = || self.frames.last_of(&Key::AnyUnit);
        let partner = self.frames.last_of(&key).or_else(innermost);
        if let Some(partner) = partner {
            self.drop_frames(partner, NOT_ENDED, at);
        }
    }
}
