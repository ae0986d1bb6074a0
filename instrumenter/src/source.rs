//! A source text and where its lines begin.

use std::collections::BTreeSet;
use std::path::Path;

use crate::openmp::Language;

/// Macros that are known not to be defined where a text is compiled.
pub type UndefinedMacros = BTreeSet<String>;

/// One source text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name that the instrumented text gives in `#line`, in the form that [`crate::names`]
    /// makes. The compiler uses it in diagnostics, debug information and `__FILE__`.
    pub name: String,
    /// The language that it is written in.
    pub language: Language,
    /// The text, any bytes.
    pub text: Vec<u8>,
    /// The layout of Fortran text; ignored for other languages.
    pub layout: Layout,
    /// Undefined macros on which its conditionals depend; empty if nothing is known about them.
    pub undefined: UndefinedMacros,
}

/// The layout of Fortran text in lines (Fortran 2018, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The source form.
    pub form: Form,
    /// The last significant column of a line; none if all columns are significant.
    pub line_length: Option<usize>,
    /// Whether the compiler runs the preprocessor over the text, so that lines
    /// with `#` in column 1 are directives of it.
    pub preprocessed_by_compiler: bool,
}

/// A source form of Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Free form.
    Free,
    /// Fixed form: labels in columns 1 to 5, continuation marks in column 6.
    Fixed,
}

impl Layout {
    /// The layout that compilers assume for free form.
    pub const FREE: Self = Self {
        form: Form::Free,
        line_length: Some(132),
        preprocessed_by_compiler: false,
    };
    /// The layout that compilers assume for fixed form.
    pub const FIXED: Self = Self {
        form: Form::Fixed,
        line_length: Some(72),
        preprocessed_by_compiler: false,
    };

    /// The same layout in a form, with the line length that compilers assume for it.
    #[must_use]
    pub fn in_form(self, form: Form) -> Self {
        let assumed = match form {
            Form::Free => Self::FREE,
            Form::Fixed => Self::FIXED,
        };
        Self {
            preprocessed_by_compiler: self.preprocessed_by_compiler,
            ..assumed
        }
    }
}

/// Fortran extensions that imply fixed form, in lower case. For the same extensions in upper
/// case the compiler preprocesses first.
const FIXED_FORM: &[&str] = &["f", "for", "ftn", "f77", "fpp"];

/// Languages by file name extension, as compilers read them; anything else is C.
#[rustfmt::skip]
const EXTENSIONS: &[(Language, &[&str])] = &[
    (Language::Cxx, &[
        "C", "cc", "cp", "cpp", "cxx", "c++", "CPP", "ii", "H", "hh", "hp", "hpp", "hxx", "h++", "tcc",
    ]),
    (Language::Fortran, &[
        "f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "F", "FOR", "FTN", "F77", "F90", "F95", "F03", "F08",
        "fpp", "FPP",
    ]),
];

impl Source {
    /// The language that a file's name implies.
    #[must_use]
    pub fn language_of(path: &Path) -> Language {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let row = EXTENSIONS
            .iter()
            .find(|(_, names)| extension.is_some_and(|extension| names.contains(&extension)));
        row.map_or(Language::C, |(language, _)| *language)
    }

    /// The layout that a file's name implies.
    #[must_use]
    pub fn layout_of(path: &Path) -> Layout {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let extension = extension.unwrap_or_default();
        let fixed = FIXED_FORM.contains(&extension.to_ascii_lowercase().as_str());
        Layout {
            preprocessed_by_compiler: extension.starts_with('F') || extension == "fpp",
            ..if fixed { Layout::FIXED } else { Layout::FREE }
        }
    }
}

/// The byte offsets at which physical lines begin.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes a text; lines end with `\n`.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text);
        Self {
            starts: std::iter::once(0)
                .chain(newlines.map(|at| at + 1))
                .collect(),
        }
    }

    /// The physical line of a byte, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// The column of a byte within its physical line, in bytes from 1.
    #[must_use]
    pub fn column(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line.saturating_sub(1)];
        u32::try_from(offset - start + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let index = LineIndex::new(b"ab\n\ncd");
        assert_eq!((index.line(0), index.column(1)), (1, 2));
        assert_eq!((index.line(2), index.line(3), index.line(4)), (1, 2, 3));
        assert_eq!((index.line(6), index.column(6)), (3, 3));
    }
}
