//! Writes lines of Fortran within the line length in force.

use crate::source::{Form, Layout};

/// The largest width of a line, even if wider lines are allowed.
const WIDEST: usize = 100;
/// The smallest width; narrower limits can't be kept.
const NARROWEST: usize = 50;

/// Writes lines in one of the source forms.
pub(super) struct Lines {
    form: Form,
    width: usize,
    /// The marker in front of every line. It names the user's line that the text belongs to,
    /// for debuggers, backtraces and coverage.
    marker: String,
    /// Whether no line marker is allowed between the lines of a statement.
    whole: bool,
    declaration: Declaration,
    /// Whether a subroutine is called only if the library has it: see `fortran_asked`.
    asks: bool,
    text: String,
}

/// The declaration that a called subroutine needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declaration {
    /// Nothing.
    None,
    /// A declaration.
    External,
    /// An interface.
    Interface,
}

/// An argument of a call.
pub(super) struct Argument {
    text: String,
    literal: bool,
    /// Its name in an interface, and its declaration there.
    pub(super) dummy: (&'static str, &'static str),
}

impl Argument {
    /// A character literal of this text.
    pub(super) fn literal(text: String) -> Self {
        Self {
            literal: true,
            ..Self::new(text, ("text", "character(*), intent(in)"))
        }
    }

    /// A number.
    pub(super) fn number(number: usize) -> Self {
        Self::new(number.to_string(), ("number", "integer, intent(in)"))
    }

    /// Anything else, with the name and the declaration of the dummy argument.
    pub(super) fn new(text: String, dummy: (&'static str, &'static str)) -> Self {
        Self {
            text,
            literal: false,
            dummy,
        }
    }
}

impl Lines {
    /// The text in front of a statement, in either form.
    pub(super) const INDENT: &'static str = "      ";

    /// Lines of a layout. `whole` is for compilers that accept no line marker between the lines
    /// of a statement; these accept lines of any length in free form.
    pub(super) fn new(layout: Layout, whole: bool) -> Self {
        let limit = layout.line_length.unwrap_or(WIDEST);
        Self {
            form: layout.form,
            width: match layout.form {
                Form::Free if whole => usize::MAX,
                Form::Free | Form::Fixed => limit.clamp(NARROWEST, WIDEST),
            },
            marker: String::new(),
            whole,
            declaration: Declaration::None,
            asks: false,
            text: String::new(),
        }
    }

    /// Sets the user's line that the following text belongs to.
    pub(super) fn belong_to(&mut self, marker: String) {
        self.marker = marker;
    }

    /// Sets the declaration that the following calls need.
    pub(super) fn declare(&mut self, declaration: Declaration) {
        self.declaration = declaration;
    }

    /// Makes the following calls only if the library has the subroutine, where `asks`.
    pub(super) fn asking(mut self, asks: bool) -> Self {
        self.asks = asks;
        self
    }

    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    pub(super) fn text(self) -> String {
        self.text
    }

    /// Appends a line unchanged.
    pub(super) fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Appends a line of code, with a marker in front.
    fn code(&mut self, line: &str) {
        self.text.push_str(&self.marker);
        self.raw(line);
    }

    /// Appends a statement.
    pub(super) fn statement(&mut self, statement: &str) {
        self.code(&format!("{}{statement}", Self::INDENT));
    }

    /// Appends a statement that may be broken at each of its blanks.
    pub(super) fn long_statement(&mut self, statement: &str) {
        let mut text = Self::INDENT.to_owned();
        let mut column = Self::INDENT.len();
        for (number, word) in statement.split(' ').enumerate() {
            // In free form the continuation mark is at the end of the line.
            if number > 0 && column + 1 + word.len() + " &".len() > self.width {
                text.push(' ');
                text.push_str(&self.broken());
                column = Self::INDENT.len();
            } else if number > 0 {
                text.push(' ');
                column += 1;
            }
            text.push_str(word);
            column += word.len();
        }
        self.code(&text);
    }

