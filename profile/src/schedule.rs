//! The argument of a `schedule` clause.

/// What it says, without modifiers and blanks: `monotonic: dynamic, 4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule<'a> {
    /// As it is written; Fortran has no case.
    pub(crate) kind: &'a str,
    /// The chunk size, an expression.
    pub(crate) chunk: Option<&'a str>,
}

impl<'a> Schedule<'a> {
    pub(crate) fn of(argument: &'a str) -> Self {
        let after_modifier = argument.rsplit(':').next().unwrap_or_default();
        match after_modifier.split_once(',') {
            Some((kind, chunk)) => Self {
                kind: kind.trim(),
                chunk: Some(chunk.trim()),
            },
            None => Self {
                kind: after_modifier.trim(),
                chunk: None,
            },
        }
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn modifiers_and_blanks_are_left_out() {
        for (argument, kind, chunk) in [
            ("dynamic", "dynamic", None),
            (" monotonic: GUIDED , 2*n ", "GUIDED", Some("2*n")),
            ("", "", None),
        ] {
            assert_eq!(Schedule::of(argument), Schedule { kind, chunk });
        }
        assert!(Schedule::of("Static").is("static") && !Schedule::of("static").is("auto"));
    }
}
