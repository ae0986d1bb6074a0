//! Parses the words of a directive: the rows that its name is made of, its argument and its
//! clauses, each with its bytes in the source. Independent of the language: a front end has
//! already removed sentinels, continuations and comments.

use std::borrow::Cow;
use std::ops::Range;

use super::Language;
use super::clauses::{self, ClauseRow};
use super::directives::{Association, DIRECTIVES, DirectiveRow, Leaf};

/// A token of a directive: an identifier, a literal or a mark; in Fortran also an
/// operator or the name of a common block in its slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveToken {
    /// The text, without continuations or comments.
    pub text: String,
    /// Its bytes in the source.
    pub range: Range<usize>,
}

impl DirectiveToken {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(super) fn is_identifier(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }

    /// Whether this is the name of a common block in slashes. An operator contains no name.
    #[must_use]
    pub fn is_common_block(&self) -> bool {
        let name = self.text.strip_prefix('/');
        let name = name.and_then(|rest| rest.strip_suffix('/'));
        name.is_some_and(|name| !name.is_empty())
    }
}

/// A parenthesised argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its words, without the parentheses around them.
    pub words: Vec<DirectiveToken>,
    /// Its bytes in the source, without the parentheses around them.
    pub range: Range<usize>,
}

/// A clause of a directive.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its name; in Fortran, where case does not matter, in lower case.
    pub name: String,
    /// Its name as written.
    pub spelled: String,
    /// Its row in the table, if it has one.
    pub row: Option<&'static ClauseRow>,
    /// Its bytes in the source, from name to closing parenthesis.
    pub range: Range<usize>,
    /// The contents of its parentheses.
    pub argument: Option<Argument>,
    /// The comma behind it.
    pub comma: Option<Range<usize>>,
    /// The language for which it was read.
    pub(super) language: Language,
}

/// A parsed directive.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The rows that its name is made of, outermost leaf first.
    pub rows: Vec<&'static DirectiveRow>,
    /// The bytes of each row's name.
    pub name_ranges: Vec<Range<usize>>,
    /// An argument that follows the name, such as the name of a critical.
    pub argument: Option<Argument>,
    /// The comma between its name and its clauses.
    pub comma: Option<Range<usize>>,
    /// The clauses, as written.
    pub clauses: Vec<Clause>,
    /// From its first to its last word.
    pub range: Range<usize>,
    /// The language for which it was read.
    pub(super) language: Language,
}

/// Why words are not a directive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectiveError {
    /// There is no word.
    #[error("the directive is empty")]
    Empty,
    /// The table does not have the name.
    #[error("'{0}' is no directive that is known")]
    UnknownName(String),
    /// A parenthesis is not closed.
    #[error("a parenthesis is not closed")]
    Unclosed,
    /// A word is not a clause.
    #[error("'{0}' is no clause")]
    NoClause(String),
}

/// Parses the words of a directive.
///
/// # Errors
/// If the name is not in `table`, or the rest is not a list of clauses.
pub fn parse(
    words: &[DirectiveToken],
    table: &'static [DirectiveRow],
    language: Language,
) -> Result<Directive, DirectiveError> {
    let last = words.last().ok_or(DirectiveError::Empty)?;
    let (rows, name_ranges, mut at) = parse_name(words, table, language)?;
    let range = words[0].range.start..last.range.end;
    let argument = parse_argument(words, &mut at)?;
    let comma = comma_at(words, at);
    let clauses = parse_clauses(words, at, language)?;
    Ok(Directive {
        rows,
        name_ranges,
        argument,
        comma,
        clauses,
        range,
        language,
    })
}

