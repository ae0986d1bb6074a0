//! What the clauses of a directive tell of the calls that a compiler makes for it.

use std::collections::BTreeSet;

use profile::descriptor::Descriptor;
use profile::region_kind::RegionKind;

/// Whether the schedule alone distributes a loop's iterations.
pub(super) fn is_static(construct: &Descriptor) -> bool {
    has_schedule(construct, &["static", "auto"])
        && !has(construct, "ordered")
        && !reduces_tasks(construct)
}

/// Whether a loop's schedule is one of these.
fn has_schedule(construct: &Descriptor, kinds: &[&str]) -> bool {
    let schedule = construct.schedule.as_deref().unwrap_or("static");
    let mut words = schedule.split(|c: char| !c.is_alphanumeric());
    words.any(|word| kinds.iter().any(|kind| word.eq_ignore_ascii_case(kind)))
}

/// Whether a compiler may call the entry for this variant of a construct: for a schedule, for a clause, or for
/// none (`""`). A macro may stand for any schedule.
pub(super) fn may_call(construct: &Descriptor, variant: &str) -> bool {
    match (construct.kind(), variant) {
        (Some(RegionKind::Single), "") => !has(construct, "copyprivate"),
        (Some(RegionKind::Taskwait), "") => !has(construct, "depend"),
        (Some(RegionKind::Single | RegionKind::Taskwait), clause) => has(construct, clause),
        (_, schedule) => {
            let known = ["static", "auto", "dynamic", "guided", "runtime"];
            let own: &[&str] = match schedule {
                "static" => &["static", "auto"],
                other => &[other],
            };
            has_schedule(construct, own) || !has_schedule(construct, &known)
        }
    }
}

/// Whether a construct has `reduction(task, ...)`. Its loop is then begun by the runtime.
fn reduces_tasks(construct: &Descriptor) -> bool {
    let directive = construct.directive.as_deref().unwrap_or_default();
    let mut clauses = directive.split("reduction").skip(1);
    clauses.any(|clause| {
        let modifier = clause.trim_start().strip_prefix('(');
        let modifier = modifier.and_then(|words| words.split_once(','));
        modifier.is_some_and(|(word, _)| word.trim().eq_ignore_ascii_case("task"))
    })
}

/// Whether a construct has a reduction with an operator of the user's. Its initial value may be
/// that of the variable.
pub(super) fn reduces_by_own_operator(construct: &Descriptor) -> bool {
    const KNOWN: &[&str] = &[
        "and", "or", "eqv", "neqv", "iand", "ior", "ieor", "min", "max",
    ];
    let directive = construct.directive.as_deref().unwrap_or_default();
    let mut clauses = directive.split("reduction").skip(1);
    clauses.any(|clause| {
        let words = clause.trim_start().strip_prefix('(');
        let operator = words.and_then(|words| words.split(':').next());
        let operator = operator.and_then(|words| words.rsplit(',').next());
        operator.is_some_and(|operator| {
            let word = operator.trim().trim_matches('.').to_ascii_lowercase();
            word.contains(char::is_alphabetic) && !KNOWN.contains(&&*word)
        })
    })
}

/// Whether a construct is an `atomic` that makes more of the memory consistent than its variable. LLVM's
/// compilers call the runtime's `flush` for it.
pub(super) fn flushes(construct: &Descriptor) -> bool {
    const ORDERS: &[&str] = &["acquire", "release", "acq_rel", "seq_cst"];
    let directive = construct.directive.as_deref().unwrap_or_default();
    let mut words = directive.split(|c: char| !c.is_alphanumeric() && c != '_');
    construct.kind() == Some(RegionKind::Atomic)
        && words.any(|word| ORDERS.iter().any(|order| word.eq_ignore_ascii_case(order)))
}

/// Whether a variable is in both a `firstprivate` and a `lastprivate` clause.
pub(super) fn copies_in_and_out(construct: &Descriptor) -> bool {
    let directive = construct.directive.as_deref().unwrap_or_default();
    let directive = directive.to_ascii_lowercase();
    let listed = |clause: &str| -> BTreeSet<String> {
        let clauses = directive.split(clause).skip(1);
        let lists = clauses.filter_map(|text| text.split(')').next());
        let words = lists.flat_map(|list| list.split(|c: char| !c.is_alphanumeric() && c != '_'));
        let words = words.filter(|word| !word.is_empty() && *word != "conditional");
        words.map(str::to_owned).collect()
    };
    !listed("firstprivate").is_disjoint(&listed("lastprivate"))
}

/// Whether a word is one of the directive's name.
pub(super) fn is_named(construct: &Descriptor, word: &str) -> bool {
    let directive = construct.directive.as_deref().unwrap_or_default();
    let name = directive.split('(').next().unwrap_or_default();
    name.split_whitespace()
        .any(|other| other.eq_ignore_ascii_case(word))
}

/// Whether a directive has a clause.
pub(in super::super) fn has(construct: &Descriptor, clause: &str) -> bool {
    let directives = [construct.directive.as_ref(), construct.other.get(END)];
    let texts = directives.into_iter().flatten();
    let mut words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    words.any(|word| word.eq_ignore_ascii_case(clause))
}

/// The key for the end directive of a construct. In Fortran, clauses may stand there.
pub(in super::super) const END: &str = "end";

/// The key of a construct behind which nothing is executed in the parallel region around it.
pub(in super::super) const LAST: &str = "last";

/// The effect of a stand-alone `ordered` directive: it waits for an iteration (`sink`), or
/// reports that one is done (`source`). The runtimes have different entries for these.
pub(super) fn dependence(construct: &Descriptor) -> Option<&'static str> {
    ["sink", "source"]
        .into_iter()
        .find(|which| has(construct, which))
}
