//! NVIDIA's compilers.

use super::{Driver, Family, NO_REMARKS, OLD_MAP, gcc};
use crate::source::Form;
use crate::wrapper::compilers::flags::Shape::{Flag, Joined, JoinedOrSeparate, Separate};
use crate::wrapper::compilers::flags::{FlagTable, Meaning as M, Row, row};

pub(super) const NVIDIA: Family = Family {
    name: "NVIDIA",
    names: &[("nvc", Driver::C), ("nvc++", Driver::Cxx)],
    flags: &FLAGS,
    prefix_maps: OLD_MAP,
    colour: None,
    no_remarks: NO_REMARKS,
    shows_file: false,
    pipe: None,
    ..gcc::GCC
};

pub(super) const NVIDIA_FORTRAN: Family = Family {
    name: "NVIDIA Fortran",
    names: &[
        ("nvfortran", Driver::Fortran),
        ("pgfortran", Driver::Fortran),
    ],
    flags: &FORTRAN_FLAGS,
    ..NVIDIA
};

pub(crate) static FLAGS: FlagTable = FlagTable::new(ROWS, Some(&gcc::FLAGS));

pub(crate) static FORTRAN_FLAGS: FlagTable = FlagTable::new(FORTRAN_ROWS, Some(&FLAGS));

const ROWS: &[Row] = &[
    row("-mp", Flag, M::OpenMp(true)),
    row("-mp=", Joined, M::OpenMp(true)),
    row("-nomp", Flag, M::OpenMp(false)),
];

const FORTRAN_ROWS: &[Row] = &[
    row("-Mfixed", Flag, M::SourceForm(Form::Fixed)),
    row("-Mfree", Joined, M::SourceForm(Form::Free)),
    row("-Mextend", Flag, M::FixedLineLength(132)),
    row("-Mpreprocess", Flag, M::Preprocesses(true)),
    row("-cpp", Flag, M::Preprocesses(true)),
    row("-module", Separate, M::Nothing),
    row("-J", JoinedOrSeparate, M::Nothing),
];
