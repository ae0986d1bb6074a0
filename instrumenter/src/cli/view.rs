//! `romp view`

use std::path::{Path, PathBuf};

use clap::Args;
use profile::analysis::Report;
use profile::diff::{Noise, diff_runs};
use profile::model::Profile;
use profile::report::html::Page;

use super::{Failure, page};

/// Arguments of `romp view`.
#[derive(Debug, Args)]
#[command(
    after_help = "Runs after the first are what it is compared with: regions are matched by file, \
    function and directive. What romp diff calls noise is greyed; with three or more of them \
    smaller changes are seen.\n\n\
    Example: romp view after.0.romp.json after.0.romp.trace before.*.romp.json"
)]
pub(super) struct Arguments {
    /// The saved profile, APP.N.romp.json
    profile: PathBuf,
    /// Its trace, APP.N.romp.trace, and saved profiles of other runs to compare it with
    others: Vec<PathBuf>,
    /// Where to write the page; else APP.N.html here, which a browser is told to show
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Leave the program's source out
    #[arg(long)]
    no_source: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.profile;
    let (traces, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        arguments.others.iter().partition(|path| is_trace(path));
    if traces.len() > 1 {
        let message = "error: one trace can be shown, that of the first profile".to_owned();
        return Err(Failure { message });
    }
    let profile = match others.as_slice() {
        [] => super::load(path)?,
        // Regions of several profiles are matched, so each must occur once, as in `romp diff`.
        _ => super::load_folded(path)?,
    };
    let others: Vec<Profile> = others
        .iter()
        .map(|path| super::load_folded(path))
        .collect::<Result<_, Failure>>()?;
    let report = Report::new(&profile);
    let reports: Vec<Report<'_>> = others.iter().map(Report::new).collect();
    let mut page = page::page(&report, path, !arguments.no_source);
    if !reports.is_empty() {
        let diff = diff_runs(&others, std::slice::from_ref(&profile), Noise::default());
        page = page.with_others(&reports, diff);
    }
    if let Some(trace) = traces.first() {
        page = with_trace(page, trace, &profile)?;
    }
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| page::name_of(path));
    let mut inputs: Vec<&Path> = arguments.others.iter().map(PathBuf::as_path).collect();
    inputs.push(path);
    page::write_file(&output, &inputs, |out| page.write(out))?;
    match arguments.output {
        None => page::open(&output),
        Some(_) => Ok(()),
    }
}

fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "trace")
}

fn with_trace<'r, 'p>(
    page: Page<'r, 'p>,
    path: &Path,
    profile: &Profile,
) -> Result<Page<'r, 'p>, Failure> {
    let failure = |error: trace::read::ReadError| Failure {
        message: format!("error: {}: {error}", path.display()),
    };
    let trace = trace::read::Trace::open(path).map_err(failure)?;
    let timeline = trace::timeline::timeline(&trace, profile).map_err(failure)?;
    let page = page.with_section("timeline", timeline.lanes);
    Ok(match timeline.iterations {
        Some(costs) => page.with_section("iterations", costs),
        None => page,
    })
}
