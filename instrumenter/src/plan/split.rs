//! Splits a combined directive: each clause goes to the leaf construct that the specification
//! assigns it to. The rules are in the clause table.

use std::ops::Range;

use crate::find::Traits;
use crate::openmp::clauses::{self, Placement};
use crate::openmp::recipes::SPLIT_BEHIND;
use crate::openmp::{Clause, Directive, Leaf};

/// A combined directive, split into several.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// The bytes to remove from the directive: names and clauses of the other parts.
    pub(super) removed: Vec<Range<usize>>,
    /// The variables that the first part must list as shared.
    pub(super) shared: Vec<String>,
    /// The other parts, outermost first.
    pub(super) rest: Vec<Unit>,
}

/// A part of a split directive, behind the first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its outermost leaf construct, which determines how it is measured.
    pub(super) leaf: Leaf,
    /// Its name.
    pub(super) name: String,
    /// The number of rows in its name.
    pub(super) rows: usize,
    /// Its clauses.
    pub(super) clauses: Vec<String>,
}

/// None if the directive has only one part. An error is the reason why the directive can't be
/// split.
pub(super) type SplitResult = Result<Option<Split>, String>;

/// Splits a directive. `loop_variables` are the variables of the loops that it governs.
///
/// A compiler may accept the parts of a directive that it would reject as a whole. Where that
/// may happen, the directive is not split, so that the compiler reports the error.
pub(super) fn split(
    directive: &Directive,
    loop_variables: &[String],
    traits: Traits,
) -> SplitResult {
    let units = units(directive);
    if units.len() == 1 {
        return Ok(None);
    }
    let reason = forbidden_reason(directive)
        .or_else(|| sharing_reason(directive, loop_variables, traits))
        .or_else(|| loop_variable_reason(directive))
        .or_else(|| scan_reason(directive))
        .or_else(|| schedule_reason(directive))
        .or_else(|| lastprivate_reason(directive, traits))
        .or_else(|| binding_reason(directive));
    if let Some(reason) = reason {
        return Err(reason);
    }
    let mut split = Split {
        removed: directive.name_ranges[units[0].end..].to_vec(),
        shared: Vec::new(),
        rest: units[1..]
            .iter()
            .map(|rows| unit(directive, rows))
            .collect(),
    };
    // The comma behind the last clause that stays; some compilers want a clause behind each
    // comma.
    let mut last_comma = &directive.comma;
    for clause in &directive.clauses {
        let cannot = || format!("the clause {} can't be split off", clause.text());
        let targets = targets(clause, directive, &units, traits).ok_or_else(cannot)?;
        for target in targets.iter().filter(|target| **target > 0) {
            split.rest[target - 1].clauses.push(clause.text());
        }
        if targets.contains(&0) {
            last_comma = &clause.comma;
            continue;
        }
        if let Some(name) = falls_under_default(clause, directive, traits) {
            return Err(format!(
                "{name} in {} would fall under default",
                clause.text()
            ));
        }
        split.removed.push(clause.range.clone());
        split.removed.extend(clause.comma.clone());
        // Without `default`, these variables are shared anyway, by the rules of most languages.
        let unsaid = traits.private_by_rule || directive.clause("default").is_some();
        let looked_at = shared_outside(clause) && unsaid;
        let looked_at = looked_at || takes_its_shape(clause, directive, traits);
        if looked_at && says_what_is_shared(directive, &units[0]) {
            let items = clause.list_items().ok_or_else(cannot)?;
            split.shared.extend(items.into_iter().map(str::to_owned));
        }
    }
    split.removed.extend(last_comma.clone());
    split
        .shared
        .sort_by_cached_key(|item| (item.to_ascii_lowercase(), item.clone()));
    split.shared.dedup_by(|a, b| traits.same_name(a, b));
    Ok(Some(split))
}

