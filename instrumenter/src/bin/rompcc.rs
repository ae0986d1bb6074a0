//! The compiler wrapper `rompcc`, also called under the names of compilers.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let invoked = words.next().unwrap_or_else(|| OsString::from("rompcc"));
    let arguments: Vec<OsString> = words.collect();
    ExitCode::from(instrumenter::wrapper::run(&invoked, &arguments))
}
