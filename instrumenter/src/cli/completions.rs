//! `romp completions`

use clap::CommandFactory;
use clap_complete::Shell;

use super::Failure;

/// What stands after `romp completions`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell that will read it
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut command = super::Arguments::command();
    super::print(|mut out| {
        clap_complete::generate(arguments.shell, &mut command, "romp", &mut out);
        Ok(())
    })
}