/// Returns a reason if a clause is not allowed on a directive with this first leaf.
fn forbidden_reason(directive: &Directive) -> Option<String> {
    let first = directive.leaves().next()?;
    let is_forbidden = |clause: &&Clause| {
        let mut forbidden = clauses::FORBIDDEN_BEHIND.iter();
        forbidden.any(|(leaf, name)| *leaf == first && *name == clause.name)
    };
    let is_misplaced = |clause: &&Clause| {
        let name = clause.name.as_str();
        clause.range.start > directive.range.end && !clauses::AT_THE_END.contains(&name)
    };
    let mut all = directive.clauses.iter();
    let clause = all.find(|clause| is_forbidden(clause) || is_misplaced(clause))?;
    Some(format!("the clause {} may not be there", clause.text()))
}

/// Returns a reason if the data-sharing clauses contradict each other about a variable.
fn sharing_reason(
    directive: &Directive,
    loop_variables: &[String],
    traits: Traits,
) -> Option<String> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for clause in &directive.clauses {
        let name = clause.name.as_str();
        if !clauses::DATA_SHARING.contains(&name) {
            continue;
        }
        let of_loops = clauses::OF_LOOP_VARIABLES.contains(&name);
        for item in clause.list_items().unwrap_or_default() {
            let is_loop_variable = |variable: &String| traits.same_name(variable, item);
            if !of_loops && loop_variables.iter().any(is_loop_variable) {
                return Some(format!("{} lists the loop variable", clause.text()));
            }
            let other = seen
                .iter()
                .find(|(other, seen)| traits.same_name(seen, item) && !go_together(other, name));
            if other.is_some() {
                return Some(format!("{item} is listed twice"));
            }
            seen.push((name, item));
        }
    }
    None
}

/// Whether a variable may be in both of these clauses.
fn go_together(one: &str, other: &str) -> bool {
    matches!(
        (one, other),
        ("firstprivate", "lastprivate") | ("lastprivate", "firstprivate")
    )
}

/// Returns a reason if a loop variable is copied back. The loop variable of a simd or loop
/// construct goes back to the variable outside. In the combined directive it is not a variable
/// of the `parallel`. In split directives it is, and `default` may forbid or privatise it.
fn loop_variable_reason(directive: &Directive) -> Option<String> {
    let goes_back = directive.has_leaf(Leaf::Simd) || directive.has_leaf(Leaf::GenericLoop);
    let default = directive.clause("default")?;
    (goes_back && !default.says("shared"))
        .then(|| format!("the loop variable would fall under {}", default.text()))
}

/// Returns a reason if the schedule has side effects. Compilers evaluate the schedule of a
/// combined directive once, but that of a separate loop directive in every thread.
fn schedule_reason(directive: &Directive) -> Option<String> {
    let clause = directive.clause("schedule")?;
    let reason = || format!("every thread would evaluate {}", clause.text());
    clause.may_have_side_effect().then(reason)
}

/// Returns a reason if a lastprivate variable may be allocatable in a `sections` construct.
/// gfortran allocates private copies with the shape of the outside variables. For a combined
/// directive it reads the shape when the team begins; for a separate `sections`, when that
/// begins. At that time the thread with the last section may already be copying its variables
/// back.
fn lastprivate_reason(directive: &Directive, traits: Traits) -> Option<String> {
    let allocatable = traits.allocates_as_outside && directive.has_leaf(Leaf::Sections);
    let clause = directive.clause("lastprivate").filter(|_| allocatable)?;
    Some(format!("{} may be of allocatable variables", clause.text()))
}

/// Returns a reason if the loop binds to something else than the team. A separate loop
/// directive would have to name that in a clause.
fn binding_reason(directive: &Directive) -> Option<String> {
    let clause = directive.clause("bind")?;
    let reason = || format!("{} ties the loop to what is around its team", clause.text());
    (!clause.says("parallel")).then(reason)
}

