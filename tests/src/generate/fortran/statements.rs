//! Statements without directives of their own.

use super::super::Allowed;
use super::Fortran;
use super::lines::{Line, code, conditional, directive, labelled, preprocessor};

impl Fortran {
    /// Statements that may stand wherever an executable one may.
    pub(super) fn statement(&mut self, place: Allowed) -> Vec<Line> {
        if place.depth == 0 {
            return self.tick();
        }
        let inner = Allowed {
            depth: place.depth - 1,
            ..place
        };
        match self.below(16) {
            0 => self.tick(),
            1 => self.block(inner),
            2 => {
                let (then, other) = (self.statement(inner), self.statement(inner));
                let mut lines = vec![code("if (yes) then")];
                lines.extend(then);
                lines.push(code("else"));
                lines.extend(other);
                lines.push(code(self.one_of(&["end if", "endif"])));
                lines
            }
            3 => vec![code(format!("if (yes) call add({}, 3_8)", self.number()))],
            4 | 5 => self.repeat(inner),
            6 => {
                let text = self.statement(inner);
                let mut lines = vec![code("select case (yes)"), code("case (.true.)")];
                lines.extend(text);
                lines.extend([code("case default"), code("end select")]);
                lines
            }
            7 => {
                let name = format!("a{}", self.number());
                let text = self.statement(inner);
                let mut lines = vec![code(format!("{name}: associate (z{name} => 4_8)"))];
                lines.push(code(format!("call add({}, z{name})", self.number())));
                lines.extend(text);
                lines.push(code(format!("end associate {name}")));
                lines
            }
            8 => self.chosen(inner),
            9 if place.shared => self.call(inner),
            10 => vec![conditional(format!("call add({}, 7_8)", self.number()))],
            _ => self.construct(place),
        }
    }

    /// Several statements; only here directives may stand alone.
    pub(super) fn block(&mut self, place: Allowed) -> Vec<Line> {
        let mut lines = Vec::new();
        for _ in 0..1 + self.below(3) {
            if self.once_in(4) {
                lines.extend(self.alone(place));
            }
            lines.extend(self.statement(place));
        }
        if self.once_in(4) {
            lines.extend(self.alone(place));
        }
        lines
    }

    /// Something that shows how often it was executed.
    pub(super) fn tick(&mut self) -> Vec<Line> {
        let (k, v) = (self.number(), 1 + self.below(9));
        let add = format!("total({k}) = total({k}) + {v}_8");
        match self.below(7) {
            0 => vec![directive("atomic"), code(add)],
            1 => vec![
                directive("atomic update"),
                code(add),
                directive("end atomic"),
            ],
            2 => vec![
                code("block"),
                code(format!("integer(8) :: w{k}")),
                directive("atomic capture"),
                code(add),
                code(format!("w{k} = total({k})")),
                directive("end atomic"),
                code(format!("if (w{k} < 0) call add({k}, 1_8)")),
                code("end block"),
            ],
            3 => vec![code(format!("call add({k}, {v}_8); call add({k}, 1_8)"))],
            _ => vec![code(format!("call add({k}, {v}_8)"))],
        }
    }

    fn repeat(&mut self, place: Allowed) -> Vec<Line> {
        let i = self.index();
        // A cancelled construct is not the loop's.
        let text = self.statement(place);
        let label = self.new_label();
        let (head, end) = match self.below(4) {
            0 => (code(format!("do {i} = 1, 2")), code("end do")),
            1 => (
                code(format!("n{i}: do {i} = 1, 2")),
                code(format!("end do n{i}")),
            ),
            2 => (
                code(format!("do {label} {i} = 1, 2")),
                labelled(label, "continue"),
            ),
            _ => (
                code(format!("do {label}, {i} = 2, 1, -1")),
                labelled(label, "end do"),
            ),
        };
        let mut lines = vec![head];
        lines.extend(text);
        lines.push(end);
        lines
    }

    /// Text that the preprocessor chooses, if there is one.
    fn chosen(&mut self, place: Allowed) -> Vec<Line> {
        let (one, other) = (self.statement(place), self.tick());
        if !self.preprocessed {
            return one;
        }
        let marks = match self.below(3) {
            0 => ["#if 1", "#else", "#endif"],
            1 => ["#ifdef _OPENMP", "#else", "#endif"],
            _ => ["#ifndef NEVER", "#else", "#endif"],
        };
        let [first, second, end] = marks.map(preprocessor);
        let mut lines = vec![first];
        lines.extend(one);
        lines.push(second);
        lines.extend(other);
        lines.push(end);
        lines
    }

    /// The call of a subroutine whose constructs bind to the caller's team.
    fn call(&mut self, place: Allowed) -> Vec<Line> {
        let name = format!("s{}", self.number());
        let inside = Allowed {
            cancel: None,
            ..place
        };
        let (text, declared) = self.unit(|writer| writer.block(inside));
        let mut lines = vec![code(format!("recursive subroutine {name}"))];
        lines.extend(declared);
        lines.extend(text);
        let end = self.one_of(&["end", "end subroutine", "endsubroutine"]);
        lines.push(code(end));
        self.subroutines.extend(lines);
        vec![code(format!("call {name}"))]
    }
}
