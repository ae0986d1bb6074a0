//! Conditional groups (`#if` ... `#endif`) and the choice of one branch each.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::cursor::unspliced;
use super::lexer::{PreprocessorLine, Token, TokenKind};
use crate::find::Branch;
use crate::find::nested::Nested;
use crate::openmp::Language;
use crate::source::UndefinedMacros;

/// A conditional group.
#[derive(Clone, Debug)]
pub(in crate::find) struct Group {
    /// From the begin of the `#if` line to behind the newline of `#endif`.
    pub(in crate::find) range: Range<usize>,
    /// The text of each branch, between the lines of the group.
    pub(in crate::find) branches: Vec<Range<usize>>,
    /// The branch that is looked at first; none if all are false.
    default: Option<usize>,
    /// Whether the condition of each branch is known to be false.
    pub(in crate::find) dead: Vec<bool>,
    has_else: bool,
}

impl Group {
    /// The branch that holds an offset.
    pub(in crate::find) fn branch_of(&self, offset: usize) -> Option<usize> {
        let at = self.branches.partition_point(|branch| branch.end <= offset);
        let branch = self.branches.get(at)?;
        branch.contains(&offset).then_some(at)
    }

    /// All possible choices: each branch and, without `#else`, no branch.
    pub(in crate::find) fn choices(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let branches: Vec<usize> = (0..self.branches.len())
            .filter(|at| !self.dead[*at])
            .collect();
        branches
            .into_iter()
            .map(Some)
            .chain((!self.has_else).then_some(None))
    }
}

/// One chosen branch per group.
pub(in crate::find) type Configuration = Vec<Option<usize>>;

/// The largest depth of conditionals that are examined (C11, section 5.2.4.1: compilers need
/// not accept more than 63).
const DEEPEST: usize = 256;

/// The prefix of the names of our guards.
const GUARD: &str = "romp_if_";

/// The reason for not instrumenting a directive in deeper conditionals.
pub(in crate::find) const TOO_DEEP: &str = "more than 256 conditionals are around it";

/// All groups of a text, in the order of their begin.
#[derive(Clone, Debug, Default)]
pub(in crate::find) struct Groups {
    pub(in crate::find) groups: Vec<Group>,
    nested: Nested,
    /// Conditionals that are nested too deeply, in order.
    too_deep: Vec<Range<usize>>,
    /// The text's length.
    end: usize,
}

struct Open {
    start: usize,
    branch_start: usize,
    branches: Vec<Range<usize>>,
    dead: Vec<bool>,
    /// Whether one of its branches is known to be compiled.
    holds: bool,
    has_else: bool,
}

impl Groups {
    pub(in crate::find) fn new(
        text: &[u8],
        lines: &[PreprocessorLine],
        language: Language,
        undefined: &UndefinedMacros,
    ) -> Self {
        let mut groups = Vec::new();
        let mut too_deep: Vec<Range<usize>> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // The number of open conditionals beyond the largest depth.
        let mut deeper = 0usize;
        for line in lines {
            let after = (line.range.end + 1).min(text.len());
            match &*word(text, line, 0) {
                "if" | "ifdef" | "ifndef" if open.len() == DEEPEST => {
                    if deeper == 0 {
                        too_deep.push(line.range.start..text.len());
                    }
                    deeper += 1;
                }
                "elif" | "elifdef" | "elifndef" | "else" if deeper > 0 => {}
                "endif" if deeper > 0 => {
                    deeper -= 1;
                    if let Some(part) = too_deep.last_mut().filter(|_| deeper == 0) {
                        part.end = after;
                    }
                }
                "if" | "ifdef" | "ifndef" => open.push(Open {
                    start: line.range.start,
                    branch_start: after,
                    branches: Vec::new(),
                    dead: vec![!may_hold(text, line, language, undefined)],
                    holds: must_hold(text, line, undefined),
                    has_else: false,
                }),
                "elif" | "elifdef" | "elifndef" | "else" => {
                    if let Some(open) = open.last_mut() {
                        let may_hold = may_hold(text, line, language, undefined) && !open.holds;
                        open.next_branch(line, after, may_hold);
                        open.holds |= must_hold(text, line, undefined);
                        open.has_else |= word(text, line, 0) == "else";
                    }
                }
                "endif" => groups.extend(open.pop().map(|open| open.close(line, after))),
                _ => {}
            }
        }
        groups.sort_by_key(|group: &Group| group.range.start);
        Self {
            nested: Nested::new(groups.iter().map(|group| group.range.clone())),
            groups,
            too_deep,
            end: text.len(),
        }
    }