/// Returns a name in the expression of a split-off clause that `default` may affect. In the
/// combined directive the expression is evaluated outside the team. In a part behind the first
/// it is evaluated inside, where `default` may forbid or privatise the name.
fn falls_under_default<'d>(
    clause: &'d Clause,
    directive: &Directive,
    traits: Traits,
) -> Option<&'d str> {
    if directive.clause("default")?.says("shared") {
        return None;
    }
    let named = directive.clauses.iter().filter(|other| {
        // The split makes variables that other clauses list explicitly shared.
        other.name == "shared" || shared_outside(other)
    });
    let listed: Vec<&str> = named.filter_map(Clause::list_items).flatten().collect();
    let mut names = clause.names_in_expressions().into_iter();
    names.find(|name| !listed.iter().any(|item| traits.same_name(item, name)))
}

/// Whether the first part permits a `shared` clause.
fn says_what_is_shared(directive: &Directive, first: &Range<usize>) -> bool {
    let shared = clauses::find("shared").map_or(&[][..], |row| row.permitted_on);
    directive.rows[first.clone()]
        .iter()
        .any(|row| shared.contains(&row.leaf))
}

/// Returns a reason if the loop is a scan: Clang up to at least 19 computes it wrongly if the
/// loop and its team are separate directives.
fn scan_reason(directive: &Directive) -> Option<String> {
    let inscan = |clause: &Clause| clause.name == "reduction" && clause.has_modifier("inscan");
    let scans = directive.clauses.iter().any(inscan);
    scans.then(|| "not every compiler takes its scan apart from its team".into())
}

/// The rows of each part that a combined directive is split into.
fn units(directive: &Directive) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut from = 0;
    for (at, row) in directive.rows.iter().enumerate() {
        let last = at + 1 == directive.rows.len();
        // A directive is split only behind certain leaf constructs.
        if last || (SPLIT_BEHIND.contains(&row.leaf) && at == from) {
            units.push(from..at + 1);
            from = at + 1;
        }
    }
    units
}

fn unit(directive: &Directive, rows: &Range<usize>) -> Unit {
    let rows = &directive.rows[rows.clone()];
    Unit {
        leaf: rows[0].leaf,
        name: rows
            .iter()
            .map(|row| row.name)
            .collect::<Vec<_>>()
            .join(" "),
        rows: rows.len(),
        clauses: Vec::new(),
    }
}

/// Whether a private variable may get the shape of the outside variable. gfortran does this for
/// allocatable variables, and a directive does not show which variables are allocatable.
fn takes_its_shape(clause: &Clause, directive: &Directive, traits: Traits) -> bool {
    let default = directive.clause("default");
    traits.allocates_as_outside
        && clause.name == "private"
        && default.is_some_and(|default| !default.says("shared"))
}

fn shared_outside(clause: &Clause) -> bool {
    clause
        .row
        .is_some_and(|row| row.placement == Placement::InnermostSharedOutside)
}

/// The parts that a clause goes to; none if it can't be placed.
fn targets(
    clause: &Clause,
    directive: &Directive,
    units: &[Range<usize>],
    traits: Traits,
) -> Option<Vec<usize>> {
    let row = clause.row?;
    // A task reduction is allowed only on teams and worksharing constructs.
    if clause.has_modifier("task") && directive.has_leaf(Leaf::Taskloop) {
        return None;
    }
    let unit_of = |at: usize| units.iter().position(|rows| rows.contains(&at));
    let leaves = directive.leaves().enumerate();
    let mut permitted: Vec<usize> = leaves
        .filter(|(_, leaf)| row.permitted_on.contains(leaf))
        .filter_map(|(at, _)| unit_of(at))
        .collect();
    permitted.dedup();
    match row.placement {
        Placement::All => Some(permitted),
        Placement::Only => single(permitted),
        Placement::Innermost | Placement::InnermostSharedOutside => {
            permitted.pop().map(|unit| vec![unit])
        }
        Placement::Modified => match clause.modifier() {
            Some(modifier) => {
                let mut rows = directive.rows.iter();
                let named = rows.position(|row| row.name.eq_ignore_ascii_case(modifier));
                named.and_then(unit_of).map(|unit| vec![unit])
            }
            None => single(permitted),
        },
        Placement::FollowsItems => follows_items(clause, directive, units, traits)
            .filter(|targets| targets.iter().all(|target| permitted.contains(target))),
    }
    .filter(|targets| !targets.is_empty())
}