    /// Appends the declarations for several subroutines that are called afterwards; each is
    /// given with its arguments.
    pub(super) fn declarations(&mut self, subroutines: &[(&str, &[(&str, &str)])]) {
        match self.declaration {
            Declaration::None => {}
            Declaration::External => {
                for (name, _) in subroutines {
                    self.statement(&format!("external :: POMPF_{name}"));
                }
            }
            Declaration::Interface => {
                self.statement("interface");
                for (name, arguments) in subroutines {
                    let names: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
                    self.long_statement(&format!("subroutine POMPF_{name}( {})", names.join(", ")));
                    if arguments.iter().any(|(_, kind)| kind.starts_with("type")) {
                        self.statement("import");
                    }
                    for (argument, kind) in *arguments {
                        self.statement(&format!("{kind} :: {argument}"));
                    }
                    self.statement("end subroutine");
                }
                self.statement("end interface");
            }
        }
    }

    /// Appends the call of a subroutine, with all that it needs.
    pub(super) fn call(&mut self, name: &str, arguments: &[Argument]) {
        match self.asks {
            true => self.call_if_there(name, arguments),
            false => self.declared(name, arguments, |lines| lines.bare_call(name, arguments)),
        }
    }

    /// Appends the statement that calls a subroutine.
    pub(super) fn bare_call(&mut self, name: &str, arguments: &[Argument]) {
        let mut text = format!("{}call {name}(", Self::INDENT);
        let mut column = text.len();
        for (number, argument) in arguments.iter().enumerate() {
            let behind = if number + 1 < arguments.len() {
                ","
            } else {
                ")"
            };
            let word = match argument.literal {
                true => self.literal(column, &argument.text, behind),
                false => self.word(column, &argument.text, behind),
            };
            text.push_str(&word);
            text.push_str(behind);
            column = text.rsplit('\n').next().map_or(0, str::len);
        }
        if arguments.is_empty() {
            text.push(')');
        }
        self.code(&text);
    }

    /// An argument that is not a literal and is followed by `behind`. It gets a line of its own
    /// if there is no room for it in column `column`.
    fn word(&self, column: usize, word: &str, behind: &str) -> String {
        match column + word.len() + behind.len() + " &".len() > self.width {
            true => format!("{}{word}", self.broken()),
            false => word.to_owned(),
        }
    }

    /// Opens a block for declarations. If the block were the first statement behind a
    /// directive, the directive would govern the block alone. So another statement is put in
    /// front.
    pub(super) fn open_block(&mut self) {
        self.statement("continue; block");
    }

    /// Appends a call with the declaration that it needs, inside a block of its own.
    fn declared(&mut self, name: &str, arguments: &[Argument], call: impl FnOnce(&mut Self)) {
        match self.declaration {
            Declaration::None => return call(self),
            Declaration::External => {
                self.open_block();
                self.statement(&format!("external :: {name}"));
            }
            Declaration::Interface => {
                self.open_block();
                self.statement("interface");
                let dummies = || arguments.iter().map(|argument| argument.dummy);
                let names: Vec<&str> = dummies().map(|(name, _)| name).collect();
                self.long_statement(&format!("subroutine {name}( {})", names.join(", ")));
                for (name, declared) in dummies() {
                    self.statement(&format!("{declared} :: {name}"));
                }
                self.statement("end subroutine; end interface");
            }
        }
        call(self);
        self.statement("end block");
    }

    /// A line break in the middle of a statement.
    pub(super) fn broken(&self) -> String {
        match self.form {
            Form::Free => format!("&\n{}{}", self.inner(&self.marker), Self::INDENT),
            Form::Fixed => format!("\n{}     &", self.inner(&self.marker)),
        }
    }

