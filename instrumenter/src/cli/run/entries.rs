//! The entries of the OpenMP runtimes by the kind of the regions that they begin.

use profile::region_kind::RegionKind as K;

/// Functions of the runtimes that implement a region of this kind and may be called as the last
/// act of a function. `routine` is the routine of a lock.
pub(super) fn entries(kind: K, routine: Option<&str>) -> Vec<&str> {
    match kind {
        K::Parallel => vec!["__kmpc_fork_call"],
        K::Barrier => vec![
            "GOMP_barrier",
            "GOMP_barrier_cancel",
            "__kmpc_barrier",
            "__kmpc_cancel_barrier",
        ],
        K::Taskwait => vec!["GOMP_taskwait", "__kmpc_omp_taskwait"],
        K::Taskyield => vec!["GOMP_taskyield", "__kmpc_omp_taskyield"],
        K::Task | K::UntiedTask => vec!["__kmpc_omp_task", "__kmpc_omp_task_with_deps"],
        K::Lock => routine.into_iter().collect(),
        _ => Vec::new(),
    }
}

/// How a runtime's entries tell calls of a kind apart.
#[derive(Debug)]
struct Variant {
    kind: K,
    /// The schedule of a loop, the clause that the directive has, or `""` if it has none of those.
    name: &'static str,
    entry_begin: &'static str,
    entry_end: &'static str,
}

const fn variant(
    kind: K,
    name: &'static str,
    [entry_begin, entry_end]: [&'static str; 2],
) -> Variant {
    Variant {
        kind,
        name,
        entry_begin,
        entry_end,
    }
}

/// Entries of GCC's runtime that serve only some directives of a kind. For some loops the schedule is an
/// argument of the entry.
const VARIANTS: &[Variant] = &[
    variant(K::Loop, "static", ["GOMP_loop_", "static_start"]),
    variant(K::Loop, "dynamic", ["GOMP_loop_", "dynamic_start"]),
    variant(K::Loop, "guided", ["GOMP_loop_", "guided_start"]),
    variant(K::Loop, "runtime", ["GOMP_loop_", "runtime_start"]),
    variant(K::Single, "copyprivate", ["", "GOMP_single_copy_start"]),
    variant(K::Single, "", ["", "GOMP_single_start"]),
    variant(K::Taskwait, "depend", ["", "GOMP_taskwait_depend"]),
    variant(K::Taskwait, "", ["", "GOMP_taskwait"]),
];

/// Whether the name of an entry begins and ends like this.
fn is_between(entry: &str, begin: &str, end: &str) -> bool {
    let rest = entry.strip_prefix(begin);
    rest.is_some_and(|rest| rest.ends_with(end))
}

/// What an entry of GCC's runtime tells of the directive of a kind: the name of a [`Variant`].
pub(super) fn variant_of(kind: K, entry: &str) -> Option<&'static str> {
    let mut variants = VARIANTS.iter().filter(|it| it.kind == kind);
    let found = variants.find(|it| is_between(entry, it.entry_begin, it.entry_end));
    found.map(|it| it.name)
}

/// Whether an entry of GCC's runtime is called where regions of a kind begin. `name` is the name of
/// a critical section, what an `ordered` directive does, or the name of a [`Variant`]. None for a kind whose
/// calls are not told apart by their order.
pub(super) fn gnu_entry(kind: K, name: Option<&str>) -> Option<impl Fn(&str) -> bool> {
    let mut variants = VARIANTS.iter();
    let variant = variants.find(|it| it.kind == kind && Some(it.name) == name);
    let (begin, end) = match variant {
        Some(variant) => (variant.entry_begin, variant.entry_end),
        None => gnu_entries(kind, name)?,
    };
    Some(move |entry: &str| is_between(entry, begin, end))
}

/// How the names begin and end of all entries of GCC's runtime that are called where regions of a kind begin.
fn gnu_entries(kind: K, name: Option<&str>) -> Option<(&'static str, &'static str)> {
    Some(match (kind, name) {
        (K::Barrier, _) => ("GOMP_barrier", ""),
        (K::Single, _) => ("GOMP_single_", "start"),
        (K::Loop, _) => ("GOMP_loop_", "start"),
        (K::Sections, _) => ("GOMP_sections", "_start"),
        (K::Critical, None) => ("GOMP_critical_start", ""),
        (K::Critical, Some(_)) => ("GOMP_critical_name_start", ""),
        (K::Ordered, None) => ("GOMP_ordered_start", ""),
        (K::Ordered, Some("sink")) => ("GOMP_doacross_", "wait"),
        (K::Ordered, Some(_)) => ("GOMP_doacross_", "post"),
        (K::Taskgroup, _) => ("GOMP_taskgroup_start", ""),
        (K::Taskwait, _) => ("GOMP_taskwait", ""),
        (K::Taskyield, _) => ("GOMP_taskyield", ""),
        (K::CancellationPoint, _) => ("GOMP_cancellation_point", ""),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_kind_are_those_where_its_regions_begin() {
        let is = |kind, name, entry| gnu_entry(kind, name).is_some_and(|is_it| is_it(entry));
        assert!(is(K::Loop, None, "GOMP_loop_ull_guided_start"));
        assert!(!is(K::Loop, None, "GOMP_loop_dynamic_next"));
        assert!(is(K::Critical, None, "GOMP_critical_start"));
        assert!(!is(K::Critical, None, "GOMP_critical_name_start"));
        assert!(is(K::Critical, Some("a"), "GOMP_critical_name_start"));
        assert!(is(K::Ordered, Some("sink"), "GOMP_doacross_ull_wait"));
        assert!(is(K::Ordered, Some("sink"), "GOMP_doacross_wait"));
        assert!(is(K::Ordered, Some("source"), "GOMP_doacross_post"));
        assert!(!is(K::Ordered, None, "GOMP_doacross_ull_wait"));
        assert!(is(
            K::Loop,
            Some("guided"),
            "GOMP_loop_ull_nonmonotonic_guided_start"
        ));
        assert!(!is(K::Loop, Some("guided"), "GOMP_loop_dynamic_start"));
        assert!(!is(K::Taskwait, Some(""), "GOMP_taskwait_depend"));
        // The user makes these calls.
        assert!(gnu_entry(K::Lock, Some("omp_set_lock")).is_none());
    }

    #[test]
    fn an_entry_tells_what_its_directive_has() {
        let ordered = "GOMP_loop_ordered_static_start";
        assert_eq!(variant_of(K::Loop, ordered), Some("static"));
        assert_eq!(variant_of(K::Loop, "GOMP_loop_doacross_start"), None);
        let copies = "GOMP_single_copy_start";
        assert_eq!(variant_of(K::Single, copies), Some("copyprivate"));
        assert_eq!(variant_of(K::Single, "GOMP_single_start"), Some(""));
        assert_eq!(variant_of(K::Barrier, "GOMP_barrier"), None);
    }
}
