//! Conditions of the preprocessor that hold or fail together. A directive and its end directive
//! are often in separate conditionals with the same condition.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::find::c::conditionals::{Configuration, Group, Groups, word};
use crate::find::c::lexer::PreprocessorLine;

/// A condition, known to hold or to fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Fact {
    /// The condition without its negation.
    text: String,
    holds: bool,
}

/// The conditions of a text's groups. Each branch has the condition that must hold if those in
/// front of it have failed; `#else` has none.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    of: Vec<Vec<Option<Fact>>>,
    /// For each condition, the groups that test it.
    asking: HashMap<String, Vec<usize>>,
}

/// The facts and branches that determine a choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ChoiceKey(Vec<Fact>, Vec<(usize, usize)>);

/// The largest number of failed conditions of one conditional that are remembered.
const MOST_FAILED: usize = 64;

/// The branch that some facts choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// This branch, or none.
    Certain(Option<usize>),
    /// This branch, unless the condition of an earlier branch holds.
    Likely(usize),
    /// The facts don't decide.
    Open,
}

impl Conditions {
    pub(super) fn new(text: &[u8], lines: &[PreprocessorLine], groups: &Groups) -> Self {
        let line_at = |start: usize| {
            let at = lines.binary_search_by_key(&start, |line| line.range.start);
            at.ok().map(|at| &lines[at])
        };
        let conditions = |group: &Group| {
            let others = group.branches.iter().map(|branch| branch.end);
            let starts = std::iter::once(group.range.start).chain(others);
            let lines = starts.take(group.branches.len()).map(line_at);
            lines.map(|line| Fact::read(text, line?)).collect()
        };
        let of: Vec<Vec<Option<Fact>>> = groups.groups.iter().map(conditions).collect();
        let mut asking: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, conditions) in of.iter().enumerate() {
            for condition in conditions.iter().flatten() {
                let numbers = asking.entry(condition.text.clone()).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        Self { of, asking }
    }

    /// The most likely choice that shows `offset` and does not contradict itself.
    pub(super) fn configuration_for(&self, groups: &Groups, offset: usize) -> Configuration {
        let mut configuration = groups.configuration_for(offset);
        self.follow(&mut configuration, &self.facts_at(groups, offset));
        // The branches around the offset override everything else.
        for number in groups.around(offset) {
            let branch = groups.groups[number].branch_of(offset);
            configuration[number] = branch.or(configuration[number]);
        }
        configuration
    }

    /// The key of the choice for an offset: equal keys mean equal choices.
    pub(super) fn key(&self, groups: &Groups, offset: usize) -> ChoiceKey {
        let around = groups.around(offset);
        let branch = |number: usize| Some((number, groups.groups[number].branch_of(offset)?));
        let facts = self.facts_at(groups, offset);
        // Facts alone choose the branches around the offset, unless conditions contradict each
        // other. Those branches are listed separately.
        let open = around.filter_map(branch);
        let open = open.filter(|(number, branch)| {
            self.choice(*number, &facts) != Choice::Certain(Some(*branch))
        });
        let open = open.collect();
        ChoiceKey(facts, open)
    }

    /// The other choices for the groups that overlap a part, as seen from its begin. Each comes
    /// with the number of its group.
    pub(super) fn alternatives<'g>(
        &'g self,
        groups: &'g Groups,
        part: Range<usize>,
        matters: impl Fn(usize) -> bool + 'g,
    ) -> impl Iterator<Item = (usize, Configuration)> + 'g {
        let facts = self.facts_at(groups, part.start);
        let base = OnceCell::new();
        let start = part.start;
        let numbers = groups
            .beginning_in(&part)
            .filter(move |number| matters(*number));
        numbers.flat_map(move |number| {
            let decided = matches!(self.choice(number, &facts), Choice::Certain(_));
            let base: &Configuration = base.get_or_init(|| self.configuration_for(groups, start));
            let shown = base[number];
            let choices = groups.groups[number].choices();
            let choices = choices.filter(|choice| !decided && *choice != shown);
            let others = choices.map(|choice| {
                let mut other = base.clone();
                let mut facts = facts.clone();
                facts.extend(self.facts_of(number, choice));
                self.follow(&mut other, &facts);
                other[number] = choice;
                (number, other)
            });
            others.collect::<Vec<_>>()
        })
    }

    /// Applies facts to all groups that test one of them.
    fn follow(&self, configuration: &mut Configuration, facts: &[Fact]) {
        let asking = facts.iter().filter_map(|fact| self.asking.get(&fact.text));
        for number in asking.flatten() {
            match self.choice(*number, facts) {
                Choice::Certain(branch) => configuration[*number] = branch,
                Choice::Likely(branch) => configuration[*number] = Some(branch),
                Choice::Open => {}
            }
        }
    }

    fn choice(&self, number: usize, facts: &[Fact]) -> Choice {
        let mut certain = true;
        for (branch, condition) in self.of[number].iter().enumerate() {
            let holds = match condition {
                None => certain.then_some(true),
                Some(condition) => condition.is_true(facts),
            };
            match holds {
                Some(true) if certain => return Choice::Certain(Some(branch)),
                Some(true) => return Choice::Likely(branch),
                Some(false) => {}
                None => certain = false,
            }
        }
        match certain {
            true => Choice::Certain(None),
            false => Choice::Open,
        }
    }

    /// The facts that must hold around an offset. `_OPENMP` counts as defined.
    fn facts_at(&self, groups: &Groups, offset: usize) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut around: Vec<usize> = groups.around(offset).collect();
        around.reverse();
        for number in around {
            if let Some(branch) = groups.groups[number].branch_of(offset) {
                facts.extend(self.facts_of(number, Some(branch)));
            }
        }
        facts.push(Fact {
            text: "_OPENMP".into(),
            holds: true,
        });
        facts
    }

    /// The facts that must hold for a choice.
    fn facts_of(&self, number: usize, choice: Option<usize>) -> Vec<Fact> {
        let conditions = &self.of[number];
        let failed = choice.unwrap_or(conditions.len());
        let failed = failed.min(MOST_FAILED);
        let fails = conditions[..failed].iter().flatten().map(|condition| Fact {
            text: condition.text.clone(),
            holds: !condition.holds,
        });
        let holds = choice.and_then(|branch| conditions[branch].clone());
        fails.chain(holds).collect()
    }
}

