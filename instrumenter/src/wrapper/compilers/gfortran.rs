//! GNU's compiler for Fortran.

use super::{Driver, Family, gcc};
use crate::source::Form;
use crate::wrapper::compilers::flags::Shape::{Flag, Joined, JoinedOrSeparate, Separate};
use crate::wrapper::compilers::flags::{FlagTable, Meaning as M, Row, row};

pub(super) const GFORTRAN: Family = Family {
    name: "gfortran",
    names: &[("gfortran", Driver::Fortran)],
    flags: &FLAGS,
    ..gcc::GCC
};

pub(crate) static FLAGS: FlagTable = FlagTable::new(ROWS, Some(&gcc::FLAGS));

const ROWS: &[Row] = &[
    row("-ffixed-form", Flag, M::SourceForm(Form::Fixed)),
    row("-ffree-form", Flag, M::SourceForm(Form::Free)),
    row("-ffixed-line-length-", Joined, M::LineLength(Form::Fixed)),
    row("-ffree-line-length-", Joined, M::LineLength(Form::Free)),
    row("-cpp", Flag, M::Preprocesses(true)),
    row("-nocpp", Flag, M::Preprocesses(false)),
    // The directory where modules are written. It is also searched for modules.
    row("-J", JoinedOrSeparate, M::Nothing),
    row("-fintrinsic-modules-path", Separate, M::Nothing),
];
