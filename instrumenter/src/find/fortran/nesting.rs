//! What statements do to the nesting: constructs, loops that end at labels,
//! program units.

use super::classify::{Compound, StatementKind};
use super::frames::{Construct, Frame, OpenUnit};
use super::statements::Statement;
use super::structure::{NOT_ENDED, Pass, Unit};
use super::unit_heads::{UnitHead, UnitKind};

/// Why a construct in front of such a statement has no end of its own.
const SHARED_LABEL: &str = "its last statement also ends a loop that begins outside of it";

impl Pass<'_> {
    /// What a statement opens, closes or completes.
    pub(super) fn statement(&mut self, at: usize, statement: &Statement) {
        self.implied_program(statement);
        self.first_item(false, Some(&statement.kind));
        let ended_by_label = statement.label.and_then(|label| self.outermost_loop(label));
        match &statement.kind {
            StatementKind::Do { label, concurrent } => {
                *self.labels.entry(*label).or_default() += 1;
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
            // Compilers take one for all loops that end at its label.
            StatementKind::EndDo if ended_by_label.is_some() => {}
            StatementKind::EndDo => self.close_construct(at, None),
            StatementKind::Close(compound) => self.close_construct(at, Some(*compound)),
            StatementKind::Unit(head) => self.open_unit(head, statement),
            StatementKind::EndUnit(kind) => self.close_unit(at, *kind),
            StatementKind::Other => self.completed(at),
        }
        if let Some(outermost) = ended_by_label.filter(|outermost| *outermost < self.frames.len()) {
            self.close_labelled(at, outermost, statement.label);
        }
    }

    /// `end do`, `end if`, ...: closes the innermost construct of that kind, and
    /// what is still open in it.
    fn close_construct(&mut self, at: usize, compound: Option<Compound>) {
        let same =
            |frame: &Frame| matches!(frame, Frame::Construct(open) if open.compound == compound);
        let stop = self
            .frames
            .iter()
            .rposition(|frame| same(frame) || frame.is_unit());
        if let Some(partner) = stop.filter(|stop| same(&self.frames[*stop])) {
            self.drop_frames(partner, NOT_ENDED, at);
        }
        self.completed(at);
    }

    /// The outermost loop of the unit that ends at a label.
    fn outermost_loop(&self, label: u64) -> Option<usize> {
        if self
            .labels
            .get(&Some(label))
            .is_none_or(|count| *count == 0)
        {
            return None;
        }
        let unit = self.frames.iter().rposition(Frame::is_unit);
        let from = unit.map_or(0, |unit| unit + 1);
        let ends =
            |frame: &Frame| matches!(frame, Frame::Construct(open) if open.label == Some(label));
        self.frames[from..]
            .iter()
            .position(ends)
            .map(|position| from + position)
    }

    /// Closes every loop that ends at a label. A directive between two of them
    /// governs an inner one.
    fn close_labelled(&mut self, at: usize, outermost: usize, label: Option<u64>) {
        while self.frames.len() > outermost {
            let is_loop =
                |frame: &Frame| matches!(frame, Frame::Construct(open) if open.label == label);
            let inner = self.frames.iter().rposition(is_loop).unwrap_or(outermost);
            self.drop_frames(inner.max(outermost), SHARED_LABEL, at);
            if self.frames.len() <= outermost {
                break;
            }
        }
        self.completed(at);
    }

    /// Notes what was left.
    pub(super) fn leave_construct(&mut self, open: &Construct, end: usize) {
        if open.compound.is_none()
            && let Some(count) = self.labels.get_mut(&open.label)
        {
            *count -= 1;
        }
        if open.concurrent {
            self.found.concurrent_loops.push(open.start..end);
        }
        if open.compound == Some(Compound::Interface) {
            self.found.interfaces.push(open.start..end);
        }
    }

    /// Notes a unit that was left.
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

    /// A main program may begin without a statement of its own.
    fn implied_program(&mut self, statement: &Statement) {
        let is_unit = matches!(
            statement.kind,
            StatementKind::Unit(_) | StatementKind::EndUnit(_)
        );
        if is_unit || self.frames.iter().any(Frame::is_unit) {
            return;
        }
        let head = UnitHead {
            kind: UnitKind::Program,
            name: None,
            pure: false,
        };
        let start = statement.range.start;
        self.frames.insert(0, Frame::Unit(OpenUnit { head, start }));
    }

    fn close_unit(&mut self, at: usize, kind: Option<UnitKind>) {
        let same = |frame: &Frame| match frame {
            Frame::Unit(open) => kind.is_none_or(|kind| kind == open.head.kind),
            _ => false,
        };
        let innermost = self.frames.iter().rposition(Frame::is_unit);
        let partner = self.frames.iter().rposition(same).or(innermost);
        if let Some(partner) = partner {
            self.drop_frames(partner, NOT_ENDED, at);
        }
    }
}
