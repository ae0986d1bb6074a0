//! LLVM's Fortran compiler. Its command line follows GNU's and Clang's.

use super::{Driver, Family, gfortran};
use crate::source::Form;
use crate::wrapper::compilers::flags::Shape::{Flag, Joined, Separate};
use crate::wrapper::compilers::flags::{FlagTable, Meaning as M, Row, row};

/// Flang takes no flags about warnings and no flags that map file names.
pub(super) const FLANG: Family = Family {
    name: "Flang",
    names: &[("flang", Driver::Fortran), ("flang-new", Driver::Fortran)],
    flags: &FLAGS,
    prefix_maps: &[],
    colour: Some("-fcolor-diagnostics"),
    whole_statements: true,
    shows_file: false,
    pipe: None,
    check: Some("-fsyntax-only"),
    moves_line_macro: true,
    ..gfortran::GFORTRAN
};

pub(crate) static FLAGS: FlagTable = FlagTable::new(ROWS, Some(&gfortran::FLAGS));

const ROWS: &[Row] = &[
    row("-ffixed-line-length=", Joined, M::LineLength(Form::Fixed)),
    row("-Mfixed", Flag, M::SourceForm(Form::Fixed)),
    row("-Mfree", Joined, M::SourceForm(Form::Free)),
    row("-Mextend", Flag, M::FixedLineLength(132)),
    row("-module-dir", Separate, M::Nothing),
    row("-fopenmp=", Joined, M::OpenMp(true)),
    row("-Xflang", Separate, M::FrontEnd),
    row("-mllvm", Separate, M::Nothing),
    row("-target", Separate, M::Nothing),
    row("-fcolor-diagnostics", Flag, M::Colour),
    row("-fno-color-diagnostics", Flag, M::Colour),
];
