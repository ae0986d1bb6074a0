//! The saved profile itself.
//!
//! The format is serde's form of [`crate::model`]. A large profile consists mostly of rows, and
//! they are written while the user waits for the program to end. So rows are formatted by hand.
//! A test compares them with serde's output.

use std::io::{self, Write};

use serde::Serialize;

use crate::model::{Node, Profile, Row, Span};
use crate::printable::write_json;
use crate::region_kind::PseudoRegion;

/// Number of bytes that are collected before they are written.
const CHUNK: usize = 1 << 16;

/// Writes the profile as JSON.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut json = Json {
        text: Vec::with_capacity(2 * CHUNK),
    };
    json.field("{\"schema\":", &profile.schema)?;
    json.field(",\"version\":", &profile.version)?;
    json.field(",\"run\":", &profile.run)?;
    if !profile.ranks.is_empty() {
        json.field(",\"ranks\":", &profile.ranks)?;
    }
    json.field(",\"regions\":", &profile.regions)?;
    json.field(",\"threads\":", &profile.threads)?;
    json.text(",\"nodes\":[");
    for (index, node) in profile.nodes.iter().enumerate() {
        if index > 0 {
            json.text(",");
        }
        json.node(node, out)?;
    }
    json.text("]");
    json.list(",\"serial\":", &profile.serial)?;
    json.list(",\"distributions\":", &profile.distributions)?;
    json.list(",\"arrivals\":", &profile.arrivals)?;
    json.list(",\"contention\":", &profile.contention)?;
    json.list(",\"sources\":", &profile.sources)?;
    json.text("}\n");
    out.write_all(&json.text)
}

/// JSON text under construction.
struct Json {
    text: Vec<u8>,
}

impl Json {
    fn text(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Writes the text in front of a value, and the value.
    fn field(&mut self, front: &str, value: &impl Serialize) -> io::Result<()> {
        self.text(front);
        write_json(&mut self.text, value)
    }

    /// Writes a list, unless it is empty.
    fn list<T: Serialize>(&mut self, front: &str, values: &[T]) -> io::Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        self.field(front, &values)
    }

    fn node(&mut self, node: &Node, out: &mut dyn Write) -> io::Result<()> {
        self.field("{\"parent\":", &node.parent)?;
        self.field(",\"region\":", &node.region)?;
        self.field(",\"within\":", &node.within)?;
        self.text(",\"rows\":[");
        for (index, row) in node.rows.iter().enumerate() {
            if index > 0 {
                self.text(",");
            }
            self.row(row);
            if self.text.len() > CHUNK {
                out.write_all(&self.text)?;
                self.text.clear();
            }
        }
        self.text("]}");
        Ok(())
    }

    fn row(&mut self, row: &Row) {
        self.text("{\"thread\":");
        self.number(row.thread as u64);
        for (front, part) in [
            (",\"main\":{\"count\":", PseudoRegion::Main),
            (",\"enter\":{\"count\":", PseudoRegion::Enter),
            (",\"body\":{\"count\":", PseudoRegion::Body),
            (",\"ibarr\":{\"count\":", PseudoRegion::Ibarr),
            (",\"exit\":{\"count\":", PseudoRegion::Exit),
            (",\"seq\":{\"count\":", PseudoRegion::Seq),
        ] {
            self.span(front, row.span(part));
        }
        for (index, value) in row.counters().iter().enumerate() {
            self.text(if index == 0 { ",\"counters\":[" } else { "," });
            self.number(*value);
        }
        if !row.counters().is_empty() {
            self.text("]");
        }
        if let Some(estimate) = row.estimate() {
            self.text(",\"estimate\":{\"timed\":");
            self.number(estimate.timed);
            self.text(",\"error_ns\":");
            self.number(estimate.error_ns);
            if estimate.cost_ns != 0 {
                self.text(",\"cost_ns\":");
                self.number(estimate.cost_ns);
            }
            if estimate.interval_ps != 0 {
                self.text(",\"interval_ps\":");
                self.number(estimate.interval_ps);
            }
            if estimate.waited != 0 {
                self.text(",\"waited\":");
                self.number(estimate.waited);
            }
            self.text("}");
        }
        self.span(",\"chunk_requests\":{\"count\":", row.chunk_requests());
        self.span(",\"reduction\":{\"count\":", row.reduction());
        self.text("}");
    }

    /// Writes a time and a count with the text in front of the count, unless both are zero.
    fn span(&mut self, front: &str, span: Span) {
        if span.is_zero() {
            return;
        }
        self.text(front);
        self.number(span.count);
        self.text(",\"ns\":");
        self.number(span.ns);
        self.text("}");
    }

    fn number(&mut self, number: u64) {
        self.text(itoa::Buffer::new().format(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bucket, Contention, Distribution, Estimate, GuardKind, Run, Thread};

    #[test]
    fn it_is_what_serde_writes() {
        let longest = Span {
            count: 10,
            ns: u64::MAX,
        };
        let all = PseudoRegion::ALL.into_iter();
        let mut rows: Vec<Row> = all.map(|part| Row::default().with(part, longest)).collect();
        let row = Row::of(7)
            .with(PseudoRegion::Main, Span { count: 1, ns: 0 })
            .with(PseudoRegion::Seq, Span { count: 0, ns: 109 });
        let row = row.with_counters(vec![0, 7]);
        let estimate = Estimate {
            timed: 1,
            error_ns: 5,
            ..Estimate::default()
        };
        let costly = Estimate {
            cost_ns: 9,
            interval_ps: 870,
            waited: 1,
            ..estimate
        };
        rows.extend([costly, estimate].map(|it| row.clone().with_estimate(Some(it))));
        rows.push(row);
        rows.push(Row::of(7).with_estimate(Some(estimate)));
        let with = [Row::with_chunk_requests, Row::with_reduction];
        rows.extend(with.map(|with| with(Row::of(7), Span { count: 61, ns: 7 })));
        let node = |parent, rows| Node {
            parent,
            region: 3,
            within: PseudoRegion::Ibarr,
            rows,
        };
        let profile = Profile {
            schema: "a \"schema\"".to_owned(),
            ranks: vec![Run {
                rank: Some(2),
                ..Run::default()
            }],
            threads: vec![
                Thread {
                    path: vec![0, 3],
                    ..Thread::default()
                },
                Thread {
                    rank: Some(2),
                    path: vec![1],
                },
            ],
            nodes: vec![node(None, rows), node(Some(0), Vec::new())],
            distributions: vec![Distribution {
                region: 0,
                thread: None,
                part: PseudoRegion::Seq,
                min_ns: 5,
                max_ns: 9,
                histogram: vec![Bucket {
                    from_ns: 4,
                    below_ns: 16,
                    count: 2,
                }],
            }],
            contention: vec![Contention {
                kind: GuardKind::Lock,
                name: "0x10".to_owned(),
                members: 1,
                sites: Vec::new(),
            }],
            ..Profile::default()
        };
        let mut written = Vec::new();
        for profile in [profile, Profile::default()] {
            written.clear();
            write(&profile, &mut written).unwrap();
            let expected = serde_json::to_string(&profile).unwrap() + "\n";
            assert_eq!(String::from_utf8_lossy(&written), expected);
        }
    }
}
