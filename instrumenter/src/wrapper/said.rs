//! Whether what a compiler said about a preprocessed text is what it would say
//! about the source.
//!
//! It is if the source holds the same, in the same columns, in each place that a message
//! names or shows, and no macro or comment elsewhere could have kept the compiler
//! from saying it. Messages of another form count as different, which costs another
//! look at the source and no more.

use std::collections::{HashMap, HashSet};

use super::unit::Unit;
use crate::Source;
use crate::find::c::conditions::is_part;
use crate::find::front_end;
use crate::find::lines::{LineMap, width};
use crate::source::{Absent, Form, Layout};
use crate::spell::c::BARRIER;

/// Warnings that compilers do not give of a source for something that is not at the
/// place they name: a comment, or a macro in an operand or on another line.
const HELD_BACK: &[&str] = &[
    "[-Wimplicit-fallthrough",
    "[-Wduplicate-decl-specifier",
    "[-Wduplicated-branches",
    "[-Wint-in-bool-context",
    "[-Wlogical-op",
    "[-Wtautological-",
    "[-Wtype-limits",
];

/// A place that a message names, or a line that it shows.
#[derive(Debug)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    /// The last column that matters, at least; tabs may count for several.
    column: usize,
}

/// The column of messages that name none: all of the line matters.
const WHOLE_LINE: usize = usize::MAX;

/// What a preprocessor made of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made<'a> {
    /// Its begin: a system's macro ends a line, with a marker.
    text: &'a [u8],
    is_whole: bool,
    /// The compiler has read it so: columns are those of the source.
    is_compiled: bool,
}

/// A text that a preprocessor made.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: Vec<u8>,
    pub(crate) lines: LineMap,
    /// The user's file that it was made of.
    pub(crate) name: String,
    pub(crate) shows: Shows,
    /// The compiler takes each line as this wide, at least.
    pub(crate) padded: usize,
}

/// What messages about a text say of the user's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Lines of the user's files, which the preprocessor may have changed.
    Files,
    /// Lines of the text itself.
    Text,
    /// Lines of the user's files; lines of ours are among those of the text.
    FilesOfInstrumented,
}

impl Text {
    /// The instrumented text of a source, to be compared line by line: directives are
    /// written anew.
    pub(crate) fn instrumented(unit: &Unit, text: &[u8], preprocessed_by_compiler: bool) -> Self {
        let source = Source {
            name: unit.text_name(),
            language: unit.language,
            text: text.to_owned(),
            layout: Layout {
                preprocessed_by_compiler,
                ..unit.layout
            },
            absent: Absent::new(),
        };
        Self {
            lines: front_end(unit.language).find(&source).lines,
            text: source.text,
            name: source.name,
            padded: match source.layout.form {
                Form::Fixed => source.layout.line_length.unwrap_or(0),
                Form::Free => 0,
            },
            shows: Shows::FilesOfInstrumented,
        }
    }

    /// Whether messages about this text are those about its source.
    pub(crate) fn says_the_same(&self, messages: &[u8]) -> bool {
        self.compared().says_the_same(messages)
    }

    /// Whether messages about this text name only lines that the source has, too. This is
    /// enough where no preprocessor has changed it.
    pub(crate) fn keeps_places(&self, messages: &[u8]) -> bool {
        let messages = without_colours(messages);
        if needs_whole(&messages) {
            return false;
        }
        let mut compared = self.compared();
        let mut places = messages.lines().filter_map(place);
        places.all(|place| compared.is_in_both(&place))
    }

    /// The text beside its source.
    pub(crate) fn compared(&self) -> Compared<'_> {
        self.beside(&self.text)
    }

    /// The text beside its source, where the compiler has read what was made of the text.
    pub(crate) fn beside(&self, compiled: &[u8]) -> Compared<'_> {
        Compared {
            text: self,
            made: self.by_place(compiled),
            files: HashMap::new(),
        }
    }

    /// Its lines by where they come from: those that differ, where several come from one.
    fn by_place(&self, compiled: &[u8]) -> HashMap<(String, u32), Vec<Made<'_>>> {
        let compiled: HashSet<&[u8]> = compiled.split(|byte| *byte == b'\n').collect();
        let lines = self.text.split(|byte| *byte == b'\n').scan(0, |at, line| {
            let begin = *at;
            *at += line.len() + 1;
            Some((begin, line))
        });
        // GCC may begin a line with an empty one, a marker, and then what stands there.
        let placed = lines.filter(|(_, line)| !is_marker(line) && !line.is_empty());
        let placed = placed.filter_map(|(at, line)| Some((self.lines.presumed(at)?, line)));
        let mut made: HashMap<_, Vec<Made<'_>>> = HashMap::new();
        for part in placed.collect::<Vec<_>>().chunk_by(|(a, _), (b, _)| a == b) {
            let looked_at = match self.shows {
                Shows::FilesOfInstrumented => part.len(),
                Shows::Files | Shows::Text => 1,
            };
            for (place, text) in part.iter().take(looked_at) {
                let new = Made {
                    text,
                    is_whole: part.len() == 1,
                    is_compiled: compiled.contains(text),
                };
                let known = made.entry((place.file.clone(), place.line)).or_default();
                if !known.contains(&new) {
                    known.push(new);
                }
            }
        }
        made
    }
}