    /// A marker for a place between the lines of a statement.
    fn inner<'m>(&self, marker: &'m str) -> &'m str {
        if self.whole { "" } else { marker }
    }

    /// The text in front of a name that is longer than the one that it replaces.
    pub(super) fn before_name(&self) -> String {
        match self.form {
            Form::Free => String::new(),
            // There may be no column left for the longer name.
            Form::Fixed => self.broken(),
        }
    }

    /// A line break behind the opening parenthesis of a call with a longer name, in front of
    /// the argument in column `column` (from 0): see `argument`.
    pub(super) fn broken_before(&self, column: usize, marker: &str) -> String {
        let blanks = " ".repeat(column.saturating_sub(Self::INDENT.len()));
        let marker = self.inner(marker);
        match self.form {
            // No break is needed, and the following lines keep their numbers.
            Form::Free if self.whole => String::new(),
            Form::Free => format!("&\n{marker}{}{blanks}", Self::INDENT),
            Form::Fixed => format!("\n{marker}     &{blanks}"),
        }
    }

    /// A literal as an additional first argument, in front of the argument in column `column`
    /// (from 0). That argument is put behind `marker` on a line of its own, in the same column
    /// as before. So text behind the last significant column stays there.
    pub(super) fn argument(&self, column: usize, literal: &str, marker: &str) -> String {
        let behind = self.broken_before(column, marker);
        match self.form {
            Form::Free if self.whole => {
                format!("{}, ", self.literal(column + GROWTH, literal, ", "))
            }
            Form::Free => {
                // The name in front of the literal has become longer.
                let literal = self.literal(column + GROWTH, literal, ", &");
                format!("{literal}, {behind}")
            }
            Form::Fixed => {
                let begin = self.broken();
                let literal = self.literal(Self::INDENT.len(), literal, ",");
                format!("{begin}{literal},{behind}")
            }
        }
    }

    /// A character literal that begins in column `column` (from 0) and is followed by `behind`.
    /// It is continued by concatenation. So each line has balanced quotes, and no preprocessor
    /// reads a part of it as code.
    fn literal(&self, column: usize, literal: &str, behind: &str) -> String {
        // The quotes, the operator and the mark that are needed to continue it.
        let around = "'' // &".len() + behind.len();
        let room = |column: usize| self.width.saturating_sub(column + around);
        let mut text = String::new();
        let mut free = room(column);
        if free < literal.len().min(MIN_CHUNK) {
            text.push_str(&self.broken());
            free = room(Self::INDENT.len());
        }
        text.push('\'');
        for c in literal.chars() {
            let width = if c == '\'' { 2 } else { c.len_utf8() };
            if width > free {
                text.push_str("' // ");
                text.push_str(&self.broken());
                text.push('\'');
                free = room(Self::INDENT.len());
            }
            free -= width.min(free);
            text.push(c);
            if c == '\'' {
                text.push(c);
            }
        }
        text.push('\'');
        text
    }

    /// Appends a directive with the given words, in one or several lines.
    pub(super) fn directive(&mut self, words: &[String]) {
        let mut line = String::from("!$omp");
        let end = match self.form {
            Form::Free => " &",
            Form::Fixed => "",
        };
        let mut is_first = true;
        for piece in words.iter().flat_map(|word| pieces(word)) {
            let mut rest = piece.text;
            if line.len() + 1 + rest.len() + end.len() > self.width && line.len() > SENTINEL {
                self.part(&format!("{line}{end}"), is_first);
                is_first = false;
                line = String::from("!$omp&");
            }
            if piece.begins {
                line.push(' ');
            }
            // A word wider than a line is continued in the column behind the mark.
            while let Some((now, later)) = split_at_width(rest, self.width - line.len() - 1) {
                self.part(&format!("{line}{now}{}", end.trim_start()), is_first);
                is_first = false;
                line = String::from("!$omp&");
                rest = later;
            }
            line.push_str(rest);
        }
        self.part(&line, is_first);
    }

    /// Appends a line of a directive.
    fn part(&mut self, line: &str, is_first: bool) {
        match is_first || !self.whole {
            true => self.code(line),
            false => self.raw(line),
        }
    }
}

/// The difference in length between the names of a wrapper and its routine.
const GROWTH: usize = "POMPF_".len() - "omp_".len();

/// The width of a directive's sentinel with its continuation mark.
const SENTINEL: usize = "!$omp&".len();