type Name = (Vec<&'static DirectiveRow>, Vec<Range<usize>>, usize);

fn parse_name(
    words: &[DirectiveToken],
    table: &'static [DirectiveRow],
    language: Language,
) -> Result<Name, DirectiveError> {
    let in_tables: Vec<Cow<'_, str>> = words
        .iter()
        .map(|word| language.as_in_tables(&word.text))
        .collect();
    let mut rows = Vec::new();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some((row, length)) =
        longest_row(&in_tables[at..], table, language, rows.last().copied())
    {
        rows.push(row);
        ranges.push(words[at].range.start..words[at + length - 1].range.end);
        at += length;
        if !row.combination.leads() {
            break;
        }
    }
    if rows.is_empty() {
        return Err(DirectiveError::UnknownName(words[0].text.clone()));
    }
    Ok((rows, ranges, at))
}

/// The row with the longest name at the begin of `words`, and its number of words. OpenMP 6.0
/// also allows underscores between the words of a name.
fn longest_row(
    words: &[Cow<'_, str>],
    table: &'static [DirectiveRow],
    language: Language,
    before: Option<&DirectiveRow>,
) -> Option<(&'static DirectiveRow, usize)> {
    table
        .iter()
        .filter(|row| row.languages.contain(language))
        .filter(|row| before.is_none() || row.combination.follows())
        .filter_map(|row| Some((row, words_taken(row.name, words)?)))
        .max_by_key(|(row, _)| row.name.len())
}

fn words_taken(name: &str, words: &[Cow<'_, str>]) -> Option<usize> {
    let blank = |byte: u8| if byte == b'_' { b' ' } else { byte };
    if words.first()?.bytes().map(blank).eq(name.bytes()) {
        return Some(1);
    }
    let mut taken = 0;
    for part in name.split(' ') {
        if words.get(taken)? != part {
            return None;
        }
        taken += 1;
    }
    Some(taken)
}

fn parse_argument(
    words: &[DirectiveToken],
    at: &mut usize,
) -> Result<Option<Argument>, DirectiveError> {
    let Some(open) = words.get(*at).filter(|word| word.is("(")) else {
        return Ok(None);
    };
    let mut depth = 0usize;
    for (index, word) in words.iter().enumerate().skip(*at) {
        match word.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let argument = Argument {
                words: words[*at + 1..index].to_vec(),
                range: open.range.end..word.range.start,
            };
            *at = index + 1;
            return Ok(Some(argument));
        }
    }
    Err(DirectiveError::Unclosed)
}

fn comma_at(words: &[DirectiveToken], at: usize) -> Option<Range<usize>> {
    let word = words.get(at).filter(|word| word.is(","))?;
    Some(word.range.clone())
}

fn parse_clauses(
    words: &[DirectiveToken],
    mut at: usize,
    language: Language,
) -> Result<Vec<Clause>, DirectiveError> {
    let mut clauses = Vec::new();
    while let Some(word) = words.get(at) {
        at += 1;
        if word.is(",") || word.is(";") {
            continue;
        }
        if !word.is_identifier() {
            return Err(DirectiveError::NoClause(word.text.clone()));
        }
        let name = language.as_in_tables(&word.text).into_owned();
        let argument = parse_argument(words, &mut at)?;
        let range = word.range.start..words[at - 1].range.end;
        let comma = comma_at(words, at);
        clauses.push(Clause {
            row: clauses::find(&name),
            spelled: word.text.clone(),
            name,
            range,
            argument,
            comma,
            language,
        });
    }
    Ok(clauses)
}

impl Directive {
    /// Its leaf constructs, outermost first.
    pub fn leaves(&self) -> impl DoubleEndedIterator<Item = Leaf> + '_ {
        self.rows.iter().map(|row| row.leaf)
    }

    /// Whether `leaf` is among its leaf constructs.
    #[must_use]
    pub fn has_leaf(&self, leaf: Leaf) -> bool {
        self.leaves().any(|own| own == leaf)
    }

    /// Whether it is an `atomic` construct that writes.
    #[must_use]
    pub fn writes_atomically(&self) -> bool {
        self.has_leaf(Leaf::Atomic) && self.clause("read").is_none()
    }

    /// Whether it is a directive of POMP that becomes a statement in its place.
    #[must_use]
    pub fn becomes_statements(&self) -> bool {
        self.leaves().any(|leaf| matches!(leaf, Leaf::Inst(_)))
    }

    /// Its whole name with single blanks, as in the table.
    #[must_use]
    pub fn name(&self) -> String {
        self.rows
            .iter()
            .map(|row| row.name)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The first clause of this name.
    #[must_use]
    pub fn clause(&self, name: &str) -> Option<&Clause> {
        self.clauses.iter().find(|clause| clause.name == name)
    }

    /// Whether every OpenMP compiler knows it: its parts are from OpenMP 4.5 or before.
    /// Combinations with `master`, `masked`, `taskloop` or `loop` are excluded: they are newer
    /// than their parts.
    #[must_use]
    pub fn is_known_to_all(&self) -> bool {
        let newer = |leaf| !SINCE_LONG.contains(&leaf);
        let combines = self.rows.len() > 1;
        let is_old = |row: &&DirectiveRow| row.since < 50;
        self.rows.iter().all(is_old) && !(combines && self.leaves().any(newer))
    }

    /// The number of associated loops, if it combines several constructs. Otherwise 0: such
    /// directives are never split, so the number is not needed.
    #[must_use]
    pub fn associated_loops(&self) -> usize {
        if self.rows.len() < 2 || self.association() != Association::LoopNest {
            return 0;
        }
        let number = |name: &str| {
            let words = &self.clause(name)?.argument.as_ref()?.words;
            // A number that can't be read here is taken as that of all nested loops.
            let known = match words.as_slice() {
                [number] => number.text.parse().ok(),
                _ => None,
            };
            Some(known.unwrap_or(usize::MAX))
        };
        let numbers = ["collapse", "ordered"].into_iter().filter_map(number);
        numbers.max().unwrap_or(1)
    }

    /// The directives that a metadirective may be replaced by, as far as they can be parsed.
    pub fn variants(&self) -> impl Iterator<Item = Directive> + '_ {
        let chooses = self.rows[0].association == Association::Unknown;
        let clauses = self.clauses.iter().filter(move |_| chooses);
        clauses.filter_map(|clause| {
            let words = &clause.argument.as_ref()?.words;
            // A selector comes first, except in the fallback clause.
            let from = match clause.name.as_str() {
                "when" => colons_at_depth_0(words)?.0 + 1,
                "otherwise" | "default" => 0,
                _ => return None,
            };
            parse(&words[from..], DIRECTIVES, self.language).ok()
        })
    }

    /// The code that it governs. `ordered` with a dependence stands alone. A metadirective may
    /// govern the code that one of its variants does.
    #[must_use]
    pub fn association(&self) -> Association {
        let governs = |directive: &Directive| {
            let association = directive.association();
            matches!(association, Association::Block | Association::LoopNest)
        };
        if self.variants().any(|variant| governs(&variant)) {
            return Association::Block;
        }
        if self.has_leaf(Leaf::Ordered)
            && (self.clause("depend").is_some() || self.clause("doacross").is_some())
        {
            return Association::Standalone;
        }
        self.rows
            .last()
            .map_or(Association::Unknown, |row| row.association)
    }
}

/// The leaf constructs that OpenMP 4.5 and before could combine with each other.
const SINCE_LONG: &[Leaf] = &[
    Leaf::Parallel,
    Leaf::Loop,
    Leaf::Sections,
    Leaf::Workshare,
    Leaf::Simd,
];

/// Words as one line of text, with single blanks where there was space between them.
#[must_use]
pub fn joined(words: &[DirectiveToken]) -> String {
    let mut text = String::new();
    let mut end = None;
    for word in words {
        if end.is_some_and(|end| end != word.range.start) {
            text.push(' ');
        }
        text.push_str(&word.text);
        end = Some(word.range.end);
    }
    text
}

/// Indices of the first and the last colon outside all brackets. `::` does not count.
pub(super) fn colons_at_depth_0(words: &[DirectiveToken]) -> Option<(usize, usize)> {
    let mut depth = 0i32;
    let mut found = None;
    for (index, word) in words.iter().enumerate() {
        match word.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ":" if depth == 0 => {
                found = Some((found.map_or(index, |(first, _)| first), index));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The words of a text, split at white space and punctuation.
    pub(crate) fn words(text: &str) -> Vec<DirectiveToken> {
        let mut words: Vec<DirectiveToken> = Vec::new();
        for (start, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let joins = |w: &DirectiveToken| {
                w.range.end == start && w.is_identifier() && (c.is_alphanumeric() || c == '_')
            };
            match words.last_mut().filter(|word| joins(word)) {
                Some(word) => {
                    word.text.push(c);
                    word.range.end += c.len_utf8();
                }
                None => words.push(DirectiveToken {
                    text: c.into(),
                    range: start..start + c.len_utf8(),
                }),
            }
        }
        words
    }

    fn directive(text: &str) -> Directive {
        parse(&words(text), DIRECTIVES, Language::C).unwrap()
    }

    #[test]
    fn combined_names_are_read_from_their_leaves() {
        let d = directive("target teams distribute parallel for simd if(simd: x) collapse(2)");
        let leaves: Vec<_> = d.leaves().collect();
        let want = [
            Leaf::Target,
            Leaf::Teams,
            Leaf::Distribute,
            Leaf::Parallel,
            Leaf::Loop,
            Leaf::Simd,
        ];
        assert_eq!(leaves, want);
        assert_eq!(d.clauses.len(), 2);
        assert_eq!(d.clauses[0].modifier(), Some("simd"));
    }

    #[test]
    fn a_clause_that_is_called_like_a_directive_stays_a_clause() {
        let d = directive("for ordered allocate(x)");
        assert_eq!(d.name(), "for");
        assert_eq!(d.clauses.len(), 2);
        assert_eq!(directive("ordered simd").clauses[0].name, "simd");
        assert_eq!(directive("cancel for if(x)").clauses[0].name, "for");
    }

    #[test]
    fn underscores_of_6_0_and_longest_names() {
        assert_eq!(directive("target_data map(a)").name(), "target data");
        assert_eq!(
            directive("target enter data map(to: a)").name(),
            "target enter data"
        );
    }

    #[test]
    fn list_items_by_their_base() {
        let items = |text: &str| {
            let d = directive(text);
            d.clauses[0].list_items().map(|items| items.join(" "))
        };
        assert_eq!(items("for reduction(+: a[0:n], b)").as_deref(), Some("a b"));
        assert_eq!(
            items("for lastprivate(conditional: x)").as_deref(),
            Some("x")
        );
        assert_eq!(items("for linear(val(i, j): 2)").as_deref(), Some("i j"));
        assert_eq!(items("for linear(i: 2)").as_deref(), Some("i"));
        assert_eq!(items("for linear(i: val, step(2))").as_deref(), Some("i"));
        assert_eq!(items("for private(*p)"), None);
    }

    #[test]
    fn what_is_no_directive_is_said() {
        let error = |text: &str| parse(&words(text), DIRECTIVES, Language::C).unwrap_err();
        assert_eq!(
            error("paralel"),
            DirectiveError::UnknownName("paralel".into())
        );
        assert_eq!(error("for schedule(x"), DirectiveError::Unclosed);
        assert_eq!(error("for ) x"), DirectiveError::NoClause(")".into()));
        assert_eq!(error("do"), DirectiveError::UnknownName("do".into()));
    }
}
