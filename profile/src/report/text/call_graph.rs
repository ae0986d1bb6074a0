//! The call graph of the text report: the call paths with most time.

use std::cmp::Reverse;
use std::io;

use super::layout::{COLUMN_WIDTH, Format, Line, PERCENT_WIDTH, banner, prose};
use super::place;
use super::worth::Worth;
use crate::analysis::{CallGraph, Report, Times};
use crate::order;
use crate::printable::printable;
use crate::report::page::Page;

/// Call paths deeper than this are not indented further.
const DEEPEST_INDENT: usize = 24;
/// Width of the column of short names of kinds.
const KIND_WIDTH: usize = 8;
/// Of more call paths than this, those with most time are shown: a program of
/// recursive tasks has tens of thousands, nobody reads them, and they would be
/// written while the user waits for the program to end.
const MOST_PATHS: usize = 500;
/// The same where not everything is shown.
const MOST_WORTH: usize = 40;

/// Which call paths the report shows. A path is only shown with its callers.
pub(super) struct Shown {
    flags: Vec<bool>,
    number: usize,
}

impl Shown {
    pub(super) fn new(graph: &CallGraph, worth: &Worth) -> Self {
        let most = if worth.is_whole() {
            MOST_PATHS
        } else {
            MOST_WORTH
        };
        let number = graph.paths.len().min(most);
        let mut flags = vec![true; graph.paths.len()];
        if number < flags.len() {
            // No callee stands in front of its caller, whatever was measured.
            let mut ns: Vec<u64> = Vec::with_capacity(flags.len());
            for path in &graph.paths {
                let callers = path.caller.map_or(u64::MAX, |caller| ns[caller]);
                ns.push(path.times.inclusive.ns.min(callers));
            }
            let mut places: Vec<usize> = (0..ns.len()).collect();
            order::by_key(&mut places, |&path| (Reverse(ns[path]), path));
            for path in &places[number..] {
                flags[*path] = false;
            }
        }
        Self { flags, number }
    }

    /// Whether call paths are left out.
    pub(super) fn leaves_out(&self) -> bool {
        self.number < self.flags.len()
    }

    /// The indices of what is shown, in the call graph's order.
    pub(super) fn paths(&self) -> impl Iterator<Item = usize> {
        let flags = self.flags.iter().enumerate();
        flags.filter(|(_, shown)| **shown).map(|(path, _)| path)
    }

    /// Whether it is the last of its caller's callees of those that are shown:
    /// the last one, or the next one is left out. Longer ones stand first.
    fn is_last(&self, graph: &CallGraph, path: usize) -> bool {
        let level = graph.paths[path].level;
        let next = (path + 1..graph.paths.len()).find(|&next| graph.paths[next].level <= level);
        next.is_none_or(|next| graph.paths[next].level < level || !self.flags[next])
    }

    /// What is left out, in words.
    pub(super) fn in_words(&self) -> Option<String> {
        (self.number < self.flags.len()).then(|| {
            format!(
                "The {} of {} call paths with most time are shown; romp report --all shows \
                 {MOST_PATHS}, -f csv all, and --region those of some regions.",
                self.number,
                self.flags.len()
            )
        })
    }
}

/// Writes the call graph.
pub(super) fn write(report: &Report<'_>, shown: &Shown, out: &mut Page<'_>) -> io::Result<()> {
    banner("Romp Callgraph", out)?;
    let graph = &report.call_graph;
    let every = || {
        graph
            .paths
            .iter()
            .map(|path| path.times)
            .chain([graph.program])
    };
    let inclusive = every().map(|times| times.inclusive.ns).max().unwrap_or(0);
    let exclusive = every().map(|times| times.exclusive.ns).max().unwrap_or(0);
    let formats = [inclusive, exclusive].map(|ns| Format::time(ns, COLUMN_WIDTH));
    let mut line = Line::default();
    for (title, format) in ["Inclusive", "Exclusive"].into_iter().zip(formats) {
        line.right(title, format.width + 2)
            .right("(%)", PERCENT_WIDTH);
    }
    line.end(out)?;
    times(&mut line, graph.program, formats);
    line.spaces(KIND_WIDTH + 4)
        .text(&program_name(report))
        .end(out)?;
    let mut rails = Vec::new();
    for index in shown.paths() {
        let path = &graph.paths[index];
        let label = &report.labels[path.region];
        times(&mut line, path.times, formats);
        line.spaces(2)
            .left(label.kind.row().short_name, KIND_WIDTH)
            .spaces(2);
        let is_last = shown.is_last(graph, index);
        branch(&mut line, path.level, is_last, &mut rails);
        line.text(&label.id)
            .text(" ")
            .text(&place(label))
            .text(&label.in_function())
            .end(out)?;
    }
    match shown.in_words() {
        Some(words) => prose(&words, 2, out),
        None => Ok(()),
    }
}

/// `[application: n threads]`, ompP's name of the tree's root.
fn program_name(report: &Report<'_>) -> String {
    let run = &report.profile.run;
    let noun = if run.max_threads == 1 {
        "thread"
    } else {
        "threads"
    };
    let ranks = match report.ranks.len() {
        0 => String::new(),
        ranks => format!(" of {ranks} ranks"),
    };
    let application = printable(&run.application);
    format!("[{application}: {} {noun}{ranks}]", run.max_threads)
}

fn times(line: &mut Line, times: Times, formats: [Format; 2]) {
    line.number(times.inclusive.ns, formats[0])
        .text(" s")
        .percent(times.inclusive.percent);
    line.number(times.exclusive.ns, formats[1])
        .text(" s")
        .percent(times.exclusive.percent);
}

/// Draws the branch that leads to a call path of this level. `rails` says for
/// each level whether its line goes on.
fn branch(line: &mut Line, level: usize, is_last: bool, rails: &mut Vec<bool>) {
    rails.truncate(level - 1);
    for goes_on in rails.iter().take(DEEPEST_INDENT) {
        line.text(if *goes_on { "|  " } else { "   " });
    }
    rails.push(!is_last);
    if level > DEEPEST_INDENT {
        line.text(&format!("[level {level}] "));
    }
    line.text(if is_last { "+-" } else { "|-" });
}
