//! The dependences of a task: by the names in the source, which the region's descriptor has, and
//! by the addresses that the program gives to its runtime ([`Order`]).
//!
//! A clause that a macro hides has no names here; its addresses are recorded all the same.

mod order;

pub use order::{ALL_MEMORY, Kind, Order};

/// An item of a `depend` clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depend {
    /// The type of the dependence, such as `inout`, in lower case.
    pub kind: String,
    /// The item as it is written.
    pub item: String,
}

/// The items of all `depend` clauses of a directive.
#[must_use]
pub fn depends(directive: &str) -> Vec<Depend> {
    let mut found = Vec::new();
    let mut rest = directive;
    while let Some((argument, behind)) = next_argument(rest, "depend") {
        rest = behind;
        let Some((head, items)) = split_once(argument, b':') else {
            // Without items: `source`, `sink` and the like order iterations.
            continue;
        };
        let kind = parts(head).last().map(|kind| kind.to_ascii_lowercase());
        for item in parts(items) {
            found.push(Depend {
                kind: kind.clone().unwrap_or_default(),
                item: item.to_owned(),
            });
        }
    }
    found
}

/// Whether a directive has a `detach` clause: its tasks are complete when an event is fulfilled,
/// which may be after they ended.
#[must_use]
pub fn detaches(directive: &str) -> bool {
    next_argument(directive, "detach").is_some()
}

/// The text in the parentheses of the next clause with this name, and the text after them.
fn next_argument<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = text.as_bytes();
    let starts = (0..bytes.len().saturating_sub(name.len())).filter(|at| {
        bytes[*at..*at + name.len()].eq_ignore_ascii_case(name.as_bytes())
            && !is_word(at.checked_sub(1).and_then(|before| bytes.get(before)))
    });
    for start in starts {
        let behind = text.get(start + name.len()..)?.trim_start();
        let Some(inside) = behind.strip_prefix('(') else {
            continue;
        };
        let (argument, rest) = split_once(inside, b')')?;
        return Some((argument, rest));
    }
    None
}

/// The text in front of and behind the first such mark that is in no parentheses.
fn split_once(text: &str, mark: u8) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if byte == mark && depth == 0 => return Some((&text[..at], &text[at + 1..])),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The parts of a text between the commas.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (part, behind) = match split_once(text, b',') {
            Some((part, behind)) => (part, Some(behind)),
            None => (text, None),
        };
        rest = behind;
        Some(part.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detached_task_has_the_clause() {
        assert!(detaches("omp task depend(in: detach) DETACH (event)"));
        assert!(!detaches("omp task depend(in: detach) shared(detach)"));
        assert!(!detaches("omp task is_detach(event)"));
    }

    #[test]
    fn the_items_of_all_clauses_are_found() {
        for (directive, expected) in [
            ("omp task", &[] as &[(&str, &str)]),
            (
                "omp task depend(in: a, b[0:n]) firstprivate(i) depend ( inout : c[i][j] )",
                &[("in", "a"), ("in", "b[0:n]"), ("inout", "c[i][j]")],
            ),
            (
                "omp task depend(iterator(int i = 0:n, j = 0:m), out: f(i, j))",
                &[("out", "f(i, j)")],
            ),
            (
                "!$OMP TASK DEPEND(OUT: A(1:N), b)",
                &[("out", "A(1:N)"), ("out", "b")],
            ),
            ("omp ordered depend(source)", &[]),
            ("omp task my_depend(in: a) shared(depend)", &[]),
            ("omp task depend(in: a", &[]),
            ("omp task depend", &[]),
        ] {
            let found = depends(directive);
            let found: Vec<_> = found
                .iter()
                .map(|d| (d.kind.as_str(), d.item.as_str()))
                .collect();
            assert_eq!(found, expected, "{directive}");
        }
    }
}
