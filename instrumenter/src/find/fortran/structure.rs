//! The token-level matcher: one pass over statements and directives, with the open constructs
//! on a stack. It finds the end of each construct and the program units.

use std::collections::HashMap;
use std::ops::Range;

use super::classify::{Compound, StatementKind};
use super::directives::{DirectiveLines, Meaning};
use super::frames::{Frame, Frames, Key, OpenDirective, Wants};
use super::statements::Statement;
use super::unit_heads::UnitHead;
use crate::openmp::{Association, Directive, Leaf};

/// A statement or a directive, in source order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    /// Index of a statement.
    Statement(usize),
    /// Index of a record.
    Directive(usize),
}

/// The extent of a directive's construct, in items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The directive itself.
    pub(super) own: usize,
    /// The last item that it governs; the directive itself if it governs nothing.
    pub(super) last: usize,
    /// The directive that ends it.
    pub(super) end: Option<usize>,
    /// The `section` directives that separate its parts.
    pub(super) sections: Vec<usize>,
}

/// A program unit or subprogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// From its first to its last statement.
    pub(super) range: Range<usize>,
    pub(super) head: UnitHead,
}

/// The results of the pass.
#[derive(Debug, Default)]
pub(super) struct Structure {
    /// The span of each record's construct, or why it is unknown, by record.
    pub(super) spans: Vec<(usize, Result<Span, &'static str>)>,
    /// Program units and subprograms, inner ones first.
    pub(super) units: Vec<Unit>,
    /// Interface blocks and bodies of `do concurrent`.
    pub(super) interfaces: Vec<Range<usize>>,
    pub(super) concurrent_loops: Vec<Range<usize>>,
    /// `block` constructs.
    pub(super) blocks: Vec<Range<usize>>,
}

/// Reasons why a span is unknown.
pub(super) const NOT_ENDED: &str = "no directive ends it";
const NO_LOOP: &str = "no loop follows it";
const UNFINISHED: &str = "its loop does not end before the directive that ends it";
const TWO_ENDS: &str = "it may end with its block construct or with a directive later";
const NOTHING: &str = "nothing follows it";

/// Runs the pass.
pub(super) fn structure(
    items: &[Element],
    statements: &[Statement],
    records: &[DirectiveLines],
) -> Structure {
    let mut pass = Pass {
        items,
        statements,
        records,
        frames: Frames::default(),
        strict: HashMap::new(),
        found: Structure::default(),
    };
    for at in 0..items.len() {
        pass.item(at);
    }
    pass.settle(None);
    pass.finish();
    pass.found
}

/// The state of the pass.
pub(super) struct Pass<'a> {
    items: &'a [Element],
    statements: &'a [Statement],
    records: &'a [DirectiveLines],
    pub(super) frames: Frames,
    /// By name, the last directive with a strictly structured block and no end directive, as an
    /// index of its span.
    pub(super) strict: HashMap<String, usize>,
    pub(super) found: Structure,
}

