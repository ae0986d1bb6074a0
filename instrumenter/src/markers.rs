//! Line markers instead of `#line`: GCC does not accept `#line` in preprocessed text.

use crate::edit::EditSet;
use crate::plan::{CallEdit, EditedDirective};
use crate::spell::{Group, Speller};

/// A speller for preprocessed text: it replaces each `#line` in another speller's output by a
/// line marker.
pub(crate) struct WithMarkers<'a>(pub(crate) Box<dyn Speller + 'a>);

impl Speller for WithMarkers<'_> {
    fn group(&self, group: &Group<'_>) -> String {
        marked(&self.0.group(group))
    }

    fn directive(&self, edited: &[EditedDirective], edits: &mut EditSet) {
        self.0.directive(edited, edits);
    }

    fn call(&self, call: &CallEdit) -> (String, String) {
        self.0.call(call)
    }

    fn prologue(&self) -> String {
        marked(&self.0.prologue())
    }

    fn epilogue(&self) -> String {
        marked(&self.0.epilogue())
    }
}

fn marked(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines
        .flat_map(|line| match line.strip_prefix("#line ") {
            Some(rest) => ["# ", rest],
            None => ["", line],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn only_line_directives_change() {
        let text = "{ f(\"#line 3\");\n#line 3 \"a.c\"\n#pragma omp barrier\n\n#line 4 \"a.c\"";
        let expected = "{ f(\"#line 3\");\n# 3 \"a.c\"\n#pragma omp barrier\n\n# 4 \"a.c\"";
        assert_eq!(marked(text), expected);
    }
}
