//! A page that shows a run in a browser: one file, without requests to other files. The first
//! screen needs no scripts. Everything else is data that is decompressed and drawn when the
//! user looks at it. The scripts are the modules in `profile/page`.

mod cells;
mod clock;
mod comparison;
mod first;
mod model;
mod moved_sources;
mod sections;
mod source;

pub use sections::Columns;
pub use source::{File, Sources};

use std::io::{self, Write};

use super::escape::escaped;
use crate::analysis::{PartTimes, Report};
use crate::diff::Diff;
use crate::printable::write_json;

/// The modules of the page. Each one stands after the modules that it imports.
const MODULES: &[(&str, &str)] = &[
    ("dom.js", include_str!("../../../page/dom.js")),
    ("format.js", include_str!("../../../page/format.js")),
    ("data.js", include_str!("../../../page/data.js")),
    ("sums.js", include_str!("../../../page/sums.js")),
    ("state.js", include_str!("../../../page/state.js")),
    ("tree.js", include_str!("../../../page/tree.js")),
    ("explorer.js", include_str!("../../../page/explorer.js")),
    ("heat.js", include_str!("../../../page/heat.js")),
    ("places.js", include_str!("../../../page/places.js")),
    ("costs.js", include_str!("../../../page/costs.js")),
    ("region.js", include_str!("../../../page/region.js")),
    ("source.js", include_str!("../../../page/source.js")),
    ("clusters.js", include_str!("../../../page/clusters.js")),
    ("threads.js", include_str!("../../../page/threads.js")),
    ("compare.js", include_str!("../../../page/compare.js")),
    ("spans.js", include_str!("../../../page/spans.js")),
    ("shown.js", include_str!("../../../page/shown.js")),
    ("selected.js", include_str!("../../../page/selected.js")),
    ("timeline.js", include_str!("../../../page/timeline.js")),
    ("main.js", include_str!("../../../page/main.js")),
];

/// A page under construction.
#[derive(Debug)]
pub struct Page<'r, 'p> {
    report: &'r Report<'p>,
    sources: Sources,
    sections: Vec<(String, Vec<u8>)>,
    others: &'r [Report<'p>],
    diff: Option<Diff>,
    parts: PartTimes,
}

/// Writes the page of a report, including the source files that are found under the names in
/// the profile.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    Page::new(report).with_sources(&[]).write(out)
}

impl<'r, 'p> Page<'r, 'p> {
    /// The page of a report, without sources.
    #[must_use]
    pub fn new(report: &'r Report<'p>) -> Self {
        Self {
            parts: report.severities().sum(),
            sources: Sources::default(),
            sections: Vec::new(),
            others: &[],
            diff: None,
            report,
        }
    }

    /// Adds the user's files, which are read under their names in the profile or from one of
    /// these folders.
    #[must_use]
    pub fn with_sources(mut self, folders: &[std::path::PathBuf]) -> Self {
        self.sources = Sources::read(self.report, folders);
        self
    }

    /// Adds other runs, and the result of comparing them with this run. All runs must have the
    /// same counters.
    #[must_use]
    pub fn with_others(mut self, others: &'r [Report<'p>], diff: Diff) -> Self {
        (self.others, self.diff) = (others, Some(diff));
        self
    }

    /// Adds further data. The name may only contain letters, digits and `-`.
    #[must_use]
    pub fn with_section(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.sections.push((name.to_owned(), bytes));
        self
    }

    /// Writes the page.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{} - Romp</title>\n<style>\n{}</style></head><body>",
            escaped(&self.report.profile.run.application),
            include_str!("../../../page/style.css")
        )?;
        first::write(self, out)?;
        writeln!(
            out,
            "<main id=\"app\"></main>\n<noscript><p>Trees, regions, source and threads need \
             JavaScript.</p></noscript>"
        )?;
        self.data(out)?;
        writeln!(
            out,
            "<script type=\"module\">\n{}</script>\n</body></html>",
            script()
        )
    }

    fn data(&self, out: &mut dyn Write) -> io::Result<()> {
        let runs = 1 + self.others.len();
        let (cells, folded) = cells::cells(self.report, runs);
        let mut model = model::model(self.report, folded);
        let sources: Vec<serde_json::Value> = self
            .sources
            .files()
            .map(|(name, file)| {
                let has_text = file.text.is_some();
                serde_json::json!([crate::printable::printable(name), has_text, file.note])
            })
            .collect();
        model["sources"] = sources.into();
        model["sections"] = self
            .sections
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        model["others"] = self.others.iter().map(model::side).collect();
        model["comparison"] = self.diff.as_ref().map(comparison::comparison).into();
        let mut json = Vec::new();
        write_json(&mut json, &model)?;
        sections::write("model", &sections::packed(&json), out)?;
        sections::write("cells", &sections::packed(cells.bytes()), out)?;
        for (index, other) in self.others.iter().enumerate() {
            let (cells, _) = cells::cells_of_other(other, self.report, runs);
            let packed = sections::packed(cells.bytes());
            sections::write(&format!("other-{index}"), &packed, out)?;
        }
        for (index, (_, file)) in self.sources.files().enumerate() {
            if let Some(text) = &file.text {
                let name = format!("source-{index}");
                sections::write(&name, &sections::packed(text.as_bytes()), out)?;
            }
        }
        for (name, bytes) in &self.sections {
            sections::write(name, &sections::packed(bytes), out)?;
        }
        Ok(())
    }
}

/// All modules as one script. Imports and exports are removed, since all modules share one
/// scope.
fn script() -> String {
    let mut script = String::new();
    for (name, module) in MODULES {
        script.push_str(&format!("// {name}\n"));
        for line in module.lines() {
            if line.starts_with("import ") {
                continue;
            }
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modules become one script, in which a name can only be defined once.
    #[test]
    fn names_of_modules_differ_and_nothing_ends_the_script() {
        let mut names: Vec<String> = Vec::new();
        for line in script().lines() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
            let word = words.next().unwrap_or("");
            if ["function", "const", "let", "class", "async"].contains(&word) {
                let name = words.find(|word| !word.is_empty() && *word != "function");
                names.extend(name.map(str::to_owned));
            }
        }
        let number = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), number);
        assert!(number > 20, "{names:?}");
        assert!(!script().contains("</script"));
    }
}
