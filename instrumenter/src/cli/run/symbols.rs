//! The names of functions of the machine code, and the parts of the source from which they were made.

/// A part of the source from which functions were made: its name, and a number that distinguishes it from others
/// with this name.
pub(super) type Part = (String, u64);

/// Part of the names of functions that GNU's compilers make from bodies.
pub(super) const GNU_BODY: &str = "._omp_fn.";

/// The part of the source from which a function was made: a function of the user's, or the body of
/// a construct.
pub(super) fn made_from(name: &str) -> String {
    match name.split_once(GNU_BODY) {
        Some((function, number)) => {
            let number = number.split('.').next().unwrap_or_default();
            format!("{function}{GNU_BODY}{number}")
        }
        None => of_user(name).to_owned(),
    }
}

/// The symbol of the user's function from which a function was made.
pub(super) fn of_user(name: &str) -> &str {
    let name = name.split("._omp_fn").next().unwrap_or_default();
    let name = name.split(".omp_outlined").next().unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}
