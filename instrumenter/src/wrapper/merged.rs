//! The messages of a source, put together of what the compiler's front end says of it
//! and what the compiler says of the text that it was given. The front end takes a
//! part of the time that the source would.
//!
//! ```text
//! said of the text   said of the source   taken
//! a                  a'                   a'     the same at other columns, or with a macro's parts
//! b                                       b      if the source shows the same in its places
//!                    c                    c      lost in the text
//! ```
//!
//! In doubt there is no result: then the source has to be compiled.

use std::collections::VecDeque;

use super::said::{names_no_place, without_colours};

/// One warning with what is said around it.
#[derive(Debug, PartialEq, Eq)]
struct Message<'a> {
    /// What is said if it differs from the message before: files and functions.
    context: Vec<&'a str>,
    /// The warning, what it shows, and its notes.
    lines: Vec<&'a str>,
    /// The warning without its column and colours.
    key: String,
}

impl Message<'_> {
    /// The warning without its place.
    fn said(&self) -> &str {
        let said = self.key.split_once(": ");
        said.map_or(&self.key, |(_, said)| said)
    }

    /// Whether it ends with the number of all messages.
    fn counts(&self) -> bool {
        let last = self.lines.last();
        last.is_some_and(|line| line.trim_end().ends_with(" generated."))
    }

    fn whole(&self) -> String {
        self.context.concat() + &self.lines.concat()
    }
}

/// Which messages were taken since the last one that was said of both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    Nothing,
    OfText,
    OfSource,
}

/// The messages of a source. `is_same` tells whether messages of the text would be
/// given of the source, too.
pub(crate) fn merged(
    of_text: &str,
    of_source: &str,
    mut is_same: impl FnMut(&str) -> bool,
) -> Option<String> {
    let mut text = VecDeque::from(messages(of_text)?);
    let mut source = VecDeque::from(messages(of_source)?);
    let mut merging = Merging {
        taken: Vec::new(),
        since: Since::Nothing,
        lost: Vec::new(),
    };
    while let Some(message) = text.pop_front() {
        let found = source.iter().position(|other| other.key == message.key);
        if found.is_none() && is_same(&message.whole()) {
            merging.take_of_text(&message)?;
            continue;
        }
        let at = found.or_else(|| elsewhere(&message, &source, &text))?;
        for lost in source.drain(..at) {
            merging.take_of_source(lost)?;
        }
        let same_context = merging.since == Since::OfText && is_same(&message.context.concat());
        merging.take_of_both(&message, &source.pop_front()?, same_context)?;
    }
    for lost in source {
        merging.take_of_source(lost)?;
    }
    Some(merging.taken.concat())
}

/// What was taken so far.
struct Merging<'a> {
    taken: Vec<&'a str>,
    since: Since,
    /// Keys of what the text lost.
    lost: Vec<String>,
}

impl<'a> Merging<'a> {
    fn take_of_text(&mut self, message: &Message<'a>) -> Option<()> {
        let in_order = self.since != Since::OfSource && !self.lost.contains(&message.key);
        if !in_order || message.counts() {
            return None;
        }
        self.since = Since::OfText;
        self.taken.extend(&message.context);
        self.taken.extend(&message.lines);
        Some(())
    }

    fn take_of_source(&mut self, message: Message<'a>) -> Option<()> {
        if self.since == Since::OfText {
            return None;
        }
        self.since = Since::OfSource;
        self.taken.extend(message.context);
        self.taken.extend(message.lines);
        self.lost.push(message.key);
        Some(())
    }

    /// Takes the source's; what is said before it goes by the message before.
    fn take_of_both(
        &mut self,
        of_text: &Message<'a>,
        of_source: &Message<'a>,
        same_context: bool,
    ) -> Option<()> {
        let differs = self.since == Since::OfText && of_text.context != of_source.context;
        if differs && !same_context {
            return None;
        }
        let message = if differs { of_text } else { of_source };
        self.taken.extend(&message.context);
        self.taken.extend(&of_source.lines);
        self.since = Since::Nothing;
        Some(())
    }
}

/// Where the source's messages have one that its text says of another place: of a macro's
/// definition, for one of its uses.
fn elsewhere(
    message: &Message<'_>,
    source: &VecDeque<Message<'_>>,
    text: &VecDeque<Message<'_>>,
) -> Option<usize> {
    let is_other = |other: &Message<'_>| {
        other.said() == message.said() && text.iter().all(|later| later.key != other.key)
    };
    source.iter().position(is_other)
}

