//! Values computed from the counters of each region and thread: by the user's formulas
//! (`ROMP_EVAL`, like ompP's evaluators), and by a few formulas that are always applied.

use super::tables::Table;
use crate::columns::Quantity;
use crate::counters::{EXEC_COUNT, EXEC_TIME, Formula};
use crate::model::Profile;

/// Formulas that are shown whenever the counters that they need were counted.
const USUAL: &[&str] = &[
    "instructions/cycle=instructions/cycles",
    "GHz=cycles/task-clock",
    "cache-misses/kinstr=1000*cache-misses/instructions",
    "branch-miss-share=branch-misses/branches",
    "cpu-share=task-clock/1000000000/execT",
];

/// The formulas of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formulas {
    formulas: Vec<Formula>,
    counters: Vec<String>,
    /// The errors in the user's formulas, one sentence each.
    pub problems: Vec<String>,
}

/// The values of all formulas; none for a formula that divides by zero.
pub type Derived = Vec<Option<f64>>;

impl Formulas {
    /// The formulas for a profile; there are none if nothing was counted.
    pub(super) fn new(profile: &Profile) -> Self {
        let run = &profile.run;
        let mut formulas = Self {
            counters: run.counters.clone(),
            ..Self::default()
        };
        if run.counters.is_empty() && run.formulas.is_empty() {
            return formulas;
        }
        let mut known: Vec<&str> = run.counters.iter().map(String::as_str).collect();
        known.extend([EXEC_TIME, EXEC_COUNT]);
        let usual = USUAL
            .iter()
            .filter_map(|text| Formula::parse(text, &known).ok());
        formulas.formulas.extend(usual);
        for text in &run.formulas {
            match Formula::parse(text, &known) {
                Ok(formula) => formulas.formulas.push(formula),
                Err(error) => formulas.problems.push(error.to_string()),
            }
        }
        formulas
    }

    /// The names of the values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.formulas.iter().map(|formula| formula.name.as_str())
    }

    /// Whether there is anything to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.formulas.is_empty()
    }

    /// The values for a row of a table, or for its sum.
    #[must_use]
    pub fn values(&self, table: &Table, cells: &[u64]) -> Derived {
        let cell = |quantity| {
            let column = table.column(quantity);
            column
                .and_then(|column| cells.get(column))
                .map_or(0.0, |cell| *cell as f64)
        };
        let of = |name: &str| match self.counters.iter().position(|counter| counter == name) {
            Some(index) => cell(Quantity::Counter(index)),
            None if name == EXEC_TIME => cell(Quantity::ExecTime) / 1e9,
            None => cell(Quantity::ExecCount),
        };
        let formulas = self.formulas.iter();
        formulas.map(|formula| formula.value(of)).collect()
    }
}
