//! The parts of the source from which functions of the machine code were made.

use std::path::Path;

use profile::descriptor::Descriptor;
use profile::region_kind::RegionKind;

use super::clauses::{LAST, has};
use super::{Belongs, CallSite, has_function};
use crate::Source;
use crate::openmp::Language;

/// A part of the source from which one function of the machine code was made.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Scope<'a> {
    /// The body of this construct.
    Body(&'a Descriptor),
    /// A function of the user's, by its name.
    Function(&'a str),
}

impl<'a> Scope<'a> {
    /// That of a function of the machine code: the body of a construct, by its file and number, if it is
    /// one, or a function of the user's.
    pub(in super::super) fn of(
        body: Option<&(String, usize)>,
        all: &'a [Descriptor],
        function: &'a str,
    ) -> Self {
        match body {
            Some((_, number)) => Self::Body(&all[*number]),
            None => Self::Function(function),
        }
    }

    /// Whether a `loop` is one of the team's, and not of a single thread.
    pub(super) fn binds_to_team(self, generic: &Descriptor) -> bool {
        let is_in_team = matches!(self, Self::Body(body) if has(body, "parallel"));
        has(generic, "parallel") || is_in_team && !has(generic, "bind")
    }

    /// The user's function that it is a part of.
    pub(in super::super) fn function(self) -> Option<&'a str> {
        match self {
            Self::Body(body) => body.function.as_deref(),
            Self::Function(name) => Some(name),
        }
    }

    /// Whether it is the body of this construct.
    pub(super) fn is_body(self, construct: &Descriptor) -> bool {
        matches!(self, Self::Body(body) if std::ptr::eq(body, construct))
    }

    /// Whether the last of these places may be without a call: GNU's compilers leave out the barrier
    /// of a construct with which a parallel region ends.
    pub(super) fn may_lack(self, all: &[Descriptor], places: &[CallSite]) -> bool {
        self.ends_behind(places, |body, last| {
            let end = all[last].end.last;
            (end..=end + 1).contains(&body.end.last)
        })
    }

    /// As `may_lack`, also if ends of other statements stand between the construct and the region's end. Then
    /// the calls that are there must have the lines of the other places.
    pub(super) fn may_lack_by_lines(self, all: &[Descriptor], places: &[CallSite]) -> bool {
        self.ends_behind(places, |_, last| all[last].other.contains_key(LAST))
    }

    /// Whether it is the body of a parallel region, the last of these places is the barrier of a construct, and
    /// the region ends behind that, as `is_end` tells of the two.
    fn ends_behind(
        self,
        places: &[CallSite],
        is_end: impl FnOnce(&Descriptor, usize) -> bool,
    ) -> bool {
        let (Self::Body(body), Some(last)) = (self, places.last()) else {
            return false;
        };
        last.belongs == Belongs::Waits
            && body.kind().is_some_and(RegionKind::is_parallel)
            && is_end(body, last.construct)
    }

    /// Whether a construct is in the scope, and not in a function inside the scope.
    pub(super) fn holds(self, all: &[Descriptor], number: usize) -> bool {
        let construct = &all[number];
        let innermost = body_around(all, number).map(|number| &all[number]);
        match self {
            Self::Body(body) => {
                // A combined construct is inside its own body.
                std::ptr::eq(body, construct)
                    || innermost.is_some_and(|innermost| std::ptr::eq(innermost, body))
            }
            Self::Function(name) => {
                innermost.is_none()
                    && construct
                        .function
                        .as_deref()
                        .is_some_and(|own| is_same(own, name, ignores_case(&construct.begin.file)))
            }
        }
    }
}

/// The innermost construct around another one that becomes a function of its own. Of the constructs of
/// a combined directive, the outer ones come first.
pub(in super::super) fn body_around(all: &[Descriptor], number: usize) -> Option<usize> {
    let construct = &all[number];
    let place = |of: usize| (all[of].begin.first, all[of].column, of);
    let bodies = (0..all.len()).filter(|other| {
        all[*other].kind().is_some_and(has_function)
            && place(*other) < place(number)
            && construct.end.last <= all[*other].end.last
    });
    bodies.max_by_key(|other| place(*other))
}

/// Whether a source's names of functions are compared without regard to case.
pub(in super::super) fn ignores_case(file: &str) -> bool {
    Source::language_of(Path::new(file)) == Language::Fortran
}

/// Whether two names belong to one function. Either of them may lack the names of its scopes.
pub(in super::super) fn is_same(one: &str, other: &str, ignores_case: bool) -> bool {
    let [one, other] = [one, other].map(|name| name.rsplit("::").next());
    match (one, other) {
        (Some(one), Some(other)) if ignores_case => one.eq_ignore_ascii_case(other),
        (one, other) => one == other,
    }
}