/// The lines of a text, and those of the user's files that were asked for.
#[derive(Debug)]
pub(crate) struct Compared<'a> {
    text: &'a Text,
    made: HashMap<(String, u32), Vec<Made<'a>>>,
    files: HashMap<String, Vec<u8>>,
}

impl Compared<'_> {
    /// Whether messages about the text are those about its source.
    pub(crate) fn says_the_same(&mut self, messages: &[u8]) -> bool {
        let messages = without_colours(messages);
        let differs = |line: &str| may_be_held_back(line) || names_its_own(line);
        if messages.lines().any(differs) || may_be_of_ours(&messages) {
            return false;
        }
        let Some(places) = places(&messages) else {
            return false;
        };
        places.into_iter().all(|place| self.is_in_both(&place))
    }

    fn is_in_both(&mut self, place: &Place<'_>) -> bool {
        let instrumented = self.text.shows == Shows::FilesOfInstrumented;
        if instrumented && !self.made.keys().any(|(file, _)| file == place.file) {
            // The compiler has read it for itself.
            return true;
        }
        let text = self
            .files
            .entry(place.file.to_owned())
            .or_insert_with(|| std::fs::read(place.file).unwrap_or_default());
        let mut lines = text.split(|byte| *byte == b'\n');
        let written = lines.nth(place.line.saturating_sub(1) as usize);
        let made = self.made.get(&(place.file.to_owned(), place.line));
        let (Some(written), Some(made)) = (written, made) else {
            // In branches of conditionals lines can't be told by their numbers.
            let mut lines = self.text.text.split(|byte| *byte == b'\n');
            return instrumented
                && written.is_some_and(|written| lines.any(|line| line == written));
        };
        match (self.text.shows, made.as_slice()) {
            (Shows::Files | Shows::Text, [made]) if !made.is_compiled => false,
            (Shows::Files, [made]) if place.column == WHOLE_LINE => has_same_words(written, *made),
            (Shows::Files, [made]) => is_same(written, *made, place.column),
            (Shows::Text, [made]) => made.is_whole && made.text == written,
            (Shows::FilesOfInstrumented, made) => {
                // Included files that are in the text have another name there.
                // What was split off a directive has the number of a line of the user's.
                let ours = |made: &Made<'_>| {
                    let made = made.text;
                    made.starts_with(b"#pragma") && made != written && made != BARRIER.as_bytes()
                };
                let kept =
                    || made.iter().any(|made| made.text == written) && !made.iter().any(ours);
                // A column behind the line's end is one of a longer line of ours.
                let width = width(written).max(self.text.padded);
                let within = place.column == WHOLE_LINE || place.column <= width + 1;
                place.file == self.text.name && within && kept()
            }
            (Shows::Files | Shows::Text, _) => false,
        }
    }
}