    /// Whether a part of the text overlaps conditionals that are nested too deeply.
    pub(in crate::find) fn is_too_deep(&self, part: Range<usize>) -> bool {
        let at = self.too_deep.partition_point(|deep| deep.end <= part.start);
        self.too_deep
            .get(at)
            .is_some_and(|deep| deep.start < part.end)
    }

    /// The groups around an offset, innermost first.
    pub(in crate::find) fn around(&self, offset: usize) -> impl Iterator<Item = usize> {
        self.nested.around(offset)
    }

    /// The groups that begin in a part of the text.
    pub(in crate::find) fn beginning_in(&self, part: &Range<usize>) -> Range<usize> {
        let before = |at: usize| self.groups.partition_point(|group| group.range.start < at);
        before(part.start)..before(part.end)
    }

    /// The number of groups around a group.
    pub(in crate::find) fn depth(&self, group: usize) -> usize {
        self.around(self.groups[group].range.start).count() - 1
    }

    /// Whether each group is balanced: every bracket that a branch opens is closed in this
    /// branch. Then no choice of a branch changes the pairs of brackets around the group.
    pub(in crate::find) fn balanced(&self, code: &[Token]) -> Vec<bool> {
        let mut balanced = vec![true; self.groups.len()];
        // The open groups, each with its current branch and the brackets open in that branch.
        let mut open: Vec<(usize, usize, Vec<u8>)> = Vec::new();
        let mut next = 0;
        let ends = self.groups.iter().map(|group| group.range.end);
        let last = ends.max().unwrap_or(0);
        let starts = code
            .iter()
            .map(Token::start)
            .take_while(|start| *start < last);
        let ends_of_text = std::iter::once((last, None));
        for (at, token) in starts.zip(code.iter().map(Some)).chain(ends_of_text) {
            self.follow(at, &mut open, &mut next, &mut balanced);
            let Some((group, _, brackets)) = open.last_mut() else {
                continue;
            };
            match token.map(|token| token.kind) {
                Some(TokenKind::Punctuation(b'(')) => brackets.push(b')'),
                Some(TokenKind::Punctuation(b'[')) => brackets.push(b']'),
                Some(TokenKind::Punctuation(b'{')) => brackets.push(b'}'),
                Some(TokenKind::Punctuation(close @ (b')' | b']' | b'}'))) => {
                    balanced[*group] &= brackets.pop() == Some(close);
                }
                _ => {}
            }
        }
        balanced
    }

    /// Leaves the groups and branches that end in front of an offset, and enters the groups
    /// around it.
    fn follow(
        &self,
        at: usize,
        open: &mut Vec<(usize, usize, Vec<u8>)>,
        next: &mut usize,
        balanced: &mut [bool],
    ) {
        loop {
            let begins = self.groups.get(*next).map(|group| group.range.start);
            let begins = begins.filter(|begin| *begin <= at);
            if let Some((group, branch, brackets)) = open.last_mut() {
                let until = begins.unwrap_or(at);
                let branches = &self.groups[*group].branches;
                while branches
                    .get(*branch)
                    .is_some_and(|range| range.end <= until)
                {
                    balanced[*group] &= brackets.is_empty();
                    brackets.clear();
                    *branch += 1;
                }
                if self.groups[*group].range.end <= until {
                    let whole = balanced[*group];
                    open.pop();
                    if let Some((parent, ..)) = open.last() {
                        balanced[*parent] &= whole;
                    }
                    continue;
                }
            }
            match begins {
                Some(_) => {
                    open.push((*next, 0, Vec::new()));
                    *next += 1;
                }
                None => break,
            }
        }
    }

