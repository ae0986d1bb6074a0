//! The table of clauses: where each clause goes when a combined directive is split.
//!
//! The rules are those of the OpenMP specification 5.2, section 17.2 ("Combined and Composite
//! Directives", clauses). If a clause has no row, or the rule of its row can't place it, the
//! directive is not split.

use super::Leaf;
use super::directives::DIRECTIVES;

/// The leaf constructs of a combined directive that a clause goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All leaves that permit it; its argument has no side effect.
    All,
    /// The one leaf that permits it. If several leaves do, its expression would be evaluated
    /// twice, so the directive is not split.
    Only,
    /// The innermost leaf that permits it.
    Innermost,
    /// The innermost leaf that permits it; its list items are shared in the leaves around that.
    InnermostSharedOutside,
    /// The leaf that the directive-name modifier names; without a modifier as `Only`.
    Modified,
    /// The leaf that privatises all of its list items.
    FollowsItems,
}

/// A row of the table.
#[derive(Debug)]
pub struct ClauseRow {
    /// Name in lower case.
    pub name: &'static str,
    /// The leaf constructs that permit it, among those that can be in split directives.
    pub permitted_on: &'static [Leaf],
    /// How it is distributed.
    pub placement: Placement,
    /// Whether its argument is an expression (after modifiers) instead of a list.
    pub expression: bool,
    /// The key of the clause in a region descriptor, if POMP2 has one.
    pub descriptor_key: Option<&'static str>,
}

const fn row(name: &'static str, permitted_on: &'static [Leaf], placement: Placement) -> ClauseRow {
    ClauseRow {
        name,
        permitted_on,
        placement,
        expression: false,
        descriptor_key: None,
    }
}

/// Marks a clause as one that evaluates an expression.
const fn evaluates(row: ClauseRow) -> ClauseRow {
    ClauseRow {
        expression: true,
        ..row
    }
}

const fn keyed(key: &'static str, row: ClauseRow) -> ClauseRow {
    ClauseRow {
        descriptor_key: Some(key),
        ..row
    }
}

use Leaf::{
    GenericLoop, Loop, Masked, Parallel, Scope, Sections, Simd, Single, Taskloop, Workshare,
};
use Placement::{All, FollowsItems, Innermost, InnermostSharedOutside, Modified, Only};

/// The table.
#[rustfmt::skip]
pub const CLAUSES: &[ClauseRow] = &[
    row("aligned", &[Simd], Only),
    row("allocate", &[Parallel, Loop, Sections, Single, Scope, Taskloop], FollowsItems),
    row("bind", &[GenericLoop], Only),
    keyed("hasCollapse", row("collapse", &[Loop, Simd, Taskloop, GenericLoop], All)),
    keyed("hasCopyIn", row("copyin", &[Parallel], Only)),
    keyed("hasCopyPrivate", row("copyprivate", &[Single], Only)),
    keyed("hasDefault", row("default", &[Parallel, Taskloop], All)),
    evaluates(row("filter", &[Masked], Only)),
    evaluates(row("final", &[Taskloop], Only)),
    keyed("hasFirstPrivate", row("firstprivate", &[Parallel, Loop, Sections, Single, Scope, Taskloop], InnermostSharedOutside)),
    evaluates(row("grainsize", &[Taskloop], Only)),
    evaluates(keyed("hasIf", row("if", &[Parallel, Simd, Taskloop], Modified))),
    row("in_reduction", &[Taskloop], Only),
    keyed("hasLastPrivate", row("lastprivate", &[Loop, Sections, Simd, Taskloop, GenericLoop], InnermostSharedOutside)),
    row("linear", &[Loop, Simd], InnermostSharedOutside),
    row("mergeable", &[Taskloop], Only),
    row("message", &[Parallel], Only),
    row("nogroup", &[Taskloop], Only),
    row("nontemporal", &[Simd], Only),
    keyed("hasNowait", row("nowait", &[Loop, Sections, Single, Scope, Workshare], Only)),
    evaluates(row("num_tasks", &[Taskloop], Only)),
    evaluates(keyed("hasNum_threads", row("num_threads", &[Parallel], Only))),
    row("order", &[Loop, Simd, GenericLoop], All),
    keyed("hasOrdered", row("ordered", &[Loop], Only)),
    evaluates(row("priority", &[Taskloop], Only)),
    row("private", &[Parallel, Loop, Sections, Single, Scope, Simd, Taskloop, GenericLoop], Innermost),
    row("proc_bind", &[Parallel], Only),
    keyed("hasReduction", row("reduction", &[Parallel, Loop, Sections, Scope, Simd, Taskloop, GenericLoop], InnermostSharedOutside)),
    row("safelen", &[Simd], Only),
    row("safesync", &[Parallel], Only),
    evaluates(row("schedule", &[Loop], Only)),
    row("severity", &[Parallel], Only),
    keyed("hasShared", row("shared", &[Parallel, Taskloop], All)),
    row("simdlen", &[Simd], Only),
    keyed("hasUntied", row("untied", &[Taskloop], Only)),
];