/// Whether a line is the same but for blanks, which GCC settles in directives that it
/// does not know.
fn has_same_words(written: &[u8], made: Made<'_>) -> bool {
    let words = |line| <[u8]>::split(line, u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    made.is_whole && words(written).eq(words(made.text))
}

/// Whether a line that the user has written begins as it was made, up to the end of
/// the word in a column, or is the same but for a comment. A tab is made a space:
/// columns are counted in bytes, and made those of the screen with the user's file.
fn is_same(written: &[u8], made: Made<'_>, column: usize) -> bool {
    let pairs = written.iter().zip(made.text);
    let equal = |a: u8, b: u8| a == b || (a == b'\t' && b == b' ');
    let same = pairs.take_while(|(a, b)| equal(**a, **b)).count();
    let (_, rest) = written.split_at(same);
    let rest = rest.trim_ascii();
    let ends = made.is_whole && made.text.trim_ascii_end().len() <= same;
    let is_comment = rest.is_empty() || rest.starts_with(b"//") || rest.starts_with(b"/*");
    let word = written.iter().skip(column);
    let word = word.take_while(|byte| is_part(**byte));
    (ends && is_comment) || (written.is_ascii() && column + word.count() < same)
}

/// Whether a line is a warning that the source might not get. Which one it is says its end.
fn may_be_held_back(line: &str) -> bool {
    let unnamed = || !line.trim_end().ends_with(']');
    let held_back = || HELD_BACK.iter().any(|flag| line.contains(flag));
    line.contains(": warning: ") && (unnamed() || held_back())
}

/// Whether gfortran names a variable of its own, which has another number in a new text.
fn names_its_own(line: &str) -> bool {
    let says = is_verdict(line) || line.contains(": warning: ");
    says && (line.contains("'.") || line.contains("\u{2018}."))
}

/// Whether Clang's optimiser warns of a loop and can't say which.
pub(crate) fn names_no_place(messages: &str) -> bool {
    messages.lines().any(|line| line.starts_with("warning: "))
}

/// Whether there are messages that only a compiler tells which compiles all of the source.
pub(crate) fn needs_whole(messages: &str) -> bool {
    names_no_place(messages) || may_be_of_ours(messages)
}

/// Whether GCC warns of a variable that a directive alone may use uninitialized: it names
/// the declaration and no place of use, in a function that it made of a construct. A
/// directive that was split passes variables on that the whole one keeps to itself.
fn may_be_of_ours(messages: &str) -> bool {
    let mut made_of_construct = true;
    let mut lines = messages.lines();
    while let Some(line) = lines.next() {
        if line.trim_end().ends_with([':', ',']) && is_around(line) {
            let goes_on = line.trim_start().starts_with("inlined from ");
            made_of_construct = line.contains("._omp_fn.") || (goes_on && made_of_construct);
        }
        let warns = line.contains("uninitialized [-W");
        if warns && made_of_construct {
            let begins = |line: &&str| line.contains(": warning: ") || line.contains(": In ");
            let mut rest = lines.clone().take_while(|line| !begins(line));
            if !rest.any(|line| line.contains("declared here")) {
                return true;
            }
        }
    }
    false
}

/// Whether a line is what gfortran says, below the place that it says it of.
fn is_verdict(line: &str) -> bool {
    const KINDS: [&str; 4] = ["Warning: ", "Error: ", "note: ", "Note: "];
    KINDS.iter().any(|kind| line.starts_with(kind))
}

fn is_marker(line: &[u8]) -> bool {
    line.starts_with(b"# ") || line.starts_with(b"#line ")
}

/// Messages without what colours them on a terminal (ECMA-48, control sequences).
pub(crate) fn without_colours(messages: &[u8]) -> String {
    let text = String::from_utf8_lossy(messages);
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        plain + part.get(end.map_or(0, |end| end + 1)..).unwrap_or_default()
    })
}

/// Whether there are messages that name places, and nothing else.
pub(crate) fn names_places(messages: &str) -> bool {
    places(messages).is_some_and(|places| !places.is_empty())
}

/// The places that messages name or show; none if there is more in them.
fn places(messages: &str) -> Option<Vec<Place<'_>>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut code_may_follow = false;
    let mut lines = messages.lines().peekable();
    while let Some(line) = lines.next() {
        let begins = place(line);
        let follows = std::mem::replace(&mut code_may_follow, begins.is_some());
        if let Some(place) = begins {
            places.push(place);
        } else if let Some((gutter, code)) = line.split_once(" | ") {
            let is_code = !gutter.trim().is_empty();
            let marked = lines.peek().is_some_and(|next| is_marks(next));
            // A part of a macro is not marked.
            if is_code && !marked {
                return None;
            }
            add_shown(&mut places, gutter.trim(), code)?;
        } else if !follows && !is_around(line) {
            return None;
        }
    }
    Some(places)
}

/// Whether a line has marks of what the line above it shows.
fn is_marks(line: &str) -> bool {
    line.split_once(" | ")
        .is_some_and(|(gutter, _)| gutter.trim().is_empty())
}

