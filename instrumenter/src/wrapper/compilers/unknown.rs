//! Compilers whose names don't say what they are, such as `mpicc`.

use super::{BOTH_MAPS, Driver, Family, Substitution, clang, flang, gcc};

/// The flags of Clang include those of GCC, and both take a temporary file.
pub(super) const UNKNOWN: Family = Family {
    name: NAME,
    names: &[
        ("cc", Driver::C),
        ("c++", Driver::Cxx),
        ("mpicc", Driver::C),
        ("mpicxx", Driver::Cxx),
        ("mpic++", Driver::Cxx),
        ("mpiCC", Driver::Cxx),
    ],
    substitution: Substitution::TemporaryFile,
    places_includes: None,
    front_end: None,
    ..clang::CLANG
};

/// Most imitate the command line of GNU's compiler, but some are Flang, which takes no flags
/// about warnings.
pub(super) const UNKNOWN_FORTRAN: Family = Family {
    name: NAME,
    names: &[
        ("f77", Driver::Fortran),
        ("f95", Driver::Fortran),
        ("ftn", Driver::Fortran),
        ("mpifort", Driver::Fortran),
        ("mpif90", Driver::Fortran),
        ("mpif77", Driver::Fortran),
    ],
    prefix_maps: BOTH_MAPS,
    colour: gcc::COLOUR,
    whole_statements: false,
    ..flang::FLANG
};

/// The name of both families.
pub(super) const NAME: &str = "unknown";
