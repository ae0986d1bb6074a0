//! Makes an input of the target `trace` of the fuzzing command from a trace:
//! `cargo run -p tests --example pack -- app.0.romp.trace fixtures/fuzz/trace/app`.

use std::io;

fn main() -> io::Result<()> {
    let mut names = std::env::args_os().skip(1);
    let (Some(trace), Some(output)) = (names.next(), names.next()) else {
        return Err(io::Error::other("say: pack TRACE OUTPUT"));
    };
    let trace = std::fs::read(trace)?;
    std::fs::write(output, tests::fuzz::trace::packed(&trace))
}