/// Whether messages show a line without marks below it.
pub(crate) fn lacks_marks(messages: &str) -> bool {
    let mut lines = messages.lines().peekable();
    while let Some(line) = lines.next() {
        let gutter = line
            .split_once(" | ")
            .map_or("", |(gutter, _)| gutter.trim());
        let is_number = !gutter.is_empty() && gutter.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !lines.peek().is_some_and(|next| is_marks(next)) {
            return true;
        }
    }
    false
}

/// Adds what a line shows behind a gutter: a line of the place's file, which has its
/// number there, or marks below it.
fn add_shown(places: &mut Vec<Place<'_>>, number: &str, code: &str) -> Option<()> {
    let last = places.last_mut()?;
    if number.is_empty() {
        last.column = last.column.max(code.trim_end().len());
        return Some(());
    }
    let (file, line) = (last.file, number.parse().ok()?);
    if line != last.line {
        let column = 0;
        places.push(Place { file, line, column });
    }
    Some(())
}

/// The place that a line begins with, or ends with after what is inlined there:
/// `a.c:12:3: warning: ...`.
fn place(line: &str) -> Option<Place<'_>> {
    let line = match line.trim_start().strip_prefix("inlined from ") {
        Some(inlined) => inlined.rsplit_once(" at ")?.1,
        None => line,
    };
    let (file, rest) = line.split_once(':')?;
    let (number, rest) = rest.split_once(':')?;
    let (column, _) = rest.split_once([':', ','])?;
    let column = match column {
        " warning" | " note" => WHOLE_LINE,
        column => column.parse().ok()?,
    };
    Some(Place {
        file,
        line: number.parse().ok()?,
        column,
    })
}

