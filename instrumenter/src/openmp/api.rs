//! The OpenMP routines whose calls are redirected to wrappers with the call site (OpenMP 5.2,
//! section 18.9, "Lock Routines").

/// A row: a routine and its replacement.
#[derive(Debug)]
pub struct RoutineRow {
    /// Name of the OpenMP routine.
    pub name: &'static str,
    /// Name of the POMP function, without its prefix; it takes the region
    /// descriptor in front of the routine's own arguments.
    pub wrapper: &'static str,
    /// C type of the result.
    pub result: &'static str,
    /// C types of the routine's own parameters.
    pub parameters: &'static str,
}

impl RoutineRow {
    /// For a routine that takes a hint: the routine that does the same without one. POMP2 has
    /// no function with a hint: no library defines the functions to which OPARI2 redirects such
    /// calls.
    pub(crate) fn without_hint(&self) -> Option<&'static str> {
        self.name.strip_suffix("_with_hint")
    }
}

const fn row(
    name: &'static str,
    wrapper: &'static str,
    result: &'static str,
    parameters: &'static str,
) -> RoutineRow {
    RoutineRow {
        name,
        wrapper,
        result,
        parameters,
    }
}

/// The routines.
#[rustfmt::skip]
pub const ROUTINES: &[RoutineRow] = &[
    row("omp_init_lock", "Init_lock_at", "void", "void *"),
    row("omp_init_lock_with_hint", "Init_lock_with_hint_at", "void", "void *, int"),
    row("omp_destroy_lock", "Destroy_lock_at", "void", "void *"),
    row("omp_set_lock", "Set_lock_at", "void", "void *"),
    row("omp_unset_lock", "Unset_lock_at", "void", "void *"),
    row("omp_test_lock", "Test_lock_at", "int", "void *"),
    row("omp_init_nest_lock", "Init_nest_lock_at", "void", "void *"),
    row("omp_init_nest_lock_with_hint", "Init_nest_lock_with_hint_at", "void", "void *, int"),
    row("omp_destroy_nest_lock", "Destroy_nest_lock_at", "void", "void *"),
    row("omp_set_nest_lock", "Set_nest_lock_at", "void", "void *"),
    row("omp_unset_nest_lock", "Unset_nest_lock_at", "void", "void *"),
    row("omp_test_nest_lock", "Test_nest_lock_at", "int", "void *"),
];

/// The row of a routine.
#[must_use]
pub fn find(name: &str) -> Option<&'static RoutineRow> {
    ROUTINES.iter().find(|row| row.name == name)
}
