//! Constructs that the preprocessor may have left out, and whether it has: the calls in the machine code
//! may tell.

use std::collections::{BTreeMap, BTreeSet};

use super::align::{self, Call, CallKind, Found, Scope};
use super::sources::Constructs;

/// Which of these constructs were left out, as far as the calls tell.
#[derive(Default)]
pub(super) struct Optional {
    /// Whether a construct was left out, by its file and number.
    left_out: BTreeMap<(String, usize), bool>,
}

impl Optional {
    /// The constructs that make no calls of a kind in a scope, since they were left out, and whether
    /// there may be more of them. `in_code` are the calls in the machine code, if they are known.
    pub(super) fn left_out(
        &mut self,
        (file, constructs): (&str, &Constructs),
        scope: Scope<'_>,
        of: CallKind<'_>,
        in_code: Option<&[Call]>,
    ) -> (BTreeSet<usize>, bool) {
        let mut left_out = BTreeSet::new();
        let mut open = Vec::new();
        for number in constructs.optional(Some(of.kind), scope.function()) {
            match self.left_out.get(&(file.to_owned(), number)) {
                Some(true) => {
                    left_out.insert(number);
                }
                Some(false) => {}
                None => open.push(number),
            }
        }
        let called = align::constructs_called(&constructs.all, scope, of);
        let called = called.into_iter().filter(|one| !left_out.contains(one));
        match are_left_out(&called.collect::<Vec<_>>(), &open, of, in_code) {
            Some(false) => (left_out, false),
            Some(true) => {
                let of_file = open.iter().map(|number| (file.to_owned(), *number));
                self.left_out.extend(of_file.map(|place| (place, true)));
                left_out.extend(open);
                (left_out, false)
            }
            None => (left_out, true),
        }
    }

    /// Notes that a construct of a file has a call.
    pub(super) fn note(&mut self, file: &str, found: Found) {
        if let Found::Certain(number) | Found::EndOf(number) = found {
            self.left_out.insert((file.to_owned(), number), false);
        }
    }
}

/// Whether the open constructs were left out: none was if there is a call for each place of the source,
/// and all were if there is one for each other place. Otherwise it is not known. Calls with the same
/// line may be copies of one call.
fn are_left_out(
    called: &[usize],
    open: &[usize],
    of: CallKind<'_>,
    in_code: Option<&[Call]>,
) -> Option<bool> {
    if open.is_empty() {
        return Some(false);
    }
    let calls = in_code.filter(|_| !of.is_named_critical())?;
    let lines: BTreeSet<u32> = calls.iter().map(|call| call.line).collect();
    let others = called.iter().filter(|number| !open.contains(number));
    match calls.len() {
        number if number != lines.len() => None,
        number if number == called.len() => Some(false),
        number if number == others.count() => Some(true),
        _ => None,
    }
}