/// Lines that say in which function, in which header or how often, and marks below
/// a line without a gutter. Of gfortran also the message, and dots for lines between.
fn is_around(line: &str) -> bool {
    let text = line.trim_start();
    text.chars().all(|c| " ^~".contains(c))
        || is_verdict(line)
        || (!line.is_empty() && line.chars().all(|c| c == '.'))
        || text.starts_with('|')
        || text.starts_with("In file included from ")
        || (text != line && text.starts_with("from "))
        || (text.starts_with("In function ") && text.ends_with(','))
        || (text.ends_with(':') && (text.contains(": In ") || text.contains(": At ")))
        || text.ends_with(" generated.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_optimiser_says_of_no_place_is_the_source_s() {
        let text = text("a.c", Shows::FilesOfInstrumented);
        assert!(text.keeps_places(b"1 warning generated.\n"));
        assert!(!text.keeps_places(b"warning: loop not vectorized [-Wp]\n1 warning generated.\n"));
        assert!(text.keeps_places(b"clang: warning: argument unused [-Wu]\n"));
    }

    #[test]
    fn what_is_said_of_a_whole_line_that_stays_is_the_source_s() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.c");
        std::fs::write(&path, "\n\n\n#pragma unroll\nint c;\nint d;\n").unwrap();
        let file = path.to_str().unwrap();
        let mut text = text(file, Shows::FilesOfInstrumented);
        text.name = file.into();
        let made = String::from_utf8(text.text).unwrap();
        let made = made.replace("int b;", "#pragma unroll");
        let mut lines = LineMap::new("a.i", made.as_bytes());
        lines.change(made.find("#pragma").unwrap(), Some(file.to_owned()), 4);
        text.text = made.into_bytes();
        text.lines = lines;
        let says = |message: &str| text.keeps_places(message.replace('@', file).as_bytes());
        let ignored = "warning: ignoring '#pragma unroll ' [-Wunknown-pragmas]";
        assert!(says(&format!(
            "@:4: {ignored}\n    4 | #pragma unroll\n      | \n"
        )));
        assert!(!says(&format!("@:5: {ignored}\n")));
        assert!(says("@:4: note: the line\n"));
        assert!(!says("@:5: note: the line\n"));
    }

    #[test]
    fn a_line_without_marks_is_noticed() {
        let said = "a.c:4:5: warning: b [-Wb]\n    4 | int b;\n";
        assert!(lacks_marks(said));
        assert!(lacks_marks(&format!("{said}  +++ |+#include <b.h>\n")));
        assert!(!lacks_marks(&format!("{said}      |     ^\n")));
        assert!(!lacks_marks(
            "a.c:4: warning: b [-Wb]\n    4 | #b\n      | \n"
        ));
        assert!(!lacks_marks("a.c:4:5: warning: a | b\n"));
    }

    /// A text whose second marker names a file, of which four lines follow;
    /// before the last stands an empty one and a marker.
    fn text(file: &str, shows: Shows) -> Text {
        let head = format!("# 1 \"other.c\"\nint a;\n# 4 \"{file}\"\n");
        let text = format!("{head}int b;\nint c = (0);\nint d;\n\n# 7 \"{file}\"\n int e;\n");
        let mut lines = LineMap::new("a.i", text.as_bytes());
        lines.change(head.len(), Some(file.to_owned()), 4);
        lines.change(text.len() - " int e;\n".len(), Some(file.to_owned()), 7);
        Text {
            text: text.into_bytes(),
            lines,
            name: "a.c".into(),
            padded: 0,
            shows,
        }
    }

    #[test]
    fn messages_about_lines_that_stay_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.c");
        std::fs::write(
            &path,
            "\n\n\nint b; // b\nint c = ZERO;\nint d;\n\tint e;\n",
        )
        .unwrap();
        let file = path.to_str().unwrap();
        let (gcc, clang) = (text(file, Shows::Files), text(file, Shows::Text));
        for (message, same) in [
            (
                "@: In function 'f':\n@:4:5: warning: b [-Wb]\n    4 | int b;\n      |     ^\n",
                [true, false],
            ),
            ("@:6:5: note: declared here\n", [true, true]),
            (
                "\x1b[1m@:6:5:\x1b[K \x1b[35mwarning: \x1b[md [-Wd]\n1 warning generated.\n",
                [true, true],
            ),
            (
                "In function 'f',\n    inlined from 'g' at @:6:1:\n",
                [true, true],
            ),
            (
                "In file included from b.c:1:\n@:6:5: warning: d [-Wd]\n",
                [true, true],
            ),
            (
                "@:6:5:\n\n    6 | int d;\n      |     1\nWarning: Unused at (1) [-Wd]\n",
                [true, true],
            ),
            (
                "@:6:5:\n\n    4 | int b;\n      |     2\n......\n    6 | int d;\n      |     1\n\
                 Warning: (1) is not (2)\n",
                [true, false],
            ),
            (
                "@:6:5:\n\n    6 | int d;\n      |     ^\nWarning: '.count.3' is unused [-Wd]\n",
                [false, false],
            ),
            (
                "@:5:5: warning: before a macro [-Wb]\n    5 | int c = ZERO;\n      |     ^\n",
                [true, false],
            ),
            ("@:5:9: warning: made by a macro [-Wm]\n", [false, false]),
            (
                "@:5:5: warning: c [-Wc]\n    5 | int c = ZERO;\n      |     ^   ~~~~\n",
                [false, false],
            ),
            (
                "@:6:5: warning: d [-Wd]\n    4 | int b; // b\n      |            ^\n",
                [true, false],
            ),
            ("    inlined from 'g' at @:5:9:\n", [false, false]),
            (
                "@: In function 'f._omp_fn.0':\n@:6:5: warning: 'd' may be used uninitialized [-Wd]\n",
                [false, false],
            ),
            (
                "@: In function 'f._omp_fn.0':\n@:6:5: warning: 'd' may be used uninitialized [-Wd]\n\
                 @:6:5: note: 'd' was declared here\n",
                [true, true],
            ),
            (
                "@: In function 'f':\n@:6:5: warning: 'd' may be used uninitialized [-Wd]\n",
                [true, true],
            ),
            ("@:6:5: warning: '.count.3' is used [-Wd]\n", [false, false]),
            ("@:7:9: warning: behind a tab [-Wb]\n", [true, false]),
            ("@:9:1: warning: of no line [-Wn]\n", [false, false]),
            (
                "@:6:5: warning: without marks [-Wd]\n    6 | int d;\n",
                [false, false],
            ),
            ("@:6:5: warning: of no name\n", [false, false]),
            (
                "@:6:5: warning: a comment may say so [-Wimplicit-fallthrough=]\n",
                [false, false],
            ),
            ("absent.c:4:5: warning: b [-Wb]\n", [false, false]),
            ("gcc: warning: a flag\n", [false, false]),
            (
                "@:6: warning: all of d [-Wd]\n    6 | int d;\n      | \n",
                [true, true],
            ),
            ("@:4: warning: all of b [-Wb]\n", [false, false]),
            ("@:7: warning: with another blank [-Wb]\n", [true, false]),
        ] {
            let message = message.replace('@', file);
            let found = [&gcc, &clang].map(|text| text.says_the_same(message.as_bytes()));
            assert_eq!(found, same, "{message}");
        }
    }
}
