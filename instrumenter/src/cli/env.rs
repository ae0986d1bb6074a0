//! `romp env`

use profile::environment::{VARIABLES, Variable};

use super::Failure;

pub(super) fn run() -> Result<(), Failure> {
    super::print(|out| {
        for variable in VARIABLES {
            let choices = match variable.kind.choices() {
                [] => String::new(),
                choices => format!("{}; ", choices.join(" or ")),
            };
            let Variable { name, default, .. } = variable;
            writeln!(out, "{name}  ({choices}default: {default})")?;
            writeln!(out, "    {}", variable.help)?;
        }
        Ok(())
    })
}