/// The smallest length of a literal's first piece that is put on a line.
const MIN_CHUNK: usize = 20;

fn split_at_width(text: &str, width: usize) -> Option<(&str, &str)> {
    if text.len() <= width {
        return None;
    }
    let at = (1..=width).rev().find(|at| text.is_char_boundary(*at))?;
    Some(text.split_at(at))
}

/// A part of a word, after which a line may end.
struct Piece<'a> {
    text: &'a str,
    /// Whether there is a blank in front of it.
    begins: bool,
}

/// Splits a word at its blanks and after its commas, outside character literals.
fn pieces(word: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut begins, mut quote) = (0, true, None);
    for (at, c) in word.char_indices() {
        let (end, next) = match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                continue;
            }
            (Some(open), c) if open == c => {
                quote = None;
                continue;
            }
            (None, ',') => (at + 1, false),
            (None, ' ') => (at, true),
            _ => continue,
        };
        if end > from {
            let text = &word[from..end];
            pieces.push(Piece { text, begins });
        }
        (from, begins) = (at + 1, next);
    }
    if from < word.len() {
        let text = &word[from..];
        pieces.push(Piece { text, begins });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(layout: Layout) -> Lines {
        Lines::new(layout, false)
    }

    #[test]
    fn every_line_fits_and_keeps_its_text() {
        let literal = "it's a text ".repeat(40);
        for layout in [Layout::FREE, Layout::FIXED] {
            let mut lines = lines(layout);
            lines.call("POMPF_For_enter", &[Argument::literal(literal.clone())]);
            let text = lines.text();
            let limit = layout.line_length.unwrap_or(132);
            assert!(text.lines().all(|line| line.len() <= limit), "{text}");
            let quoted: String = text.split('\'').skip(1).step_by(2).collect();
            // A doubled quote is read as the end of one text and the begin of the next.
            assert_eq!(quoted, literal.replace('\'', ""), "{text}");
        }
    }

    #[test]
    fn interfaces_of_long_names_fit() {
        let mut lines = lines(Layout::FIXED);
        lines.declare(Declaration::Interface);
        let name = "pomp2_romp_0123456789abcdef_untied_task_create_begin";
        lines.call(name, &[Argument::literal("text".to_owned())]);
        let text = lines.text();
        assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    }

    #[test]
    fn directives_are_continued_behind_commas_and_between_clauses() {
        let words = [
            "do",
            "private(aaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbb,c)",
            "x",
        ];
        let mut fixed = lines(Layout::FIXED);
        fixed.directive(&words.map(str::to_owned));
        let expected = "!$omp do\n!$omp& private(aaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbb,c)\n!$omp& x\n";
        let text = fixed.text();
        assert!(text.lines().all(|line| line.len() <= 72), "{text}");
        assert_eq!(
            text.replace("\n!$omp&", ""),
            expected.replace("\n!$omp&", "")
        );
    }

    #[test]
    fn a_word_wider_than_a_line_is_broken_between_marks() {
        for layout in [Layout::FREE, Layout::FIXED] {
            let mut lines = lines(layout);
            let word = "x".repeat(200);
            lines.directive(&[format!("if({word})")]);
            let text = lines.text();
            assert!(text.lines().all(|line| line.len() <= 100), "{text}");
            assert_eq!(text.matches('x').count(), 200, "{text}");
        }
    }

    #[test]
    fn a_statement_without_line_markers_within() {
        for layout in [Layout::FREE, Layout::FIXED] {
            let mut lines = Lines::new(layout, true);
            lines.belong_to("# 7 \"a\"\n".into());
            lines.call("POMPF_For_enter", &[Argument::literal("text ".repeat(60))]);
            lines.directive(&["parallel".into(), format!("shared({})", "a,".repeat(80))]);
            let text = lines.text();
            assert_eq!(text.matches("# 7").count(), 2, "{text}");
            let in_one_line = text.lines().count() == 4;
            assert_eq!(in_one_line, layout.form == Form::Free, "{text}");
        }
    }
}
