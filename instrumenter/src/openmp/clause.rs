//! Reads the words of a clause: its keywords, modifiers, list items and expressions.

use super::Language;
use super::parse::{Clause, DirectiveToken, colons_at_depth_0, joined};

impl Clause {
    /// The clause as one line of text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.argument {
            Some(argument) => format!("{}({})", self.spelled, joined(&argument.words)),
            None => self.spelled.clone(),
        }
    }

    /// Whether its argument is this one keyword.
    #[must_use]
    pub fn says(&self, keyword: &str) -> bool {
        let words = self.argument.as_ref().map_or(&[][..], |a| &a.words);
        matches!(words, [word] if word.text.eq_ignore_ascii_case(keyword))
    }

    /// Whether a word of its argument is this keyword.
    #[must_use]
    pub fn mentions(&self, keyword: &str) -> bool {
        let mut words = self.argument.iter().flat_map(|argument| &argument.words);
        words.any(|word| word.text.eq_ignore_ascii_case(keyword))
    }

    /// Whether a name is taken for a macro that expands to a value: a name in capitals, in a
    /// language where case matters.
    fn is_macro(&self, name: &str) -> bool {
        self.language != Language::Fortran && !name.contains(|c: char| c.is_ascii_lowercase())
    }

    /// The first word of the argument, if a colon follows it: a modifier.
    #[must_use]
    pub fn modifier(&self) -> Option<&str> {
        let words = &self.argument.as_ref()?.words;
        let colon = words.get(1)?;
        colon.is(":").then(|| words[0].text.as_str())
    }

    /// Whether a word before the argument's first colon outside parentheses is
    /// `modifier`, as in `reduction(task, +: x)`.
    #[must_use]
    pub fn has_modifier(&self, modifier: &str) -> bool {
        let Some(argument) = &self.argument else {
            return false;
        };
        argument
            .words
            .iter()
            .position(|word| word.is(":"))
            .is_some_and(|colon| {
                let mut words = argument.words[..colon].iter();
                words.any(|word| word.text.eq_ignore_ascii_case(modifier))
            })
    }

    /// Whether evaluating its argument may have a side effect.
    #[must_use]
    pub fn may_have_side_effect(&self) -> bool {
        let words = self.argument.as_ref().map_or(&[][..], |a| &a.words);
        let follows = |at: usize, marks: &[&str]| {
            let word = words.get(at + 1);
            word.is_some_and(|word| marks.iter().any(|mark| word.is(mark)))
        };
        let calls = |at: usize| {
            let name = &words[at];
            name.is_identifier()
                && !self.is_macro(&name.text)
                && !name.is("sizeof")
                && follows(at, &["("])
        };
        let assigns = |at: usize| {
            let compares = at > 0
                && ["=", "<", ">", "!"]
                    .iter()
                    .any(|mark| words[at - 1].is(mark));
            words[at].is("=") && !compares && !follows(at, &["="])
        };
        let steps = |at: usize| {
            let touching = words
                .get(at + 1)
                .is_some_and(|next| next.range.start == words[at].range.end);
            (words[at].is("+") && follows(at, &["+"]) || words[at].is("-") && follows(at, &["-"]))
                && touching
        };
        (0..words.len()).any(|at| calls(at) || assigns(at) || steps(at))
    }

    /// The names in the expressions of its argument, without list items, modifiers, and names
    /// taken for macros.
    #[must_use]
    pub fn names_in_expressions(&self) -> Vec<&str> {
        let words = self.argument.as_ref().map_or(&[][..], |a| &a.words);
        let (parts, items) = match self.row.is_some_and(|row| row.expression) {
            true => (self.expression(words), &[][..]),
            false => (
                self.behind_modifiers(words),
                self.list_words().unwrap_or_default(),
            ),
        };
        let bases = split_at_commas(items).filter_map(<[DirectiveToken]>::first);
        let bases: Vec<usize> = bases.map(|base| base.range.start).collect();
        let names = parts.iter().filter(|word| word.is_identifier());
        names
            .filter(|word| !bases.contains(&word.range.start) && !word.is("sizeof"))
            .map(|word| word.text.as_str())
            .filter(|name| !self.is_macro(name))
            .collect()
    }

    /// The part behind the modifiers and the kind of schedule.
    fn expression<'w>(&self, words: &'w [DirectiveToken]) -> &'w [DirectiveToken] {
        let modifiers = colons_at_depth_0(words).map_or(0, |(first, _)| first + 1);
        let words = &words[modifiers..];
        match self.name.as_str() {
            "schedule" => {
                let kind = words.iter().position(|word| word.is(","));
                &words[kind.unwrap_or(words.len())..]
            }
            _ => words,
        }
    }

    /// The list. For clauses whose modifiers may be expressions, the modifiers too.
    fn behind_modifiers<'w>(&'w self, words: &'w [DirectiveToken]) -> &'w [DirectiveToken] {
        match self.name.as_str() {
            "linear" | "aligned" | "allocate" => words,
            _ => self.list_words().unwrap_or_default(),
        }
    }

    /// The base names of the list items behind the last colon at depth 0: `a`
    /// of `a[0:n]`, `x` of `(x)`, `/b/` for a common block. `None` if an item has
    /// no plain base name.
    #[must_use]
    pub fn list_items(&self) -> Option<Vec<&str>> {
        let words = self.list_words()?;
        split_at_commas(words).map(base_name).collect()
    }

    fn list_words(&self) -> Option<&[DirectiveToken]> {
        let argument = self.argument.as_ref()?;
        // `linear(x: step)` and `aligned(p: n)` have their lists in front of the colon. All
        // other clauses have them behind it.
        let colon = colons_at_depth_0(&argument.words);
        Some(match (self.name.as_str(), colon) {
            ("linear" | "aligned", Some((first, _))) => linear_list(&argument.words, first),
            (_, Some((_, last))) => &argument.words[last + 1..],
            (_, None) => &argument.words,
        })
    }
}

/// The list of `linear(val(x): 2)` or `linear(x: 2)`: it is in front of the colon, possibly in
/// parentheses after a modifier.
fn linear_list(words: &[DirectiveToken], colon: usize) -> &[DirectiveToken] {
    match &words[..colon] {
        [modifier, open, list @ .., close]
            if modifier.is_identifier() && open.is("(") && close.is(")") =>
        {
            list
        }
        list => list,
    }
}

pub(super) fn split_at_commas(words: &[DirectiveToken]) -> impl Iterator<Item = &[DirectiveToken]> {
    let mut depth = 0i32;
    words.split(move |word| {
        match word.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && word.is(",")
    })
}

fn base_name(item: &[DirectiveToken]) -> Option<&str> {
    let (first, rest) = item.split_first()?;
    let subscripts_only = rest.first().is_none_or(|word| word.is("[") || word.is("("));
    let named = first.is_identifier() || first.is_common_block();
    (named && subscripts_only).then_some(first.text.as_str())
}