    /// The choice that looks at the most likely branch of every group.
    pub(in crate::find) fn default_configuration(&self) -> Configuration {
        self.groups.iter().map(|group| group.default).collect()
    }

    /// The default choice for a text with guards of ours (`#ifdef romp_if_...`): a guard holds
    /// if a definition of its name is visible in front of it.
    pub(in crate::find) fn guarded_configuration(
        &self,
        text: &[u8],
        lines: &[PreprocessorLine],
    ) -> Configuration {
        let mut configuration = self.default_configuration();
        let line_at = |start: usize| {
            let at = lines.partition_point(|line| line.range.start < start);
            lines.get(at).filter(|line| line.range.start == start)
        };
        let defines = |line: &&PreprocessorLine| word(text, line, 0) == "define";
        let definitions: Vec<_> = lines.iter().filter(defines).collect();
        let guards = |line: &&PreprocessorLine| word(text, line, 1).starts_with(GUARD);
        let ours = definitions.iter().any(guards);
        // Each guard decides whether the definitions behind it are visible, so groups are read
        // in order.
        let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
        let mut next = definitions.iter().peekable();
        for (number, group) in self.groups.iter().enumerate().filter(|_| ours) {
            while let Some(line) = next.next_if(|line| line.range.start < group.range.start) {
                if self.shows(&configuration, line.range.start) {
                    seen.insert(word(text, line, 1));
                }
            }
            let opening = line_at(group.range.start);
            let name = opening.map(|line| word(text, line, 1)).unwrap_or_default();
            if name.starts_with(GUARD) {
                configuration[number] = seen.contains(&name).then_some(0);
            }
        }
        configuration
    }

    /// Whether a configuration shows an offset.
    pub(in crate::find) fn shows(&self, configuration: &Configuration, offset: usize) -> bool {
        let hides = |number: usize| {
            let branch = self.groups[number].branch_of(offset);
            branch.is_some() && branch != configuration[number]
        };
        !self.around(offset).any(hides)
    }

    /// The branches around an offset that are not those of the default choice.
    pub(in crate::find) fn choices_around(&self, offset: usize) -> Vec<(usize, usize)> {
        let choice = |number: usize| {
            let branch = self.groups[number].branch_of(offset)?;
            (self.groups[number].default != Some(branch)).then_some((number, branch))
        };
        self.around(offset).filter_map(choice).collect()
    }

    /// The default choice, but with every branch around `offset` chosen.
    pub(in crate::find) fn configuration_for(&self, offset: usize) -> Configuration {
        let mut configuration = self.default_configuration();
        for (number, branch) in self.choices_around(offset) {
            configuration[number] = Some(branch);
        }
        configuration
    }

    /// Whether a group has a branch that may be compiled.
    pub(in crate::find) fn may_be_compiled(&self, number: usize, branch: usize) -> bool {
        self.groups[number].dead.get(branch) == Some(&false)
    }

    /// The branches around an offset, outermost first.
    pub(in crate::find) fn branches_at(&self, offset: usize) -> Vec<Branch> {
        let branch = |number: usize| {
            let group = &self.groups[number];
            let branch = group.branch_of(offset)?;
            let (range, dead) = (&group.branches[branch], group.dead[branch]);
            let next = group.branches.get(branch + 1);
            let behind = next.map_or(group.range.end, |next| next.start);
            Some(Branch {
                group: number,
                branch,
                start: range.start,
                end: range.end,
                behind: (behind < self.end).then_some(behind),
                dead,
            })
        };
        let mut branches: Vec<Branch> = self.around(offset).filter_map(branch).collect();
        branches.reverse();
        branches
    }

