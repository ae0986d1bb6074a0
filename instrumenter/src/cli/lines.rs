//! The layout of a Fortran source's lines, where its name does not tell it.

use clap::{Args, ValueEnum};

use crate::Source;
use crate::openmp::Language;
use crate::source;

/// Form and line length of Fortran sources.
#[derive(Debug, Args)]
pub(super) struct Lines {
    /// The form of Fortran sources, where the file's name does not say it
    #[arg(long)]
    form: Option<Form>,
    /// The columns of a Fortran line that count, 0 for all (72 in fixed form, 132 in free form
    /// by default)
    #[arg(long, value_name = "COLUMNS")]
    line_length: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// Free form
    Free,
    /// Fixed form
    Fixed,
}

impl Lines {
    /// Lays out a source as asked for. A source with a given form is taken for Fortran.
    pub(super) fn lay_out(&self, source: &mut Source) {
        if let Some(form) = self.form {
            source.language = Language::Fortran;
            source.layout = source.layout.in_form(match form {
                Form::Free => source::Form::Free,
                Form::Fixed => source::Form::Fixed,
            });
        }
        if let Some(columns) = self.line_length {
            source.layout.line_length = Some(columns).filter(|columns| *columns > 0);
        }
    }
}
