//! The style of printed text. On a terminal it fits the width, and titles are emphasised. In a
//! file or a pipe nothing is cut, and only the text is written.

use std::io::IsTerminal;

use profile::report::Style;

/// The style for a file.
pub(super) fn of_file(is_whole: bool) -> Style {
    Style {
        is_whole,
        ..Style::default()
    }
}

/// The style for standard output.
pub(super) fn of_stdout(is_whole: bool) -> Style {
    if !std::io::stdout().is_terminal() {
        return of_file(is_whole);
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_dumb = set("TERM").is_none_or(|terminal| terminal == "dumb");
    Style {
        is_whole,
        width: columns(),
        has_colour: set("NO_COLOR").is_none() && !is_dumb,
    }
}

/// The columns of the terminal, or the user's value in `COLUMNS`.
fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|columns| columns.trim().parse::<u16>().ok());
    let is = || terminal_size::terminal_size().map(|(width, _)| width.0);
    said.or_else(is)
        .filter(|columns| *columns > 0)
        .map(usize::from)
}
