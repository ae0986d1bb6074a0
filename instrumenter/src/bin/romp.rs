//! The command `romp`: instruments sources, lists directives, shows reports. Under the name of
//! a compiler wrapper (a link `rompcc`, `rompcxx`, ...) it behaves as that wrapper.

use std::process::ExitCode;

fn main() -> ExitCode {
    if instrumenter::wrapper::is_invoked() {
        return instrumenter::wrapper::main();
    }
    instrumenter::cli::run()
}
