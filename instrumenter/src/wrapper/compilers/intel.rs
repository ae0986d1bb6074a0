//! Intel's compilers are Clang with more names for OpenMP.

use super::{Driver, Family, OLD_MAP, Substitution, clang};
use crate::source::Form;
use crate::wrapper::compilers::flags::Shape::{Flag, Joined, Separate};
use crate::wrapper::compilers::flags::{FlagTable, Meaning as M, Row, row};

pub(super) const INTEL: Family = Family {
    name: "Intel",
    names: &[("icx", Driver::C), ("icpx", Driver::Cxx)],
    flags: &FLAGS,
    ..clang::CLANG
};

pub(super) const INTEL_FORTRAN: Family = Family {
    name: "Intel Fortran",
    names: &[("ifx", Driver::Fortran), ("ifort", Driver::Fortran)],
    flags: &FORTRAN_FLAGS,
    substitution: Substitution::TemporaryFile,
    prefix_maps: OLD_MAP,
    colour: None,
    places_includes: None,
    front_end: None,
    ..INTEL
};

pub(crate) static FLAGS: FlagTable = FlagTable::new(ROWS, Some(&clang::FLAGS));

pub(crate) static FORTRAN_FLAGS: FlagTable = FlagTable::new(FORTRAN_ROWS, Some(&FLAGS));

const ROWS: &[Row] = &[
    row("-qopenmp", Flag, M::OpenMp(true)),
    row("-fiopenmp", Flag, M::OpenMp(true)),
    row("-qno-openmp", Flag, M::OpenMp(false)),
    // `-xHost` and its kin name a processor, not a language.
    row("-xC", Joined, M::Nothing),
    row("-xH", Joined, M::Nothing),
    row("-xS", Joined, M::Nothing),
    row("-xA", Joined, M::Nothing),
];

const FORTRAN_ROWS: &[Row] = &[
    row("-openmp", Flag, M::OpenMp(true)),
    row("-fixed", Flag, M::SourceForm(Form::Fixed)),
    row("-free", Flag, M::SourceForm(Form::Free)),
    row("-72", Flag, M::FixedLineLength(72)),
    row("-80", Flag, M::FixedLineLength(80)),
    row("-132", Flag, M::FixedLineLength(132)),
    row("-extend-source", Flag, M::FixedLineLength(132)),
    row("-extend-source:", Joined, M::LineLength(Form::Fixed)),
    row("-fpp", Joined, M::Preprocesses(true)),
    row("-nofpp", Flag, M::Preprocesses(false)),
    row("-cpp", Flag, M::Preprocesses(true)),
    row("-module", Separate, M::Nothing),
];
