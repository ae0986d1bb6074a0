//! Which text of a source is instrumented: as it is, with included files in place, or as the
//! preprocessor expands it.

pub(crate) mod as_it_is;
pub(crate) mod choose;
pub(crate) mod expanded;
pub(crate) mod fortran_text;
pub(crate) mod headers;
pub(crate) mod substitution;
pub(crate) mod system_headers;
pub(crate) mod undefined_macros;
pub(crate) mod unmeasured;
