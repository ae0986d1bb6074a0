//! Fortran: measurement libraries that lack some subroutines.
//!
//! No program can ask whether a procedure is there. So each place has a flag: 0 at first, 1 if the
//! library has the subroutine, -1 if not. A thread that finds 0 asks the library; several may do so
//! at once, and get the same answer. The flag is a variable of a block around the call: it needs no
//! place among the user's declarations, and is not in the construct's data environment, whatever
//! `default` says.

use super::fortran_lines::{Argument, Lines};

/// The prefix of the subroutines' names.
const PREFIX: &str = "POMPF_";

/// The subroutine that answers, and its arguments.
pub(super) const QUESTION: (&str, &[(&str, &str)]) = (
    "Has_routine",
    &[
        ("name", "character(*), intent(in)"),
        ("answer", "integer(4), intent(inout)"),
    ],
);

impl Lines {
    /// Appends the call of a subroutine that is made only if the library has it.
    pub(super) fn call_if_there(&mut self, name: &str, arguments: &[Argument]) {
        let name = name.trim_start_matches(PREFIX);
        let dummies: Vec<_> = arguments.iter().map(|argument| argument.dummy).collect();
        let declared = [QUESTION, (name, &dummies)];
        let call = |lines: &mut Self| lines.bare_call(&format!("{PREFIX}{name}"), arguments);
        self.if_there(name, &declared, call, &[]);
    }

    /// Appends the statement `call`, or, where the library lacks the subroutine, others. Of the
    /// subroutines that are called, those in `declared` are not yet declared.
    pub(super) fn if_there(
        &mut self,
        name: &str,
        declared: &[(&str, &[(&str, &str)])],
        call: impl FnOnce(&mut Self),
        otherwise: &[String],
    ) {
        if !self.asks() {
            return call(self);
        }
        let name = name.to_ascii_lowercase();
        self.open_block();
        self.declarations(declared);
        self.statement("integer(4), save :: romp_has = 0");
        self.long_statement(&format!(
            "if ( romp_has == 0 ) call {PREFIX}{}( '{name}', romp_has )",
            QUESTION.0
        ));
        self.statement("if (romp_has > 0) then");
        call(self);
        if !otherwise.is_empty() {
            self.statement("else");
        }
        for statement in otherwise {
            self.long_statement(statement);
        }
        self.statement("end if");
        self.statement("end block");
    }
}
