//! Reads the constructs of the sources that debug information names, with our own parser.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

use profile::descriptor::Descriptor;

use crate::{Options, instrument};

/// The constructs of a source, in its order.
#[derive(Debug, Default)]
pub(super) struct Constructs {
    pub(super) all: Vec<Descriptor>,
    /// Whether macros may make more constructs.
    pub(super) may_be_more: bool,
    /// Ranges of lines with constructs that the preprocessor may leave out.
    branches: Vec<[u32; 2]>,
}

/// The lines of each file for which the compiler made code.
pub(super) type Compiled = BTreeMap<String, BTreeSet<u32>>;

/// Sources that were read.
#[derive(Debug, Default)]
pub(super) struct Sources(HashMap<String, Rc<Constructs>>);

impl Sources {
    /// The constructs of a source; empty if the source does not exist.
    pub(super) fn of(&mut self, file: &str) -> Rc<Constructs> {
        if let Some(known) = self.0.get(file) {
            return Rc::clone(known);
        }
        let read = Rc::new(read(file).unwrap_or_default());
        self.0.insert(file.to_owned(), Rc::clone(&read));
        read
    }

    /// Whether the preprocessor may leave constructs of a source out.
    pub(super) fn has_branches(&mut self, file: &str) -> bool {
        !self.of(file).branches.is_empty()
    }

    /// Removes the constructs that the preprocessor has left out.
    pub(super) fn remove_left_out(&mut self, compiled: &Compiled) {
        for (file, lines) in compiled {
            if let Some(known) = self.0.get_mut(file).and_then(Rc::get_mut) {
                known.remove_left_out(lines);
            }
        }
    }
}

impl Constructs {
    /// Removes constructs in branches without code, which were left out. If a branch has only a
    /// directive without a body, nothing shows whether it was left out. Then only lines are
    /// certain.
    fn remove_left_out(&mut self, compiled: &BTreeSet<u32>) {
        let Self {
            all,
            may_be_more,
            branches,
        } = self;
        all.retain(|construct| {
            let [line, end] = [construct.begin.first, construct.end.last];
            let around = branches
                .iter()
                .filter(|[first, last]| (*first..=*last).contains(&line));
            let Some([first, last]) = around.max_by_key(|[first, _]| *first).copied() else {
                return true;
            };
            let is_compiled = compiled.range(first..=last).next().is_some();
            let is_whole = construct.begin.last < end && end <= last;
            *may_be_more |= !is_compiled && !is_whole;
            is_compiled || !is_whole
        });
    }
}

/// The ranges of lines between conditionals of the preprocessor that contain a construct.
fn branches(source: &str, constructs: &[Descriptor]) -> Vec<[u32; 2]> {
    let mut found = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let Some(word) = line.trim_start().strip_prefix('#') else {
            continue;
        };
        let word = word.trim_start();
        let is = |starts: &[&str]| starts.iter().any(|start| word.starts_with(start));
        if is(&["else", "elif", "endif"])
            && let Some(begin) = open.pop()
        {
            found.push([begin, number]);
        }
        if is(&["if", "else", "elif"]) {
            open.push(number);
        }
    }
    found.retain(|[first, last]| {
        let mut constructs = constructs.iter();
        constructs.any(|one| (*first..=*last).contains(&one.begin.first))
    });
    found
}

fn read(file: &str) -> Option<Constructs> {
    let source = super::super::read_source(Path::new(file)).ok()?;
    // What was measured ran on the host.
    let options = Options {
        host_only: true,
        ..Options::default()
    };
    let result = instrument(&source, &options);
    let may_be_more = !crate::list::hidden(&source, &result).is_empty();
    let regions = result.plan.regions.into_iter();
    let mut all: Vec<Descriptor> = regions.map(|region| region.descriptor).collect();
    all.sort_by_key(|descriptor| (descriptor.begin.first, descriptor.column));
    let branches = branches(&String::from_utf8_lossy(&source.text), &all);
    Some(Constructs {
        all,
        may_be_more,
        branches,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::descriptor::SourceLines;

    const SOURCE: &str = "#ifndef GUARD\nint a;\n#ifdef B\n#pragma omp for\nloop;\n#else\n\
        #pragma omp for\nloop;\n# if C\n#pragma omp barrier\n# endif\n#endif\n#endif\n";

    fn constructs() -> Constructs {
        let at = |line| SourceLines {
            file: "a.c".into(),
            first: line,
            last: line,
        };
        let construct = |first, last| Descriptor {
            begin: at(first),
            end: at(last),
            ..Descriptor::default()
        };
        let all = vec![construct(4, 5), construct(7, 8), construct(10, 10)];
        Constructs {
            branches: branches(SOURCE, &all),
            all,
            may_be_more: false,
        }
    }

    #[test]
    fn what_the_preprocessor_leaves_out_is_no_construct() {
        let mut constructs = constructs();
        assert_eq!(constructs.branches, [[3, 6], [9, 11], [6, 12], [1, 13]]);
        constructs.remove_left_out(&BTreeSet::from([2, 8, 10]));
        let lines: Vec<u32> = constructs.all.iter().map(|one| one.begin.first).collect();
        assert_eq!((lines, constructs.may_be_more), (vec![7, 10], false));
    }

    #[test]
    fn a_directive_without_lines_of_its_own_may_be_there() {
        let mut constructs = constructs();
        constructs.remove_left_out(&BTreeSet::from([2, 5, 8]));
        let lines: Vec<u32> = constructs.all.iter().map(|one| one.begin.first).collect();
        assert_eq!((lines, constructs.may_be_more), (vec![4, 7, 10], true));
    }
}