impl Pass<'_> {
    fn item(&mut self, at: usize) {
        if self.settle(Some(at)) {
            return;
        }
        match self.items[at] {
            Element::Statement(index) => self.statement(at, &self.statements[index]),
            Element::Directive(index) => match &self.records[index].meaning {
                Meaning::Begin(directive) => self.begin(at, index, directive),
                Meaning::End(directive) => self.end(at, directive),
                Meaning::Unknown(_) => {}
            },
        }
    }

    /// Closes the constructs that were complete before the item `next`. Returns whether `next`
    /// is a directive that ends one of them.
    fn settle(&mut self, next: Option<usize>) -> bool {
        while let Some(Frame::Directive(open)) = self.frames.last()
            && let Some(last) = open.complete
        {
            let ends = next.is_some_and(|next| self.is_end_of(next, open));
            let Some(Frame::Directive(open)) = self.frames.pop() else {
                return false;
            };
            let end = next.filter(|_| ends);
            self.close(open, last, end);
            self.completed(end.unwrap_or(last));
            if ends {
                return true;
            }
        }
        false
    }

    fn is_end_of(&self, item: usize, open: &OpenDirective) -> bool {
        let Element::Directive(index) = self.items[item] else {
            return false;
        };
        matches!(&self.records[index].meaning, Meaning::End(directive) if directive.name() == open.name)
    }

    fn close(&mut self, open: OpenDirective, last: usize, end: Option<usize>) {
        if end.is_none() && open.strict {
            self.strict.insert(open.name, self.found.spans.len());
        }
        let span = Span {
            own: open.item,
            last,
            end,
            sections: open.sections,
        };
        self.found.spans.push((open.record, Ok(span)));
    }

    fn fail(&mut self, open: &OpenDirective, reason: &'static str) {
        self.found.spans.push((open.record, Err(reason)));
    }

    /// Handles a directive that begins something or stands alone.
    fn begin(&mut self, at: usize, record: usize, directive: &Directive) {
        if let Some(wants) = Wants::of(directive, self.is_ended_next(at, directive)) {
            self.begin_governed_code(wants == Wants::Loop, None);
            self.frames.push(Frame::Directive(OpenDirective {
                record,
                item: at,
                name: directive.name(),
                wants,
                begun: false,
                strict: false,
                complete: None,
                sections: Vec::new(),
            }));
        } else if directive.association() == Association::Standalone {
            self.begin_governed_code(false, None);
            self.completed(at);
        } else if directive.has_leaf(Leaf::Section)
            && let Some(Frame::Directive(open)) = self.frames.innermost()
        {
            open.begun = true;
            open.sections.push(at);
        }
    }

    /// Whether the next directive is the end directive of this one.
    fn is_ended_next(&self, at: usize, directive: &Directive) -> bool {
        let mut following = self.items[at + 1..].iter();
        let next = following.find_map(|item| match item {
            Element::Directive(index) => Some(&self.records[*index].meaning),
            Element::Statement(_) => None,
        });
        matches!(next, Some(Meaning::End(end)) if end.name() == directive.name())
    }

    /// Handles a directive that ends a construct.
    fn end(&mut self, at: usize, directive: &Directive) {
        let name = directive.name();
        let partner = self.frames.last_in_unit(&Key::Directive(name.clone()));
        let Some(partner) = partner else {
            self.orphan(&name);
            return;
        };
        self.drop_frames(partner + 1, NOT_ENDED, at);
        if let Some(Frame::Directive(open)) = self.frames.pop() {
            // An incomplete loop can't be measured.
            match open.wants {
                Wants::Loop => self.fail(&open, UNFINISHED),
                _ => self.close(open, at - 1, Some(at)),
            }
            self.completed(at);
        }
    }

    /// Handles a directive that ends nothing. If a strictly structured block of this name was
    /// taken as ended before, compilers may read it either way.
    fn orphan(&mut self, name: &str) {
        if let Some(span) = self.strict.remove(name) {
            self.found.spans[span].1 = Err(TWO_ENDS);
        }
    }

    /// If the innermost directive waits for its code, records that the code begins here.
    pub(super) fn begin_governed_code(
        &mut self,
        is_loop_directive: bool,
        statement: Option<&StatementKind>,
    ) {
        let Some(Frame::Directive(open)) = self.frames.innermost() else {
            return;
        };
        if std::mem::replace(&mut open.begun, true) {
            return;
        }
        let is_loop = matches!(statement, Some(StatementKind::Do { .. })) || is_loop_directive;
        match (open.wants, statement) {
            (Wants::Loop, _) if !is_loop => {
                if let Some(Frame::Directive(open)) = self.frames.pop() {
                    self.fail(&open, NO_LOOP);
                }
            }
            // OpenMP 5.2, section 4.1: a strictly structured block needs no end directive.
            (Wants::End, Some(StatementKind::Open(Compound::Block))) => {
                open.wants = Wants::Statements(1);
                open.strict = true;
            }
            _ => {}
        }
    }

    /// Records that a statement, a construct or a directive's code ended with an item.
    pub(super) fn completed(&mut self, at: usize) {
        let Some(Frame::Directive(open)) = self.frames.innermost() else {
            return;
        };
        match &mut open.wants {
            Wants::End => {}
            Wants::Loop => open.complete = Some(at),
            Wants::Statements(count) => {
                *count = count.saturating_sub(1);
                open.complete = (*count == 0).then_some(at);
            }
        }
    }

    /// Drops the frames from an index on. The directives among them fail.
    pub(super) fn drop_frames(&mut self, from: usize, reason: &'static str, at: usize) {
        let end = self.end_of(at);
        while self.frames.len() > from
            && let Some(frame) = self.frames.pop()
        {
            match frame {
                Frame::Directive(open) => self.fail(&open, reason),
                Frame::Construct(open) => self.leave_construct(&open, end),
                Frame::Unit(open) => self.leave_unit(open, end),
            }
        }
    }

    fn end_of(&self, at: usize) -> usize {
        match self.items.get(at) {
            Some(Element::Statement(index)) => self.statements[*index].range.end,
            Some(Element::Directive(index)) => self.records[*index].range.end,
            None => usize::MAX,
        }
    }

    fn finish(&mut self) {
        self.drop_frames(0, NOTHING, self.items.len());
    }
}