impl Fact {
    /// The condition of a line; none for `#else`.
    fn read(text: &[u8], line: &PreprocessorLine) -> Option<Self> {
        let words = (0..line.tokens.len()).map(|at| word(text, line, at));
        let words: Vec<_> = words.collect();
        let mut words = words.iter().map(|word| &**word);
        let directive = words.next()?;
        let mut holds = !directive.ends_with("ndef");
        let mut words: Vec<&str> = words.collect();
        if let ["!", "defined", ..] = words.as_slice() {
            words.remove(0);
            holds = !holds;
        }
        let text = match (directive, words.as_slice()) {
            ("else", _) => return None,
            (_, ["defined", name] | ["defined", "(", name, ")"]) => (*name).to_owned(),
            ("if" | "elif", words) => format!("if {}", words.join(" ")),
            (_, words) => words.join(" "),
        };
        Some(Self { text, holds })
    }

    /// Whether the condition holds, if the facts decide that.
    fn is_true(&self, facts: &[Self]) -> Option<bool> {
        let known = facts.iter().find(|fact| fact.text == self.text)?;
        Some(known.holds == self.holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::c::lexer::lex;
    use crate::openmp::Language;

    /// The choice for every group around the mark `@`.
    fn chosen(text: &str) -> String {
        let lines = lex(text.as_bytes()).lines;
        let groups = Groups::new(
            text.as_bytes(),
            &lines,
            Language::Fortran,
            &crate::source::UndefinedMacros::new(),
        );
        let conditions = Conditions::new(text.as_bytes(), &lines, &groups);
        let at = text.find('@').unwrap();
        let configuration = conditions.configuration_for(&groups, at);
        let show = |choice: &Option<usize>| choice.map_or("-".into(), |branch| branch.to_string());
        configuration.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_same_condition_is_the_same_choice() {
        for (text, expected) in [
            (
                "#ifdef A\n@\n#endif\n#if defined(A)\n#else\n#endif\n",
                "0 0",
            ),
            ("#ifdef A\n@\n#endif\n#ifndef A\n#endif\n", "0 -"),
            (
                "#ifdef A\n#else\n@\n#endif\n#ifdef A\n#else\n#endif\n",
                "1 1",
            ),
            ("#if A > 1\n#else\n@\n#endif\n#if A > 1\n#endif\n", "1 -"),
            (
                "#if X\n#elif defined(A)\n@\n#endif\n#ifdef A\n#endif\n",
                "1 0",
            ),
            ("#if X\n#elif defined(A)\n@\n#endif\n#if X\n#endif\n", "1 -"),
            (
                "#if X\n#elif defined(A)\n#endif\n#ifdef A\n@\n#endif\n",
                "1 0",
            ),
            (
                "@\n#ifdef _OPENMP\n#else\n#endif\n#ifdef B\n#else\n#endif\n",
                "0 0",
            ),
        ] {
            assert_eq!(chosen(text), expected, "{text}");
        }
    }
}
