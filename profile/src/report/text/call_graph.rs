//! The call graph of the text report: the call paths with the most time.

use std::cmp::Reverse;
use std::io;

use super::layout::{COLUMN_WIDTH, Format, Line, PERCENT_WIDTH, banner, prose};
use super::place;
use super::shown_parts::ShownParts;
use crate::analysis::{CallGraph, Report, Times};
use crate::order;
use crate::printable::printable;
use crate::report::sink::TextSink;

/// Call paths deeper than this are not indented further.
const DEEPEST_INDENT: usize = 24;
/// Width of the column with the short names of kinds.
const KIND_WIDTH: usize = 8;
/// The most call paths that are shown; those with the most time are chosen. A program with
/// recursive tasks has tens of thousands, which nobody reads, and the user would wait for them
/// at the end of the program.
const MOST_PATHS: usize = 500;
/// The most call paths that are shown if not everything is shown.
const MOST_WORTH: usize = 40;

/// Which call paths the report shows. A path is only shown together with its callers.
pub(super) struct Shown {
    flags: Vec<bool>,
    number: usize,
}

impl Shown {
    pub(super) fn new(graph: &CallGraph, shown_parts: &ShownParts) -> Self {
        let most = if shown_parts.is_whole() {
            MOST_PATHS
        } else {
            MOST_WORTH
        };
        let number = graph.paths.len().min(most);
        let mut flags = vec![true; graph.paths.len()];
        if number < flags.len() {
            // A caller always stands in front of its callees, whatever was measured.
            let mut ns: Vec<u64> = Vec::with_capacity(flags.len());
            for path in &graph.paths {
                let callers = path.caller.map_or(u64::MAX, |caller| ns[caller]);
                ns.push(path.times.inclusive.ns.min(callers));
            }
            let mut places: Vec<usize> = (0..ns.len()).collect();
            order::sort_by_key(&mut places, |&path| (Reverse(ns[path]), path));
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

    /// The indices of the shown paths, in the call graph's order.
    pub(super) fn paths(&self) -> impl Iterator<Item = usize> {
        let flags = self.flags.iter().enumerate();
        flags.filter(|(_, shown)| **shown).map(|(path, _)| path)
    }

    /// Whether a path is the last shown callee of its caller. It is if no further callee
    /// follows, or if the next callee is not shown: callees are ordered by time.
    fn is_last(&self, graph: &CallGraph, path: usize) -> bool {
        let level = graph.paths[path].level;
        let next = (path + 1..graph.paths.len()).find(|&next| graph.paths[next].level <= level);
        next.is_none_or(|next| graph.paths[next].level < level || !self.flags[next])
    }

    /// The number of omitted paths, in words.
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
pub(super) fn write(report: &Report<'_>, shown: &Shown, out: &mut TextSink<'_>) -> io::Result<()> {
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

/// `[application: n threads]`, ompP's name for the root of the tree.
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

/// Draws the branch that leads to a call path at this level. `rails` says for each level
/// whether its line continues.
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
