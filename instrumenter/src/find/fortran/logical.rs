//! Logical lines: physical lines joined at their continuations, without comments, sentinels and
//! continuation marks.

use std::ops::Range;

use super::glue::Glued;
use super::physical::{Kind, Physical, Sentinel, is_blank, text_end};
use super::tokens::{Token, tokenize};
use crate::source::Form;

/// A logical line: one directive, or statements separated by semicolons.
#[derive(Clone, Debug)]
pub(super) struct Logical {
    /// The sentinel of a directive; none for statements.
    pub(super) sentinel: Option<Sentinel>,
    /// From the first byte of its first physical line to the end of the last one, without the
    /// newline.
    pub(super) range: Range<usize>,
    /// The offset behind the newline of its last physical line.
    pub(super) after: usize,
    pub(super) glued: Glued,
    pub(super) tokens: Vec<Token>,
    /// The bytes of the label field that are not blank, in fixed form.
    pub(super) label: Range<usize>,
    /// Whether there are preprocessor lines between its physical lines.
    pub(super) broken: bool,
    /// Whether it is a directive between the lines of a statement.
    pub(super) inside_statement: bool,
}

impl Logical {
    /// A token's text.
    pub(super) fn text(&self, token: &Token) -> &[u8] {
        &self.glued.bytes[token.range.clone()]
    }

    /// A token's bytes in the source.
    pub(super) fn source(&self, token: &Token) -> Range<usize> {
        self.glued.source_range(token.range.clone())
    }
}

/// Joins physical lines to logical lines.
pub(super) fn logical_lines<'p>(
    text: &[u8],
    lines: impl Iterator<Item = &'p Physical>,
    form: Form,
) -> Vec<Logical> {
    let mut builder = Builder {
        text,
        form,
        lines: Vec::new(),
        open: None,
    };
    for line in lines {
        builder.line(line);
    }
    let mut lines = builder.lines;
    for line in &mut lines {
        line.tokens = tokenize(&line.glued.bytes);
    }
    lines
}

struct Builder<'t> {
    text: &'t [u8],
    form: Form,
    lines: Vec<Logical>,
    open: Option<Open>,
}

/// The logical line that may be continued.
struct Open {
    index: usize,
    /// The quote of the string that is open at the end of its text.
    quote: Option<u8>,
    /// Whether its last line ends with a continuation mark, in free form.
    continues: bool,
    /// Whether its last line is full, in fixed form.
    full: bool,
    /// Whether a preprocessor line came after its last line.
    preprocessor: bool,
}

impl Builder<'_> {
    fn line(&mut self, line: &Physical) {
        let sentinel = match line.kind {
            Kind::Comment => return,
            Kind::Preprocessor => {
                if let Some(open) = &mut self.open {
                    open.preprocessor = true;
                }
                return;
            }
            Kind::Directive(sentinel) => Some(sentinel),
            Kind::Code => None,
        };
        let open = self.open.as_ref();
        let same = open.is_some_and(|open| self.lines[open.index].sentinel == sentinel);
        match self.form {
            Form::Fixed if line.continues && same => self.append(line),
            // There is no line that it could continue; compilers take it for a comment.
            Form::Fixed if line.continues && sentinel.is_some() => {}
            Form::Free if open.is_some_and(|open| open.continues) && same => self.append(line),
            Form::Free if open.is_some_and(|open| open.continues) && sentinel.is_some() => {
                let statement = self.open.take();
                self.begin(line, sentinel, true);
                self.open = statement;
            }
            _ => self.begin(line, sentinel, false),
        }
    }

    fn begin(&mut self, line: &Physical, sentinel: Option<Sentinel>, inside_statement: bool) {
        let mut glued = Glued::default();
        if !line.label.is_empty() {
            glued.push(self.text, line.label.clone());
            glued.separate(self.text, line.label.end);
        }
        self.lines.push(Logical {
            sentinel,
            range: line.range.clone(),
            after: line.after,
            glued,
            tokens: Vec::new(),
            label: line.label.clone(),
            broken: false,
            inside_statement,
        });
        self.open = Some(Open {
            index: self.lines.len() - 1,
            quote: None,
            continues: false,
            full: line.full,
            preprocessor: false,
        });
        self.glue(line.content.clone());
    }

    /// Appends a continuation line.
    fn append(&mut self, line: &Physical) {
        let Some(open) = &mut self.open else { return };
        let logical = &mut self.lines[open.index];
        logical.range.end = line.range.end;
        logical.after = line.after;
        logical.broken |= std::mem::take(&mut open.preprocessor);
        let mut content = line.content.clone();
        if self.form == Form::Fixed {
            // The line in front is padded with blanks.
            if !std::mem::replace(&mut open.full, line.full) && open.quote.is_none() {
                logical.glued.separate(self.text, content.start);
            }
        } else {
            let blanks = self.text[content.clone()]
                .iter()
                .take_while(|byte| is_blank(**byte))
                .count();
            if self.text[content.clone()].get(blanks) == Some(&b'&') {
                content.start += blanks + 1;
            } else if open.quote.is_none() && !line.continues {
                logical.glued.separate(self.text, content.start);
            }
        }
        self.glue(content);
    }

    /// Appends the text of a line up to its comment or continuation mark.
    fn glue(&mut self, content: Range<usize>) {
        let Some(open) = &mut self.open else { return };
        let glued = &mut self.lines[open.index].glued;
        let end = text_end(&self.text[content.clone()], &mut open.quote);
        let mut end = content.start + end;
        if self.form == Form::Free {
            let text = self.text[content.start..end].trim_ascii_end();
            open.continues = text.ends_with(b"&");
            if open.continues {
                end = content.start + text.len() - 1;
            } else {
                // Without a continuation mark, a string does not continue in the next line.
                open.quote = None;
            }
        }
        glued.push(self.text, content.start..end);
    }
}
