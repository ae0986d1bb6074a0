//! `romp view`

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use profile::analysis::Report;
use profile::diff::{Noise, diff_runs};
use profile::model::Profile;
use profile::report::html::Page;
use trace::read::{ReadError, Trace};

use super::{Failure, page};

/// Arguments of `romp view`.
#[derive(Debug, Args)]
#[command(
    after_help = "Runs after the first are what it is compared with: regions are matched by file, \
    function and directive. What romp diff calls noise is greyed; with three or more of them \
    smaller changes are seen.\n\n\
    With a profile of several ranks, which romp merge makes, there may be a trace for each rank.\n\n\
    Examples:\n  \
    romp view after.0.romp.json after.0.romp.trace before.*.romp.json\n  \
    romp view app.romp.json app.r*.0.romp.trace"
)]
pub(super) struct Arguments {
    /// The saved profile, APP.N.romp.json
    profile: PathBuf,
    /// Its trace, APP.N.romp.trace (of several ranks the trace of each), and saved profiles of
    /// other runs to compare it with
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
    if !traces.is_empty() {
        page = with_traces(page, &traces, &profile)?;
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

fn with_traces<'r, 'p>(
    page: Page<'r, 'p>,
    paths: &[&PathBuf],
    profile: &Profile,
) -> Result<Page<'r, 'p>, Failure> {
    let failure = |error: ReadError| Failure::from(format!("error: {error}"));
    let opened = paths.iter().map(|path| Trace::open(path));
    let traces: Vec<Trace> = opened.collect::<Result<_, _>>().map_err(failure)?;
    if traces.len() > 1 {
        are_of_one_job(&traces, profile)?;
    }
    let timeline = trace::timeline::timeline(&traces, profile).map_err(failure)?;
    let page = page.with_section("timeline", timeline.lanes);
    Ok(match timeline.iterations {
        Some(costs) => page.with_section("iterations", costs),
        None => page,
    })
}

/// Several traces are those of the ranks in the profile, one of each.
fn are_of_one_job(traces: &[Trace], profile: &Profile) -> Result<(), Failure> {
    if profile.ranks.is_empty() {
        let message = "error: several traces need a profile of several ranks: merge the ranks' \
            profiles with romp merge, or give one trace, that of the first profile";
        return Err(message.to_owned().into());
    }
    let known: BTreeSet<u32> = profile.ranks.iter().filter_map(|run| run.rank).collect();
    let mut seen: BTreeMap<u32, &Path> = BTreeMap::new();
    for trace in traces {
        let path = trace.path();
        let Some(rank) = trace.rank().filter(|rank| known.contains(rank)) else {
            let message = format!(
                "error: '{}' is of no rank in the profile: give the traces of its run",
                path.display()
            );
            return Err(message.into());
        };
        if let Some(first) = seen.insert(rank, path) {
            let message = format!(
                "error: '{}' and '{}' are both of rank {rank}: give one trace for each rank",
                first.display(),
                path.display()
            );
            return Err(message.into());
        }
    }
    Ok(())
}
