//! `romp env`

use profile::environment::VARIABLES;

use super::Failure;

pub(super) fn run() -> Result<(), Failure> {
    super::print(|out| {
        for variable in VARIABLES {
            writeln!(out, "{}  (default: {})", variable.name, variable.default)?;
            writeln!(out, "    {}", variable.help)?;
        }
        Ok(())
    })
}
