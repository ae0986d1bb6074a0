//! The names of regions: numbers, places, and file names short enough to read. A label is
//! always safe to show, whatever names the source contains (see [`crate::printable`]).

use std::collections::{HashMap, HashSet};

use crate::model::Region;
use crate::printable::printable;
use crate::region_kind::RegionKind;

/// The names of one region.
#[derive(Clone, Debug)]
pub struct Label {
    /// ompP's number, `R00001` for the first.
    pub id: String,
    /// Its kind.
    pub kind: RegionKind,
    /// The full file name. For a function whose source is not known, the name of the program or
    /// library.
    pub file: String,
    /// The shortest end of the file name that distinguishes it from the other files.
    pub short_file: String,
    /// Whether the construct is only known to be near its lines.
    pub near: bool,
    /// First line; 0 if it is not known.
    pub first: u32,
    /// Last line; the same as the first for a construct that is a single directive.
    pub last: u32,
    /// The column, if another construct of the same kind begins on the same line.
    pub column: Option<u32>,
    /// The name of a critical section or user region as written; for a lock, the call.
    pub name: Option<String>,
    /// Enclosing function.
    pub function: Option<String>,
    /// Where its code begins in the program or library, if nothing else tells it from others there.
    pub offset: Option<u64>,
}

impl Label {
    /// `file (first-last)`, with the short file name, and the column where another construct of
    /// that kind begins on that line.
    #[must_use]
    pub fn location(&self) -> String {
        let Self {
            short_file,
            first,
            last,
            ..
        } = self;
        let column = self.column.map(|column| format!(":{column}"));
        let column = column.unwrap_or_default();
        if *first == 0 {
            self.in_module()
        } else if self.near {
            format!("{short_file} (near {first}{column})")
        } else if first == last {
            format!("{short_file} ({first}{column})")
        } else {
            format!("{short_file} ({first}{column}-{last})")
        }
    }

    /// `CRITICAL "stack" at a.c:15`, as in a sentence; `TASK in solve` if no line is known.
    #[must_use]
    pub fn in_words(&self) -> String {
        let name = self
            .name
            .as_ref()
            .map(|name| format!(" \"{name}\""))
            .unwrap_or_default();
        let kind = self.kind.row().full_name;
        match self.first {
            0 => {
                let place = self.function.clone().unwrap_or_else(|| self.in_module());
                format!("{kind}{name} in {place}")
            }
            line => {
                let column = self.column.map(|column| format!(":{column}"));
                let column = column.unwrap_or_default();
                let at = if self.near { "near" } else { "at" };
                format!("{kind}{name} {at} {}:{line}{column}", self.short_file)
            }
        }
    }

    /// `libm.so.6+0x1f40`: the program or library, and where the code is, if that is all that is known.
    fn in_module(&self) -> String {
        let offset = self.offset.map(|offset| format!("+{offset:#x}"));
        self.short_file.clone() + &offset.unwrap_or_default()
    }

    /// ` (in f)`, or nothing if the function is not known.
    #[must_use]
    pub fn in_function(&self) -> String {
        let function = self.function.as_ref();
        function
            .map(|name| format!(" (in {name})"))
            .unwrap_or_default()
    }

    /// [`Self::in_words`] and the function.
    #[must_use]
    pub(crate) fn in_words_and_function(&self) -> String {
        let words = self.in_words();
        let function = self.in_function_after(&words);
        words + &function
    }

    /// As [`Self::in_function`] if the words end with this region's name, and that does not name the function;
    /// else nothing.
    #[must_use]
    pub(crate) fn in_function_after(&self, words: &str) -> String {
        match self.first != 0 && words.ends_with(&self.in_words()) {
            true => self.in_function(),
            false => String::new(),
        }
    }

    /// The name in quotes; `(unnamed)` for a critical section without a name.
    #[must_use]
    pub fn shown_name(&self) -> Option<String> {
        match (&self.name, self.kind) {
            (Some(name), _) => Some(format!("\"{name}\"")),
            (None, RegionKind::Critical) => Some("(unnamed)".to_owned()),
            (None, _) => None,
        }
    }
}

/// Names all regions.
pub(crate) fn labels(regions: &[Region]) -> Vec<Label> {
    let short = short_names(regions.iter().map(file));
    // A header that is included twice has each construct twice, at the same column.
    let mut first: HashMap<_, u32> = HashMap::new();
    let mut differ: HashSet<_> = HashSet::new();
    for region in regions {
        if *first.entry(line(region)).or_insert(region.column) != region.column {
            differ.insert(line(region));
        }
    }
    let regions = regions.iter().enumerate();
    let labels = regions.map(|(index, region)| Label {
        column: Some(region.column).filter(|_| region.column > 0 && differ.contains(&line(region))),
        ..label(index, region, &short)
    });
    labels.collect()
}

