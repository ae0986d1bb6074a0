//! Splitting a combined directive: each clause to the leaf construct that the
//! specification gives it to. The rules stand in the clause table.

use std::ops::Range;

use crate::openmp::clauses::Placement;
use crate::openmp::{Clause, Directive, Leaf};

/// A combined directive as two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// The bytes of the first directive that go: the second's name and clauses.
    pub(super) removed: Vec<Range<usize>>,
    /// What must be said to be shared on the first.
    pub(super) shared: Vec<String>,
    /// Name of the second.
    pub(super) name: String,
    /// Clauses of the second.
    pub(super) clauses: Vec<String>,
}

/// Splits behind the outermost leaf.
///
/// # Errors
/// The reason, if a clause can't be placed.
pub(super) fn split(directive: &Directive) -> Result<Split, String> {
    let leaves: Vec<Leaf> = directive.leaves().collect();
    let mut split = Split {
        removed: directive.name_ranges[1..].to_vec(),
        shared: Vec::new(),
        name: directive.rows[1..]
            .iter()
            .map(|row| row.name)
            .collect::<Vec<_>>()
            .join(" "),
        clauses: Vec::new(),
    };
    for clause in &directive.clauses {
        let cannot = || format!("the clause {} can't be split off", clause.text());
        if leaf_of(clause, directive, &leaves).ok_or_else(cannot)? == 0 {
            continue;
        }
        split.removed.push(clause.range.clone());
        split.removed.extend(clause.comma.clone());
        split.clauses.push(clause.text());
        // Without the clause `default` they are shared anyway.
        if shared_outside(clause) && directive.clause("default").is_some() {
            let items = clause.list_items().ok_or_else(cannot)?;
            split.shared.extend(items.into_iter().map(str::to_owned));
        }
    }
    split.shared.sort();
    split.shared.dedup();
    Ok(split)
}

fn shared_outside(clause: &Clause) -> bool {
    clause
        .row
        .is_some_and(|row| row.placement == Placement::InnermostSharedOutside)
}

/// The index of the leaf that a clause goes to; none if it can't be placed.
fn leaf_of(clause: &Clause, directive: &Directive, leaves: &[Leaf]) -> Option<usize> {
    let row = clause.row?;
    let mut permitted = leaves
        .iter()
        .enumerate()
        .filter(|(_, leaf)| row.permitted_on.contains(leaf));
    match row.placement {
        Placement::Innermost | Placement::InnermostSharedOutside => {
            permitted.next_back().map(first)
        }
        Placement::All | Placement::Only => single(permitted.map(first)),
        Placement::Modified => match clause.modifier() {
            Some(modifier) => directive.rows.iter().position(|row| row.name == modifier),
            None => single(permitted.by_ref().map(first)),
        },
        Placement::FollowsItems => follows_items(clause, directive, leaves),
    }
}

/// The leaf that privatises every list item of a clause.
fn follows_items(clause: &Clause, directive: &Directive, leaves: &[Leaf]) -> Option<usize> {
    let leaf_of_item = |item: &&str| {
        let mut privatising = directive.clauses.iter().filter(|other| {
            let privatises = matches!(
                other.name.as_str(),
                "private" | "firstprivate" | "lastprivate" | "linear" | "reduction"
            );
            privatises && other.list_items().is_some_and(|items| items.contains(item))
        });
        leaf_of(privatising.next()?, directive, leaves)
    };
    let items = clause.list_items()?;
    let targets: Option<Vec<usize>> = items.iter().map(leaf_of_item).collect();
    let targets = targets?;
    targets
        .iter()
        .all(|target| *target == targets[0])
        .then(|| targets[0])
}

fn first<T>((index, _): (usize, T)) -> usize {
    index
}

fn single(mut indices: impl Iterator<Item = usize>) -> Option<usize> {
    indices.next().filter(|_| indices.next().is_none())
}
