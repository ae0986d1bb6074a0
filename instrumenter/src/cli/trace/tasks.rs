//! `romp trace tasks TRACE`

use clap::Args;
use serde_json::json;
use trace::analysis::tasks::{Node, tasks};
use trace::export::region;
use trace::read::Trace;

use super::dump::Format;
use super::{Failure, failure, print};

/// Arguments of `romp trace tasks TRACE`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How to write it
    #[arg(short, long, default_value = "text")]
    format: Format,
}

pub(super) fn run(trace: &Trace, arguments: &Arguments) -> Result<(), Failure> {
    let nodes = tasks(trace).map_err(failure)?;
    let scale = trace.scale();
    let micros = |ticks: u64| scale.to_ns(ticks) as f64 / 1e3;
    print(|out| {
        if arguments.format == Format::Json {
            for node in &nodes {
                writeln!(out, "{}", json(trace, node))?;
            }
            return Ok(());
        }
        if nodes.is_empty() {
            return writeln!(out, "no tasks");
        }
        writeln!(
            out,
            "{:>10} {:>10} {:>10} {:>14} {:>12} {:>12}  task, below what made it",
            "created", "executed", "elsewhere", "own us", "mean us", "longest us"
        )?;
        for node in &nodes {
            let mean = micros(node.ticks) / node.executed.max(1) as f64;
            writeln!(
                out,
                "{:>10} {:>10} {:>10} {:>14.1} {:>12.2} {:>12.1}  {:indent$}{}",
                node.created,
                node.executed,
                node.elsewhere,
                micros(node.ticks),
                mean,
                micros(node.longest),
                "",
                region(trace, node.region),
                indent = 2 * node.depth as usize
            )?;
        }
        Ok(())
    })
}

fn json(trace: &Trace, node: &Node) -> serde_json::Value {
    let scale = trace.scale();
    json!({
        "region": region(trace, node.region),
        "parent": node.parent,
        "depth": node.depth,
        "created": node.created,
        "executed": node.executed,
        "elsewhere": node.elsewhere,
        "own_ns": scale.to_ns(node.ticks),
        "longest_ns": scale.to_ns(node.longest),
    })
}