    /// The parts that a configuration hides in a part of the text, and maybe around it, in
    /// order and without overlaps.
    pub(in crate::find) fn hidden_in(
        &self,
        configuration: &Configuration,
        part: &Range<usize>,
    ) -> Vec<Range<usize>> {
        let mut hidden: Vec<Range<usize>> = Vec::new();
        for number in self.around(part.start).chain(self.beginning_in(part)) {
            let branches = self.groups[number].branches.iter().enumerate();
            let others = branches.filter(|(at, _)| Some(*at) != configuration[number]);
            hidden.extend(others.map(|(_, branch)| branch.clone()));
        }
        outermost(hidden)
    }

    /// The parts that are known not to be compiled, in order and without overlaps.
    pub(in crate::find) fn dead(&self) -> Vec<Range<usize>> {
        let branches = self.groups.iter().flat_map(|group| {
            let branches = group.branches.iter().zip(&group.dead);
            branches.filter(|(_, dead)| **dead)
        });
        outermost(branches.map(|(branch, _)| branch.clone()).collect())
    }
}

/// The ranges that are in no other range, in order. Any two of the given ranges are nested or
/// disjoint.
fn outermost(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    ranges.retain(|range| {
        let outermost = range.end > end;
        end = end.max(range.end);
        outermost
    });
    ranges
}

impl Open {
    fn next_branch(&mut self, line: &PreprocessorLine, after: usize, may_hold: bool) {
        self.branches.push(self.branch_start..line.range.start);
        self.branch_start = after;
        self.dead.push(!may_hold);
    }

    fn close(mut self, line: &PreprocessorLine, after: usize) -> Group {
        self.branches.push(self.branch_start..line.range.start);
        Group {
            range: self.start..after,
            branches: self.branches,
            default: self.dead.iter().position(|dead| !dead),
            dead: self.dead,
            has_else: self.has_else,
        }
    }
}

/// The text of a token of a line.
pub(in crate::find) fn word<'t>(
    text: &'t [u8],
    line: &PreprocessorLine,
    index: usize,
) -> Cow<'t, str> {
    line.tokens
        .get(index)
        .map(|token| unspliced(&text[token.range()]))
        .unwrap_or_default()
}

/// The words of a line.
fn words_of<'t>(text: &'t [u8], line: &PreprocessorLine) -> Vec<Cow<'t, str>> {
    let tokens = line.tokens.iter();
    tokens
        .map(|token| unspliced(&text[token.range()]))
        .collect()
}

/// Whether a condition may hold when OpenMP is compiled. Conditions are known to be false only
/// in two cases: simple ones that test nothing else, and those that need a macro known to be
/// undefined.
fn may_hold(
    text: &[u8],
    line: &PreprocessorLine,
    language: Language,
    undefined: &UndefinedMacros,
) -> bool {
    let condition = words_of(text, line);
    let words: Vec<&str> = condition.iter().map(|word| &**word).collect();
    if let Some((&kind, operands)) = words.split_first()
        && !undefined.is_empty()
        && needs_undefined(kind, operands, undefined)
    {
        return false;
    }
    let cplusplus = language == Language::Cxx;
    match words.as_slice() {
        ["if" | "elif", "0"] | ["ifndef", "_OPENMP"] => false,
        ["if" | "elif", "!", "defined", "_OPENMP"] => false,
        ["if" | "elif", "!", "defined", "(", "_OPENMP", ")"] => false,
        ["ifdef", "__cplusplus"] => cplusplus,
        ["if" | "elif", "defined", "__cplusplus"] => cplusplus,
        ["if" | "elif", "defined", "(", "__cplusplus", ")"] => cplusplus,
        ["ifndef", "__cplusplus"] => !cplusplus,
        _ => true,
    }
}