/// The messages of an output; none where it begins or ends with something else, or where
/// one has no place to know it by.
fn messages(output: &str) -> Option<Vec<Message<'_>>> {
    let plain = without_colours(output.as_bytes());
    let mut messages: Vec<Message<'_>> = Vec::new();
    let mut context = Vec::new();
    if names_no_place(&plain) {
        return None;
    }
    for (line, plain) in output.split_inclusive('\n').zip(plain.lines()) {
        let begins = plain.contains(": warning: ") || plain.contains(": error: ");
        if begins || (!context.is_empty() && plain.contains(": note: ")) {
            messages.push(Message {
                context: std::mem::take(&mut context),
                lines: vec![line],
                key: without_column(plain),
            });
        } else if is_context(plain) {
            context.push(line);
        } else if !context.is_empty() {
            // What the last line of the context shows.
            context.push(line);
        } else {
            messages.last_mut()?.lines.push(line);
        }
    }
    context.is_empty().then_some(messages)
}

/// `a.c:12:3: warning: ...` without its column.
fn without_column(head: &str) -> String {
    let end = head.find(": ").unwrap_or(head.len());
    let (place, said) = head.split_at(end);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match place.rsplit_once(':') {
        Some((rest, column)) if is_number(column) && rest.contains(':') => rest.to_owned() + said,
        _ => head.to_owned(),
    }
}

/// Lines in front of a message that say where it is.
fn is_context(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("In file included from ")
        || (text != line && text.starts_with("from "))
        || (text != line && text.starts_with("inlined from "))
        || (text.starts_with("In ") && text.ends_with([':', ',']))
        || (text.ends_with([':', ',']) && (text.contains(": In ") || text.contains(": At ")))
        || text.contains(":   required from ")
        || text.contains(":   required by ")
}

#[cfg(test)]
mod tests {
    use super::merged;

    const A: &str = "a.c: In function 'f':\na.c:3:5: warning: a [-Wa]\n    3 | x\n      | ^\n";
    const A_ELSEWHERE: &str =
        "a.c: In function 'f':\na.c:3:9: warning: a [-Wa]\n    3 | M(x)\n      |   ^\n";
    const B: &str = "a.c:5:1: warning: b [-Wb]\na.c:1:1: note: declared here\n";
    const C: &str = "a.c: At top level:\na.c:7:1: warning: c [-Wc]\n";

    fn all_same(text: &[&str], source: &[&str]) -> Option<String> {
        merged(&text.concat(), &source.concat(), |_| true)
    }

    #[test]
    fn the_source_says_where_and_the_text_what_else() {
        for (text, source, expected) in [
            (
                &[A, B, C][..],
                &[A_ELSEWHERE, B][..],
                &[A_ELSEWHERE, B, C][..],
            ),
            (&[A, B], &[A_ELSEWHERE], &[A_ELSEWHERE, B]),
            (&[A, C], &[A, B, C], &[A, B, C]),
            (&[A, B, B], &[A, B, B], &[A, B, B]),
            (&[], &[A], &[A]),
            (&[B], &[A, B], &[A, B]),
        ] {
            let found = all_same(text, source);
            assert_eq!(found, Some(expected.concat()), "{text:?} {source:?}");
        }
    }

    #[test]
    fn in_doubt_there_is_none() {
        let counted = format!("{B}1 warning generated.\n");
        for (text, source) in [
            // In another order.
            (&[C, A, B, C][..], &[A, B, C][..]),
            // What each says alone, one after the other.
            (&[B, C], &[A, C, A]),
            (&[A, C], &[A, B]),
            // With a number of messages that is another one.
            (&[A, &counted], &[A]),
            // A message without a place.
            (&[A, "warning: loop not vectorized [-Wp]\n"], &[A]),
            // No message.
            (&["cc1: all is well\n"], &[A]),
            (&[A], &["In file included from a.c:1:\n"]),
        ] {
            assert_eq!(all_same(text, source), None, "{text:?} {source:?}");
        }
        assert_eq!(merged(&[A, C].concat(), A, |_| false), None);
    }

    #[test]
    fn messages_of_macros_name_their_definitions() {
        let used = "a.c:5:1: warning: b [-Wb]\n";
        let defined = "a.c:2:3: warning: b [-Wb]\na.c:5:1: note: in expansion of macro 'M'\n";
        let at =
            |text: &[&str], source: &[&str]| merged(&text.concat(), &source.concat(), |_| false);
        assert_eq!(
            at(&[used, used], &[used, defined]),
            Some([used, defined].concat())
        );
        // The source says the other one.
        let later = "a.c:8:1: warning: b [-Wb]\n";
        assert_eq!(at(&[used, later], &[later]), None);
    }

    #[test]
    fn colours_stay() {
        let coloured = "\x1b[1ma.c:5:4:\x1b[K \x1b[35mwarning: \x1b[mb\n";
        let found = merged("a.c:5:1: warning: b\n", coloured, |_| false);
        assert_eq!(found.as_deref(), Some(coloured));
    }
}
