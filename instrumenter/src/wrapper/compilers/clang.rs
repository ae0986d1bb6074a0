//! Clang understands GCC's flags and adds its own.

use super::{Driver, Family, NO_REMARKS, Substitution, gcc};
use crate::wrapper::compilers::flags::Shape::{Flag, Joined, JoinedOrSeparate, Separate};
use crate::wrapper::compilers::flags::{FlagTable, Meaning as M, Row, row};

pub(super) const CLANG: Family = Family {
    name: "Clang",
    names: &[("clang", Driver::C), ("clang++", Driver::Cxx)],
    flags: &FLAGS,
    substitution: Substitution::RemapFile,
    no_remarks: NO_REMARKS,
    shows_file: false,
    places_includes: Some("-frewrite-includes"),
    pipe: None,
    front_end: Some("-fsyntax-only"),
    ..gcc::GCC
};

pub(crate) static FLAGS: FlagTable = FlagTable::new(ROWS, Some(&gcc::FLAGS));

const ROWS: &[Row] = &[
    row("-cc1", Joined, M::Query),
    row("--autocomplete=", Joined, M::Query),
    row("--analyze", Flag, M::StopsBeforeCompiling),
    row("-verify-pch", Flag, M::StopsBeforeCompiling),
    row("-emit-ast", Flag, M::StopsBeforeCompiling),
    row("-fopenmp=", Joined, M::OpenMp(true)),
    row("-Xclang", Separate, M::FrontEnd),
    row("-Xanalyzer", Separate, M::Nothing),
    row("-Xopenmp-target", Separate, M::Nothing),
    row("-Xopenmp-target=", Separate, M::Nothing),
    row("-mllvm", Separate, M::Nothing),
    row("-target", Separate, M::Nothing),
    row("-mthread-model", Separate, M::Nothing),
    row("-gcc-toolchain", Separate, M::Nothing),
    row("--config", Separate, M::Nothing),
    row("-ivfsoverlay", JoinedOrSeparate, M::Nothing),
    row("-working-directory", Separate, M::Nothing),
    row("-include-pch", Separate, M::Nothing),
    row("-iframework", JoinedOrSeparate, M::Nothing),
    row("-F", JoinedOrSeparate, M::Nothing),
    row("-cxx-isystem", JoinedOrSeparate, M::IncludeDirectory),
    row("-serialize-diagnostics", Separate, M::Nothing),
    row("--serialize-diagnostics", Separate, M::Nothing),
    row("-MJ", JoinedOrSeparate, M::CompilationDatabase),
    row("-fcolor-diagnostics", Flag, M::Colour),
    row("-fno-color-diagnostics", Flag, M::Colour),
    row("-install_name", Separate, M::Linker),
    row("-dynamiclib", Flag, M::Shared),
];