/// The part that privatises every list item of a clause.
fn follows_items(
    clause: &Clause,
    directive: &Directive,
    units: &[Range<usize>],
    traits: Traits,
) -> Option<Vec<usize>> {
    let unit_of_item = |item: &&str| {
        let mut privatising = directive.clauses.iter().filter(|other| {
            let privatises = matches!(
                other.name.as_str(),
                "private" | "firstprivate" | "lastprivate" | "linear" | "reduction"
            );
            let lists = |items: Vec<&str>| items.iter().any(|other| traits.same_name(other, item));
            privatises && other.list_items().is_some_and(lists)
        });
        targets(privatising.next()?, directive, units, traits)
    };
    let items = clause.list_items()?;
    let mut targets: Vec<Vec<usize>> = items.iter().map(unit_of_item).collect::<Option<_>>()?;
    targets.dedup();
    single(targets).map(|mut one| one.remove(0))
}

fn single<T>(items: Vec<T>) -> Option<Vec<T>> {
    Some(items).filter(|items| items.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmp::Language;
    use crate::openmp::directives::DIRECTIVES;
    use crate::openmp::parse::{parse, tests::words};

    /// The directives that a text is split into; the first without its own text.
    fn parts(text: &str) -> Result<Vec<String>, String> {
        parts_in(Language::C, text)
    }

    fn parts_in(language: Language, text: &str) -> Result<Vec<String>, String> {
        let directive = parse(&words(text), DIRECTIVES, language).unwrap();
        let traits = Traits {
            folds_case: language == Language::Fortran,
            ..Traits::default()
        };
        let split = split(&directive, &[], traits)?.expect("it is a single unit");
        let mut first = text.to_owned();
        for range in split.removed.iter().rev() {
            first.replace_range(range.clone(), &" ".repeat(range.len()));
        }
        first.push_str(&format!(" shared({})", split.shared.join(",")));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let rest = split
            .rest
            .iter()
            .map(|unit| format!("{} {}", unit.name, unit.clauses.join(" ")));
        Ok(std::iter::once(first)
            .chain(rest)
            .map(|part| words(&part))
            .collect())
    }

    /// Combined directives, each with its parts.
    const SPLIT: &[(&str, &[&str])] = &[
        (
            "parallel for num_threads(2) schedule(static, 4) private(a) reduction(+: s)",
            &[
                "parallel num_threads(2) shared()",
                "for schedule(static, 4) private(a) reduction(+: s)",
            ],
        ),
        (
            "parallel for default(none) shared(v) lastprivate(x) firstprivate(x, y)",
            &[
                "parallel default(none) shared(v) shared(x,y)",
                "for lastprivate(x) firstprivate(x, y)",
            ],
        ),
        (
            "parallel for simd if(parallel: c) if(simd: d) collapse(2) safelen(4)",
            &[
                "parallel if(parallel: c) shared()",
                "for simd if(simd: d) collapse(2) safelen(4)",
            ],
        ),
        (
            "parallel for num_threads(strict: f(), 2) order(concurrent)",
            &[
                "parallel num_threads(strict: f(), 2) shared()",
                "for order(concurrent)",
            ],
        ),
        (
            "parallel masked taskloop simd filter(1) grainsize(3) num_threads(2) simdlen(2)",
            &[
                "parallel num_threads(2) shared()",
                "masked filter(1)",
                "taskloop simd grainsize(3) simdlen(2)",
            ],
        ),
        (
            "parallel for schedule(dynamic, (a)*(b) + CHUNK(n == 2 ? sizeof(x) : 1))",
            &[
                "parallel shared()",
                "for schedule(dynamic, (a)*(b) + CHUNK(n == 2 ? sizeof(x) : 1))",
            ],
        ),
        (
            "parallel for default(none) shared(n) firstprivate(c) schedule(dynamic, c + n * N)",
            &[
                "parallel default(none) shared(n) shared(c)",
                "for firstprivate(c) schedule(dynamic, c + n * N)",
            ],
        ),
        (
            "masked taskloop default(none) shared(n) firstprivate(x)",
            &[
                "masked shared()",
                "taskloop default(none) shared(n) firstprivate(x)",
            ],
        ),
        (
            "parallel for, if(c), num_threads(2), schedule(static), private(a)",
            &[
                "parallel , if(c), num_threads(2) shared()",
                "for schedule(static) private(a)",
            ],
        ),
        (
            "masked taskloop, grainsize(3), filter(1), nogroup",
            &[
                "masked , filter(1) shared()",
                "taskloop grainsize(3) nogroup",
            ],
        ),
        (
            "parallel for, schedule(static)",
            &["parallel shared()", "for schedule(static)"],
        ),
        (
            "parallel for allocate(a: x) firstprivate(x)",
            &["parallel shared()", "for allocate(a: x) firstprivate(x)"],
        ),
    ];

    #[test]
    fn clauses_go_where_the_specification_sends_them() {
        for (text, expected) in SPLIT {
            let expected: Vec<String> = expected.iter().map(|part| (*part).to_owned()).collect();
            assert_eq!(parts(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_can_not_be_placed_keeps_the_directive_whole() {
        for text in [
            "parallel for vendor(3)",
            "parallel for simd if(f(x))",
            "parallel for default(none) reduction(+: *p)",
            "parallel for allocate(x)",
            "parallel for simd default(none)",
            "parallel for reduction(inscan, +: x)",
            "parallel for schedule(dynamic, f(2))",
            "parallel for schedule(dynamic, n++)",
            "parallel for schedule(dynamic, n = 3)",
            "parallel for default(none) shared(a) schedule(dynamic, n)",
            "parallel for default(private) schedule(dynamic, n)",
            "parallel for default(none) shared(a) reduction(+: a[0:n])",
            "parallel masked taskloop default(none) filter(n)",
            "parallel masked taskloop reduction(task, +: x)",
            "parallel loop bind(teams)",
            "parallel loop private(x) allocate(x)",
        ] {
            assert!(parts(text).is_err(), "{text}");
        }
    }

    #[test]
    fn composite_constructs_are_one() {
        for text in [
            "for simd",
            "distribute parallel for simd",
            "target parallel for",
            "teams loop",
        ] {
            let directive = parse(&words(text), DIRECTIVES, Language::C).unwrap();
            assert_eq!(
                split(&directive, &[], Traits::default()),
                Ok(None),
                "{text}"
            );
        }
    }

    #[test]
    fn case_tells_names_apart_in_c_only() {
        for (text, expected) in [
            (
                "PARALLEL DO DEFAULT(SHARED) SCHEDULE(DYNAMIC, N)",
                [
                    "PARALLEL DEFAULT(SHARED) shared()",
                    "do SCHEDULE(DYNAMIC, N)",
                ],
            ),
            (
                "parallel do default(None) Shared(N) lastprivate(X) firstprivate(x) schedule(static, n)",
                [
                    "parallel default(None) Shared(N) shared(X)",
                    "do lastprivate(X) firstprivate(x) schedule(static, n)",
                ],
            ),
            (
                "PARALLEL DO IF(PARALLEL: N) PRIVATE(A) ALLOCATE(a)",
                [
                    "PARALLEL IF(PARALLEL: N) shared()",
                    "do PRIVATE(A) ALLOCATE(a)",
                ],
            ),
        ] {
            assert_eq!(
                parts_in(Language::Fortran, text).unwrap(),
                expected,
                "{text}"
            );
        }
        for text in [
            "PARALLEL DO DEFAULT(NONE) SHARED(A) SCHEDULE(DYNAMIC, N)",
            "PARALLEL DO SCHEDULE(DYNAMIC, F(2))",
            "PARALLEL DO SIMD DEFAULT(NONE)",
        ] {
            assert!(parts_in(Language::Fortran, text).is_err(), "{text}");
        }
        assert!(parts("parallel for default(none) shared(N) schedule(static, n)").is_err());
    }
}