/// Clauses that are not allowed on a directive with this first leaf construct, although another
/// of its leaves permits them (OpenMP 5.2, 17.3).
#[rustfmt::skip]
pub const FORBIDDEN_BEHIND: &[(Leaf, &str)] = &[
    (Parallel, "in_reduction"),
    (Parallel, "nowait"),
];

/// The data-sharing clauses. No variable may be in two of them, except for one that is both
/// firstprivate and lastprivate (OpenMP 5.2, 5.4). For `nontemporal` only some compilers check
/// that.
#[rustfmt::skip]
pub const DATA_SHARING: &[&str] = &[
    "firstprivate", "in_reduction", "lastprivate", "linear", "nontemporal", "private",
    "reduction", "shared",
];

/// The clauses that may follow the name of an end directive.
pub const AT_THE_END: &[&str] = &["copyprivate", "nowait"];

/// The data-sharing clauses that may list the variable of an associated loop.
pub const OF_LOOP_VARIABLES: &[&str] = &["lastprivate", "linear", "nontemporal", "private"];

/// Names of clauses on directives that are never split; these need no row.
#[rustfmt::skip]
pub const OF_WHOLE: &[&str] = &[
    "absent", "acq_rel", "acquire", "adjust_args", "affinity", "align", "allocator", "append_args",
    "at", "atomic_default_mem_order", "capture", "compare", "contains", "defaultmap", "depend",
    "destroy", "detach", "device", "device_type", "dist_schedule", "doacross", "dynamic_allocators",
    "enter", "exclusive", "fail", "from", "full", "has_device_addr", "hint", "holds", "inbranch",
    "inclusive", "indirect", "init", "initializer", "is_device_ptr", "link", "local", "map", "match",
    "memscope", "no_openmp", "no_openmp_routines", "no_parallelism", "nocontext", "notinbranch",
    "novariants", "num_teams", "otherwise", "partial", "permutation", "read", "relaxed", "release",
    "reverse_offload", "self_maps", "seq_cst", "sizes", "task_reduction", "thread_limit", "threads",
    "threadset", "to", "unified_address", "unified_shared_memory", "uniform", "update", "use",
    "use_device_addr", "use_device_ptr", "uses_allocators", "weak", "when", "write",
];

/// Whether this is the name of a clause, or of a directive whose name is used as a clause.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let directive = || DIRECTIVES.iter().any(|row| row.name == name);
    find(name).is_some() || OF_WHOLE.contains(&name) || directive()
}

/// The row of a clause.
#[must_use]
pub fn find(name: &str) -> Option<&'static ClauseRow> {
    CLAUSES.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lower_case() {
        for (index, row) in CLAUSES.iter().enumerate() {
            assert_eq!(row.name, row.name.to_ascii_lowercase());
            assert!(
                CLAUSES[..index].iter().all(|other| other.name != row.name),
                "{}",
                row.name
            );
            assert!(!row.permitted_on.is_empty());
            assert!(!OF_WHOLE.contains(&row.name), "{}", row.name);
        }
        assert!(OF_WHOLE.is_sorted());
    }
}