/// The facts by which a reader tells regions apart if no column is shown.
fn line(region: &Region) -> (RegionKind, &str, u32, Option<&str>) {
    let name = region.name.as_deref();
    (region.kind, &region.file, region.begin[0], name)
}

fn label(index: usize, region: &Region, short: &HashMap<&str, String>) -> Label {
    Label {
        id: format!("R{:05}", index + 1),
        kind: region.kind,
        file: printable(file(region)).into_owned(),
        short_file: short
            .get(file(region))
            .map_or_else(|| printable(file(region)), |name| printable(name))
            .into_owned(),
        first: region.begin[0],
        last: if region.kind.is_point() {
            region.begin[0]
        } else {
            region.end[1].max(region.begin[0])
        },
        near: region.near,
        column: None,
        name: shown(call(region).or(region.name.as_ref())),
        function: shown(region.function.as_ref()),
        offset: region
            .code
            .as_ref()
            .filter(|_| region.begin[0] == 0 && region.function.is_none())
            .map(|code| code.offset),
    }
}

/// The call of a lock routine, if its text names the lock.
fn call(region: &Region) -> Option<&String> {
    let text = region.directive.as_ref();
    text.filter(|text| region.kind == RegionKind::Lock && text.contains('('))
}

/// A name on one line; each sequence of blanks and line ends becomes one blank.
fn shown(name: Option<&String>) -> Option<String> {
    let words: Vec<&str> = name?.split_whitespace().collect();
    (!words.is_empty()).then(|| printable(&words.join(" ")).into_owned())
}

/// The source file, or else the file with the machine code.
fn file(region: &Region) -> &str {
    match &region.code {
        Some(code) if region.file.is_empty() => &code.module,
        _ => &region.file,
    }
}

/// For each file, the shortest end of its path, in whole components, that no other file shares.
fn short_names<'f>(files: impl Iterator<Item = &'f str>) -> HashMap<&'f str, String> {
    let mut short = HashMap::new();
    let mut open: Vec<&str> = files.collect();
    open.sort_unstable();
    open.dedup();
    let mut components = 1;
    while !open.is_empty() {
        let mut uses: HashMap<&str, u32> = HashMap::new();
        for file in &open {
            *uses.entry(ending(file, components)).or_default() += 1;
        }
        open.retain(|&file| {
            let ending = ending(file, components);
            let is_settled = uses.get(ending) == Some(&1) || ending == file;
            if is_settled {
                short.insert(file, ending.to_owned());
            }
            !is_settled
        });
        components += 1;
    }
    short
}

/// The given number of components at the end of a path.
fn ending(file: &str, components: usize) -> &str {
    match file.rmatch_indices('/').nth(components - 1) {
        Some((slash, _)) => &file[slash + 1..],
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_a_kind_on_a_line_are_told_apart_by_column() {
        let region = |line, column| Region {
            file: "a.c".to_owned(),
            begin: [line, line],
            end: [line, line],
            column,
            ..Region::of_kind(RegionKind::Loop)
        };
        let labels = labels(&[region(3, 5), region(3, 40), region(4, 5)]);
        let words: Vec<String> = labels.iter().map(Label::in_words).collect();
        assert_eq!(
            words,
            ["LOOP at a.c:3:5", "LOOP at a.c:3:40", "LOOP at a.c:4"]
        );
        let places: Vec<String> = labels.iter().map(Label::location).collect();
        assert_eq!(places, ["a.c (3:5)", "a.c (3:40)", "a.c (4)"]);
    }

    #[test]
    fn names_stand_on_one_line() {
        let of = |name: &str| shown(Some(&name.to_owned()));
        assert_eq!(of("A<int,\n  3>::f").as_deref(), Some("A<int, 3>::f"));
        assert_eq!(
            of("omp_set_lock(&a[\n\ti])").as_deref(),
            Some("omp_set_lock(&a[ i])")
        );
        assert_eq!(of(" \n"), None);
    }

    #[test]
    fn file_names_are_as_short_as_they_can_be() {
        let files = [
            "/home/u/p/src/main.c",
            "/home/u/p/a/x.c",
            "/home/u/p/b/x.c",
            "x.c",
        ];
        let short = short_names(files.into_iter());
        let shown: Vec<&str> = files.iter().map(|file| short[file].as_str()).collect();
        assert_eq!(shown, ["main.c", "a/x.c", "b/x.c", "x.c"]);
    }
}
