//! Looks for texts that take time out of proportion to their length:
//! `cargo run --profile soak -p tests --example growth -- [TIMES [WORDS]]`.
//!
//! Each shape is repeated an eighth of so many times and so many times; one that takes more
//! than three times as long for each byte of the longer text is shown, slowest first.

use std::process::ExitCode;
use std::time::Duration;

use tests::fuzz::worker::processor_time;
use tests::growth::{Shape, shapes};

/// By how much the time for a byte may grow: caches and the system take their part.
const GROWTH: f64 = 3.0;
/// What is faster says nothing.
const SHORTEST: Duration = Duration::from_millis(50);

/// The system counts processor time in steps of about so long.
const GRAIN: Duration = Duration::from_millis(4);

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let times: usize = words
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(4_000);
    let wanted: Vec<String> = words.collect();
    let mut worse = 0;
    let mut looked = 0;
    for shape in shapes() {
        let name = shape.to_string();
        if !wanted.iter().all(|word| name.contains(word)) {
            continue;
        }
        looked += 1;
        let (short, few) = measured(&shape, times / 8);
        let (long, many) = measured(&shape, times);
        let short = short.max(GRAIN);
        let growth = (long.as_secs_f64() / many) / (short.as_secs_f64() / few);
        if long > SHORTEST && growth > GROWTH {
            worse += 1;
            println!("{growth:5.1} {:7.3} s  {name}", long.as_secs_f64());
        }
    }
    println!("{looked} shapes, {worse} grow faster than their text");
    ExitCode::from(u8::from(worse > 0))
}

/// The time that a text takes, and its length.
fn measured(shape: &Shape, times: usize) -> (Duration, f64) {
    let text = shape.text(times);
    let length = text.len() as f64;
    let begin = processor_time();
    shape.work(text);
    (Duration::from_nanos(processor_time() - begin), length)
}
