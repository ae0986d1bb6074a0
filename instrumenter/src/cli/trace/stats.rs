//! `romp trace stats TRACE`

use std::path::PathBuf;

use clap::Args;
use profile::region_kind::PseudoRegion;
use trace::read::Trace;
use trace::stats::{differences, stats};

use super::{Failure, failure, print};

/// Arguments of `romp trace stats TRACE`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Compare with the profile of the same run; status 1 if they differ
    #[arg(long, value_name = "PROFILE")]
    against: Option<PathBuf>,
}

pub(super) fn run(trace: &Trace, arguments: &Arguments) -> Result<(), Failure> {
    let stats = stats(trace).map_err(failure)?;
    if let Some(path) = &arguments.against {
        let profile = super::super::load(path)?;
        let differences = differences(trace, &stats, &profile);
        if differences.is_empty() {
            return print(|out| writeln!(out, "the trace and the profile are equal"));
        }
        let mut message = format!("error: {} differences", differences.len());
        for difference in differences {
            let ((count, ns), (counted, timed)) = (difference.traced, difference.profiled);
            message.push_str(&format!(
                "\n  {}: {count} in {ns} ns traced, {counted} in {timed} ns profiled",
                difference.place
            ));
        }
        return Err(Failure { message });
    }
    let scale = trace.scale();
    print(|out| {
        writeln!(out, "thread\tregion\tpart\tcount\tns")?;
        for ((thread, region), spans) in &stats.spans {
            let thread = trace.thread(*thread);
            let region = trace
                .region(*region)
                .map_or_else(|| "?".to_owned(), trace::stats::name);
            for (part, span) in PseudoRegion::ALL.iter().zip(spans) {
                if span.count > 0 {
                    let part = format!("{part:?}").to_lowercase();
                    let ns = scale.to_ns(span.ticks);
                    writeln!(out, "{thread}\t{region}\t{part}\t{}\t{ns}", span.count)?;
                }
            }
        }
        Ok(())
    })
}
