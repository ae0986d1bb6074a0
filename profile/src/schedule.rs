//! The argument of a `schedule` clause.

/// The content of the argument, without modifiers and blanks: `monotonic: dynamic, 4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule<'a> {
    /// The spelling in the source; Fortran ignores case.
    pub(crate) kind: &'a str,
    /// The chunk size, an expression.
    pub(crate) chunk: Option<&'a str>,
}

impl<'a> Schedule<'a> {
    pub(crate) fn of(argument: &'a str) -> Self {
        match without_modifiers(argument).split_once(',') {
            Some((kind, chunk)) => Self {
                kind: kind.trim(),
                chunk: Some(chunk.trim()),
            },
            None => Self {
                kind: without_modifiers(argument).trim(),
                chunk: None,
            },
        }
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
    }

    /// Whether the thread that is free gets the next iterations.
    pub(crate) fn hands_out_at_run_time(&self) -> bool {
        self.is("dynamic") || self.is("guided")
    }

    /// The number of iterations that a free thread gets each time. None if the source does not say.
    pub(crate) fn iterations_at_once(&self) -> Option<u64> {
        let chunk = self.is("dynamic").then(|| self.chunk.unwrap_or("1"))?;
        let number: u32 = chunk.parse().ok()?;
        Some(number.into()).filter(|number| *number > 0)
    }

    /// Whether it lets threads fetch single iterations (OpenMP 5.2, 11.5.3: without a chunk size
    /// `dynamic` has 1).
    pub(crate) fn hands_out_one(&self) -> bool {
        self.iterations_at_once() == Some(1)
    }
}

/// The text after the modifiers. A chunk size may contain colons, too: `dynamic, Grid::rows`.
fn without_modifiers(argument: &str) -> &str {
    let is_modifier = |word: &str| {
        const MODIFIERS: &[&str] = &["monotonic", "nonmonotonic", "simd"];
        let mut all = MODIFIERS.iter();
        all.any(|modifier| word.trim().eq_ignore_ascii_case(modifier))
    };
    match argument.split_once(':') {
        Some((modifiers, rest)) if modifiers.split(',').all(is_modifier) => rest,
        _ => argument,
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
            ("simd, nonmonotonic:static", "static", None),
            ("dynamic, Grid::rows", "dynamic", Some("Grid::rows")),
            ("simd: guided, wide ? 8 : 2", "guided", Some("wide ? 8 : 2")),
            ("", "", None),
        ] {
            assert_eq!(Schedule::of(argument), Schedule { kind, chunk });
        }
        for one in ["dynamic", "monotonic: DYNAMIC", "dynamic , 1"] {
            assert!(Schedule::of(one).hands_out_one(), "{one}");
        }
        let others = [
            "",
            "static,1",
            "guided",
            "dynamic,100",
            "dynamic, n",
            "runtime",
        ];
        for other in others {
            assert!(!Schedule::of(other).hands_out_one(), "{other}");
        }
        assert!(Schedule::of("Static").is("static") && !Schedule::of("static").is("auto"));
    }
}
