//! The definitions to which records refer by number: regions, paths of threads, facts.
//!
//! Numbers count from 0 in the order of the definitions. So no number is larger than the file has
//! room for, whatever it contains.

use std::collections::BTreeMap;

use profile::descriptor::Descriptor;

use crate::layout::{Definition, Meaning};

/// A path with more steps than this is invalid.
const LONGEST_PATH: u32 = 4096;

/// The definitions of a trace.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) regions: Vec<Option<Descriptor>>,
    /// The meaning of the events of regions, by number, where they are not those of the construct itself.
    pub(super) meanings: BTreeMap<u32, Meaning>,
    paths: Vec<Step>,
    pub(super) facts: BTreeMap<String, String>,
    /// Words that are no definitions, or come after such words.
    pub(super) unread: u64,
}

/// The last step of a thread's path: the path of the thread that forked its team, and
/// the thread's number in the team.
#[derive(Clone, Copy, Debug)]
struct Step {
    parent: Option<u32>,
    member: u32,
    length: u32,
}

impl Definitions {
    /// Reads all definitions, up to the first words that are none.
    pub(super) fn read(words: &[u64]) -> Self {
        let mut definitions = Self::default();
        let mut rest = words;
        while let Some((definition, used)) = Definition::read(rest) {
            if definitions.add(definition).is_none() {
                break;
            }
            rest = &rest[used..];
        }
        definitions.unread = rest.len() as u64;
        definitions
    }

    fn add(&mut self, definition: Definition) -> Option<()> {
        match definition {
            Definition::Region(number, text) => {
                is_next(number, self.regions.len())?;
                self.regions.push(Descriptor::parse(&printable(text)).ok());
            }
            Definition::Path(number, parent, member) => {
                is_next(number, self.paths.len())?;
                let length = match parent {
                    Some(parent) => self.paths.get(parent as usize)?.length + 1,
                    None => 1,
                };
                let step = Step {
                    parent,
                    member,
                    length,
                };
                self.paths.push(step);
                return (length <= LONGEST_PATH).then_some(());
            }
            Definition::Fact(name, value) => {
                self.facts.insert(printable(name), printable(value));
            }
            Definition::Construct(number, meaning, text) => {
                let region = self.regions.get_mut(number as usize)?;
                *region = Descriptor::parse(&printable(text)).ok();
                self.meanings.insert(number, meaning);
            }
        }
        Some(())
    }

    /// How many paths there are.
    pub(super) fn paths(&self) -> usize {
        self.paths.len()
    }

    /// The path of the thread that forked, if any, and the number in the team.
    pub(super) fn step(&self, path: u32) -> Option<(Option<u32>, u32)> {
        let step = self.paths.get(path as usize)?;
        Some((step.parent, step.member))
    }

    /// The numbers of a path, from the initial thread down.
    pub(super) fn path(&self, path: u32) -> Option<Vec<u32>> {
        let last = self.paths.get(path as usize)?;
        let above = |step: &&Step| self.paths.get(step.parent? as usize);
        let steps = std::iter::successors(Some(last), above);
        let mut numbers: Vec<u32> = steps.map(|step| step.member).collect();
        numbers.reverse();
        Some(numbers)
    }
}

/// The text without characters that command a terminal or end a line.
pub(crate) fn printable(text: String) -> String {
    match text.contains(char::is_control) {
        true => text.replace(char::is_control, "?"),
        false => text,
    }
}

/// Whether this is the number of the next definition.
fn is_next(number: u32, next: usize) -> Option<()> {
    (number as usize == next).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(definitions: &[Definition]) -> Vec<u64> {
        let mut words = Vec::new();
        for definition in definitions {
            definition.write(&mut words);
        }
        words
    }

    #[test]
    fn paths_are_put_together() {
        let read = Definitions::read(&words(&[
            Definition::Path(0, None, 0),
            Definition::Path(1, Some(0), 3),
            Definition::Path(2, Some(1), 2),
        ]));
        assert_eq!((read.paths(), read.unread), (3, 0));
        assert_eq!(read.path(2), Some(vec![0, 3, 2]));
        assert_eq!(read.step(2), Some((Some(1), 2)));
        assert_eq!(read.path(3), None);
    }

    #[test]
    fn names_command_no_terminal() {
        let text = "9*regionType=for*sscl=a\x1b[31m\n.c:1:1*escl=a.c:1:1**".to_owned();
        let fact = Definition::Fact("application".to_owned(), "a\tb".to_owned());
        let read = Definitions::read(&words(&[Definition::Region(0, text), fact]));
        let region = read.regions[0].as_ref().unwrap();
        assert_eq!(region.begin.file, "a?[31m?.c");
        assert_eq!(read.facts["application"], "a?b");
    }

    #[test]
    fn a_number_that_is_not_the_next_ends_the_definitions() {
        let text = "12*regionType=for**".to_owned();
        for wrong in [
            Definition::Region(u32::MAX, text.clone()),
            Definition::Region(2, text.clone()),
            Definition::Region(0, text.clone()),
            Definition::Path(u32::MAX, None, 0),
            Definition::Path(0, Some(0), 0),
            Definition::Path(0, Some(7), 0),
        ] {
            let right = Definition::Region(0, text.clone());
            let read = Definitions::read(&words(&[right, wrong.clone()]));
            assert_eq!((read.regions.len(), read.paths()), (1, 0), "{wrong:?}");
            assert!(read.unread > 0);
        }
    }
}