/// Whether a condition is false because a macro is undefined.
fn needs_undefined(kind: &str, operands: &[&str], undefined: &UndefinedMacros) -> bool {
    let is_undefined = |name: &str| undefined.contains(name);
    match kind {
        "ifdef" | "elifdef" => operands.first().is_some_and(|name| is_undefined(name)),
        // A name that is not a macro counts as 0 (C11, 6.10.1).
        "if" | "elif" if !operands.iter().any(|word| ["|", "?", ":"].contains(word)) => {
            let parts = operands.split(|word| *word == "&");
            parts.map(unwrapped).any(|part| match part {
                [name] | ["defined", name] | ["defined", "(", name, ")"] => is_undefined(name),
                _ => false,
            })
        }
        _ => false,
    }
}

/// A part of a condition without the parentheses around it.
fn unwrapped<'w, 's>(part: &'w [&'s str]) -> &'w [&'s str] {
    match part {
        ["(", inner @ .., ")"] if !inner.contains(&")") || inner.ends_with(&[")"]) => {
            unwrapped(inner)
        }
        _ => part,
    }
}

/// Whether a condition holds always, or because a macro is undefined.
fn must_hold(text: &[u8], line: &PreprocessorLine, undefined: &UndefinedMacros) -> bool {
    let condition = words_of(text, line);
    let words: Vec<&str> = condition.iter().map(|word| &**word).collect();
    match words.as_slice() {
        ["if" | "elif", "1"] => true,
        ["ifndef" | "elifndef", name]
        | ["if" | "elif", "!", "defined", name]
        | ["if" | "elif", "!", "defined", "(", name, ")"] => undefined.contains(*name),
        _ => false,
    }
}

/// The tokens that a configuration leaves visible.
pub(in crate::find) fn visible<'t>(
    code: &'t [Token],
    hidden: &[Range<usize>],
) -> impl Iterator<Item = &'t Token> {
    let mut hidden = hidden.iter().peekable();
    code.iter().filter(move |token| {
        while hidden.next_if(|range| range.end <= token.start()).is_some() {}
        hidden
            .peek()
            .is_none_or(|range| token.start() < range.start)
    })
}

/// The name of a macro with unbalanced braces, if the line defines one. Its uses hide structure
/// from readers that don't expand macros.
pub(in crate::find) fn hides_braces(text: &[u8], line: &PreprocessorLine) -> Option<String> {
    if word(text, line, 0) != "define" {
        return None;
    }
    let balance = line
        .tokens
        .iter()
        .try_fold(0i32, |depth, token| match token.kind {
            TokenKind::Punctuation(b'{') => Some(depth + 1),
            TokenKind::Punctuation(b'}') => Some(depth - 1).filter(|depth| *depth >= 0),
            _ => Some(depth),
        });
    (balance != Some(0)).then(|| word(text, line, 1).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::super::text_of;
    use super::*;

    fn seen(source: &str, language: Language) -> String {
        let lexed = lex(source.as_bytes());
        let groups = Groups::new(
            source.as_bytes(),
            &lexed.lines,
            language,
            &UndefinedMacros::new(),
        );
        let hidden = groups.hidden_in(&groups.default_configuration(), &(0..source.len()));
        visible(&lexed.code, &hidden)
            .map(|token| text_of(source.as_bytes(), token))
            .collect()
    }

    #[test]
    fn the_likely_branch_is_seen() {
        assert_eq!(
            seen("#if 0\na\n#elif X\nb\n#else\nc\n#endif\nd", Language::C),
            "bd"
        );
        assert_eq!(seen("#ifdef __cplusplus\na\n#endif\nb", Language::C), "b");
        assert_eq!(
            seen("#ifdef __cplusplus\na\n#endif\nb", Language::Cxx),
            "ab"
        );
        assert_eq!(
            seen("#ifndef _OPENMP\na\n#else\nb\n#endif", Language::C),
            "b"
        );
        assert_eq!(
            seen(
                "#if A\n#if B\na\n#else\nb\n#endif\n#else\nc\n#endif",
                Language::C
            ),
            "a"
        );
    }

    #[test]
    fn what_is_not_closed_hides_nothing() {
        assert_eq!(seen("#if 0\na\n", Language::C), "a");
        assert_eq!(seen("#endif\n#else\na\n", Language::C), "a");
    }
}
