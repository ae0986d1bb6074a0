//! Reads the constructs of the sources that debug information names, with our own parser.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use profile::descriptor::Descriptor;
use profile::functions;
use profile::region_kind::RegionKind;

use crate::find::{Expanded, MadeByMacros, front_end};
use crate::openmp::Language;
use crate::plan::Decision;
use crate::{Options, Source, instrument_read};

use super::align::{
    END, LAST, body_around, has, has_function, ignores_case, is_measured_as, is_same, may_be_of,
};
use super::branches::{Branch, Compiled, Kept, branches, is_kept, without_known_conditionals};
use super::headers::{self, Folders};
use super::module::Frame;
use super::wanted::ASKS_FOR_NUMBER;

/// The constructs of a source, in its order.
#[derive(Debug, Default)]
pub(super) struct Constructs {
    pub(super) all: Vec<Descriptor>,
    /// The functions in which there may be more constructs, such as those that macros make. None
    /// stands for any function.
    more: BTreeSet<Option<String>>,
    /// The numbers of the constructs that the preprocessor may have left out.
    optional: BTreeSet<usize>,
    /// The directives of macros of which the words are known, and where these macros are used.
    made: MadeByMacros,
    /// The branches of each `#if` that has a construct in one of them: the preprocessor keeps one.
    branches: Vec<Branch>,
    /// The places of the constructs whose bodies stand in the source several times, by line and column.
    pub(super) repeated: BTreeSet<(u32, u32)>,
    /// The lines where the user asks for the thread's number, as the head of a loop does.
    pub(super) asking: BTreeSet<u32>,
    /// Whether names of functions are compared without regard to case.
    pub(super) ignores_case: bool,
    /// The name of the main program, if its symbol is another one.
    main: Option<String>,
}

/// Sources that were read.
#[derive(Debug, Default)]
pub(super) struct Sources {
    read: HashMap<String, Rc<Constructs>>,
    /// When the latest of the modules was built that were made from the sources.
    built: Option<SystemTime>,
    /// The sources that have changed since.
    changed: BTreeSet<String>,
    /// Where headers may be, besides the folder of the source that includes them.
    folders: Folders,
}

/// When a file was changed last.
pub(super) fn time_of_change(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

impl Sources {
    /// Looks for headers in more folders, from now on.
    pub(super) fn look_in(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.folders.extend(folders);
    }

    /// Notes when a module that was made from the sources was built.
    pub(super) fn note_module(&mut self, module: &Path) {
        self.built = self.built.max(time_of_change(module));
    }

    /// A note on the sources that have changed since the program was built, if there are any.
    pub(super) fn note_on_changed(&self) -> Option<String> {
        let files: Vec<&str> = self.changed.iter().map(String::as_str).collect();
        (!files.is_empty()).then(|| {
            format!(
                "these sources have changed since the program was built, and their lines may have moved: {}; \
                 build the program again",
                files.join(", ")
            )
        })
    }

    /// The constructs of a source; empty if the source does not exist, or is another one than that from
    /// which the program was built.
    pub(super) fn of(&mut self, file: &str) -> Rc<Constructs> {
        if let Some(known) = self.read.get(file) {
            return Rc::clone(known);
        }
        let is_changed = self.built.is_some() && time_of_change(Path::new(file)) > self.built;
        let read = match is_changed {
            true => None,
            false => read(file, &self.folders),
        };
        let read = Rc::new(read.unwrap_or_default());
        if is_changed {
            self.changed.insert(file.to_owned());
        }
        self.read.insert(file.to_owned(), Rc::clone(&read));
        read
    }

    /// Gives the main program of Fortran, which has the same symbol in all programs, the name that it
    /// has in its source.
    pub(super) fn name_main(&mut self, frames: &mut [Frame]) {
        for frame in frames {
            if frame.user == functions::MAIN_PROGRAM
                && let Some(name) = &self.of(&frame.file).main
            {
                frame.user.clone_from(name);
            }
        }
    }

    /// Whether the preprocessor may leave constructs of a source out.
    pub(super) fn has_branches(&mut self, file: &str) -> bool {
        !self.of(file).branches.is_empty()
    }

    /// Removes the constructs that the preprocessor has left out.
    pub(super) fn remove_left_out(&mut self, compiled: &BTreeMap<String, Compiled>) {
        for (file, compiled) in compiled {
            if let Some(known) = self.read.get_mut(file).and_then(Rc::get_mut) {
                known.remove_left_out(compiled);
            }
        }
    }
}

impl Constructs {
    /// Whether calls of a kind may belong to constructs of just this function.
    pub(super) fn may_have(&self, kind: RegionKind, function: &str) -> bool {
        let constructs = self.all.iter().filter(|one| may_be_of(kind, one));
        let known = constructs.filter_map(|one| one.function.as_ref());
        let more = self.more.iter().chain(&self.made.functions);
        let mut functions = known.chain(more.flatten());
        functions.any(|of| is_same(of, function, self.ignores_case))
    }

    /// Whether there may be more constructs in a function that make calls of a kind. None is a function
    /// that is not known.
    pub(super) fn may_be_more(&self, kind: RegionKind, function: Option<&str>) -> bool {
        let is_it = |more: &Option<String>| may_be_in(more.as_deref(), function, self.ignores_case);
        let words = self.made.words.iter().flatten();
        let may_make = words.into_iter().any(|word| may_call(word, kind));
        self.more.iter().any(is_it) || may_make && self.made.functions.iter().any(is_it)
    }

    /// The constructs in a function that make calls of a kind, and that the preprocessor may have left
    /// out. None is a function that is not known.
    pub(super) fn optional(
        &self,
        kind: Option<RegionKind>,
        function: Option<&str>,
    ) -> impl Iterator<Item = usize> {
        let ignores_case = self.ignores_case;
        let is_its = move |construct: &Descriptor| {
            may_be_in(construct.function.as_deref(), function, ignores_case)
                && kind.is_none_or(|kind| may_call_for(construct, kind))
        };
        let optional = self.optional.iter().copied();
        optional.filter(move |number| is_its(&self.all[*number]))
    }

    /// Removes constructs that the preprocessor has left out, and notes those of which nothing shows
    /// whether it has.
    fn remove_left_out(&mut self, compiled: &Compiled) {
        let Self {
            all,
            optional,
            branches,
            ..
        } = self;
        let was_optional = std::mem::take(optional);
        let mut number_before = 0;
        let mut number = 0;
        all.retain(|construct| {
            let kept = is_kept(construct, branches, compiled);
            let is_optional = kept == Kept::Unknown || was_optional.contains(&number_before);
            number_before += 1;
            if kept == Kept::No {
                return false;
            }
            if is_optional {
                optional.insert(number);
            }
            number += 1;
            true
        });
    }
}

/// Whether a directive that contains a word may make calls that are measured as a kind. A combined
/// directive contains the words of all its parts, and the caller asks about each.
fn may_call(word: &str, kind: RegionKind) -> bool {
    use RegionKind as K;
    let words: &[&str] = match kind {
        K::Parallel | K::ParallelLoop | K::ParallelSections | K::ParallelWorkshare => &["parallel"],
        K::Barrier => &["barrier", "for", "single", "sections", "scope", "loop"],
        K::Single => &["single"],
        K::Critical => &["critical"],
        K::Taskgroup => &["taskgroup"],
        K::Taskwait => &["taskwait"],
        K::Taskyield => &["taskyield"],
        K::Task | K::UntiedTask => &["task"],
        K::TaskExec | K::UntiedTaskExec => &["task", "taskloop"],
        K::Target => &["target"],
        _ => return true,
    };
    words.contains(&word)
}

/// Whether something in one function may be in another one. None is a function that is not known.
fn may_be_in(own: Option<&str>, function: Option<&str>, ignores_case: bool) -> bool {
    match (own, function) {
        (Some(own), Some(function)) => is_same(own, function, ignores_case),
        _ => true,
    }
}

/// Whether a construct may make calls that are measured as a kind, or changes whose calls those are: the
/// body of some constructs is a function of its own.
fn may_call_for(construct: &Descriptor, kind: RegionKind) -> bool {
    let is_region = construct.kind().is_none_or(has_function);
    is_region
        || kind == RegionKind::Barrier
        || kind == RegionKind::Atomic && has(construct, "reduction")
        || is_measured_as(kind, construct)
}

/// The places of the constructs whose bodies stand in a source several times, but for blanks.
fn repeated(source: &str, all: &[Descriptor]) -> BTreeSet<(u32, u32)> {
    let lines: Vec<String> = source
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let mut places: HashMap<&[String], Vec<(u32, u32)>> = HashMap::new();
    for construct in all {
        let body = construct.begin.last as usize..construct.end.last as usize;
        if let Some(body) = lines.get(body) {
            let place = (construct.begin.first, construct.column);
            places.entry(body).or_default().push(place);
        }
    }
    let several = places.into_values().filter(|places| places.len() > 1);
    several.flatten().collect()
}

/// The lines of a source that ask for the thread's number.
fn asking(source: &str) -> BTreeSet<u32> {
    let lines = (1..).zip(source.lines());
    let asking = lines.filter(|(_, line)| line.to_ascii_lowercase().contains(ASKS_FOR_NUMBER));
    asking.map(|(number, _)| number).collect()
}

/// Notes the end directives of constructs, which may have clauses such as `nowait`.
fn note_ends(source: &str, all: &mut [Descriptor]) {
    let lines: Vec<&str> = source.lines().collect();
    for construct in all {
        let (first, last) = (construct.end.first as usize, construct.end.last as usize);
        let end = lines.get(first.saturating_sub(1)..last).unwrap_or_default();
        // A comment for all but OpenMP.
        let is_directive = |line: &&str| line.trim_start().get(1..).is_some_and(is_sentinel);
        if construct.end != construct.begin && end.first().is_some_and(is_directive) {
            construct.other.insert(END.to_owned(), end.join(" "));
        }
    }
}

/// Notes the constructs behind which only ends of statements follow in the parallel region around them, if no
/// `else` stands in front of them. GNU's compilers may leave out their barriers.
fn note_last(source: &str, all: &mut [Descriptor], language: Language) {
    let lines: Vec<&str> = source.lines().collect();
    let bodies = (0..all.len()).filter(|body| {
        let kind = all[*body].kind();
        kind.is_some_and(RegionKind::is_parallel)
    });
    let last: Vec<usize> = bodies
        .filter_map(|body| last_of(&lines, all, body, language))
        .collect();
    for number in last {
        all[number].other.insert(LAST.to_owned(), String::new());
    }
}

/// The construct with which a parallel region ends, if there is one.
fn last_of(lines: &[&str], all: &[Descriptor], body: usize, language: Language) -> Option<usize> {
    let region = &all[body];
    let ends_within = |other: &usize| all[*other].end.last <= region.end.last;
    let behind = all.partition_point(|other| other.begin.first <= region.end.last);
    let inside = || (body + 1..behind).filter(ends_within);
    let last = inside().max_by_key(|other| (all[*other].end.last, std::cmp::Reverse(*other)))?;
    let construct = &all[last];
    let end = match language {
        Language::Fortran => region.end.first,
        _ => region.end.last,
    };
    let between = lines.get(construct.end.last as usize..end as usize - 1)?;
    // A compiler may make one call of those in two branches.
    let ends = inside().map(|other| all[other].end.last);
    let before = ends.filter(|end| *end < construct.begin.first).max();
    let before = before.unwrap_or(region.begin.last);
    let in_front = lines.get(before as usize..construct.begin.first as usize - 1)?;
    let has_else = |line: &&str| line.to_ascii_lowercase().contains("else");
    let is_last = between.iter().all(|line| only_closes(line, language))
        && !in_front.iter().any(has_else)
        && body_around(all, last) == Some(body);
    is_last.then_some(last)
}

/// Whether a line is empty, or only ends blocks: in Fortran those of `if`, in C those of any statement.
fn only_closes(line: &str, language: Language) -> bool {
    let line = line.trim_start();
    if language != Language::Fortran {
        let code = line.split("//").next().unwrap_or_default();
        return code.chars().all(|char| char == '}' || char.is_whitespace());
    }
    let is_comment = line.starts_with('!') && !is_sentinel(&line[1..]);
    let code = line
        .split('!')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let words: String = code.split_whitespace().collect();
    is_comment || line.is_empty() || words.starts_with("endif")
}

/// Whether a line of Fortran goes on as a directive does, behind the mark of a comment.
fn is_sentinel(line: &str) -> bool {
    line.get(..4)
        .is_some_and(|word| word.eq_ignore_ascii_case("$omp"))
}

fn read(file: &str, folders: &Folders) -> Option<Constructs> {
    let mut original = super::super::read_source(Path::new(file)).ok()?;
    if let Some(text) = without_known_conditionals(&String::from_utf8_lossy(&original.text)) {
        original.text = text.into_bytes();
    }
    let (mut included, are_all) = headers::included_by(Path::new(file), folders);
    for header in &mut included {
        if let Some(text) = without_known_conditionals(&String::from_utf8_lossy(header)) {
            *header = text.into_bytes();
        }
    }
    let reading = front_end(original.language).read(&original);
    let (text, optional_lines) = match reading.without_preprocessor(&included) {
        Some(Expanded { text, optional }) => (Some(text), optional),
        None => (None, BTreeSet::new()),
    };
    let expanded = text.map(|text| Source {
        text,
        ..original.clone()
    });
    let (source, reading) = match &expanded {
        Some(source) => (source, front_end(source.language).read(source)),
        None => (&original, reading),
    };
    // What was measured ran on the host.
    let options = Options {
        host_only: true,
        ..Options::default()
    };
    let result = instrument_read(&*reading, source, &options);
    let mut made = reading.made_by_macros(&included);
    let mut more = BTreeSet::new();
    if !are_all {
        more.insert(None);
    }
    // Debug information names the functions of lambdas in another way.
    if source.language == Language::Cxx && !made.functions.is_empty() {
        made.functions.insert(None);
    }
    if made.words.is_none() {
        more.append(&mut made.functions);
    }
    // A directive that can't be measured in the source makes calls all the same.
    let mut listed = result.plan.listing.iter();
    if listed.any(|one| matches!(one.outcome, Decision::LeftAlone { .. })) {
        more.insert(None);
    }
    let regions = result.plan.regions.into_iter();
    let mut all: Vec<Descriptor> = regions.map(|region| region.descriptor).collect();
    all.sort_by_key(|descriptor| (descriptor.begin.first, descriptor.column));
    let text = String::from_utf8_lossy(&source.text);
    if source.language == Language::Fortran {
        note_ends(&text, &mut all);
    }
    note_last(&text, &mut all, source.language);
    let branches = branches(&text, &all);
    Some(Constructs {
        repeated: repeated(&text, &all),
        asking: asking(&text),
        ignores_case: ignores_case(file),
        optional: (0..all.len())
            .filter(|number| optional_lines.contains(&all[*number].begin.first))
            .collect(),
        all,
        more,
        made,
        branches,
        main: reading.main_program(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constructs of a file with this name and text.
    fn constructs_in(folder: &tempfile::TempDir, name: &str, text: &str) -> Constructs {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path.to_string_lossy(), &Folders::default()).unwrap()
    }

    /// So do macros of headers, in the source's folder or in another one that is known. Those of a
    /// header that is not there may be used anywhere.
    #[test]
    fn macros_of_headers_make_constructs_where_they_are_used() {
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let text = "#include \"outer.h\"\nvoid f(void) { Q }\nvoid g(void) { }\n";
        let path = folder.path().join("a.c");
        std::fs::write(&path, text).unwrap();
        let more = |folders: &[&Path]| {
            let folders = folders.iter().map(|folder| folder.to_path_buf());
            let mut known = Folders::default();
            known.extend(folders);
            let constructs = read(&path.to_string_lossy(), &known).unwrap();
            ["f", "g"].map(|function| constructs.may_be_more(RegionKind::Barrier, Some(function)))
        };
        assert_eq!(more(&[]), [true, true]);
        std::fs::write(
            folder.path().join("outer.h"),
            "#include <inner.h>\n#define Q P\n",
        )
        .unwrap();
        assert_eq!(more(&[]), [false, false]);
        // What it makes is known, unless it may be another macro.
        let inner = "#define P _Pragma(\"omp barrier\")\n";
        std::fs::write(other.path().join("inner.h"), inner).unwrap();
        assert_eq!(more(&[other.path()]), [false, false]);
        let inner = format!("{inner}#undef P\n");
        std::fs::write(other.path().join("inner.h"), &inner).unwrap();
        assert_eq!(more(&[other.path()]), [true, false]);
        // A directive of another kind makes no such calls, unless it is not written out.
        std::fs::write(
            other.path().join("inner.h"),
            inner.replace("barrier", "critical"),
        )
        .unwrap();
        assert_eq!(more(&[other.path()]), [false, false]);
        let operand = "#define P PRAGMA(omp critical)\n#define PRAGMA(x) _Pragma(#x)\n#undef P\n";
        std::fs::write(other.path().join("inner.h"), operand).unwrap();
        assert_eq!(more(&[other.path()]), [true, false]);
        std::fs::write(other.path().join("inner.h"), "#define P\n").unwrap();
        assert_eq!(more(&[other.path()]), [false, false]);
    }

    /// So do conditionals inside a directive of Fortran, unless they are alternatives.
    #[test]
    fn conditional_clauses_leave_a_directive_certain() {
        let folder = tempfile::tempdir().unwrap();
        let kinds = |name: &str, inside: &str| {
            let free = [
                "subroutine f(a)",
                "!$omp parallel do &",
                inside,
                "!$omp shared(a)",
                "do i = 1, 9",
                "end do",
                "end subroutine",
            ];
            let constructs = constructs_in(&folder, name, &free.join("\n"));
            let lines = constructs.all.iter().map(|one| one.begin.first);
            let is_certain = !constructs.may_be_more(RegionKind::Barrier, Some("f"));
            (lines.collect::<Vec<_>>(), is_certain)
        };
        let clause = "#ifdef A\n!$omp private(b) &\n#endif";
        assert_eq!(kinds("a.F90", clause), (vec![2], true));
        let alternatives = "#ifdef A\n!$omp private(b) &\n#else\n!$omp private(c) &\n#endif";
        assert_eq!(kinds("b.F90", alternatives), (vec![], false));
    }

    /// A construct may begin in one conditional and end in another.
    #[test]
    fn conditionals_that_ask_for_openmp_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let constructs = |macro_name: &str| {
            let text = format!(
                "void f(void) {{\n#ifdef {macro_name}\n#pragma omp parallel\n{{\n#endif\n  g();\n\
                 #ifdef {macro_name}\n}}\n#else\n#pragma omp barrier\n#endif\n}}\n"
            );
            let constructs = constructs_in(&folder, "a.c", &text);
            let lines = constructs
                .all
                .iter()
                .map(|it| (it.begin.first, it.end.last));
            let may_be_more = constructs.may_be_more(RegionKind::Parallel, Some("h"));
            (lines.collect::<Vec<_>>(), may_be_more)
        };
        assert_eq!(constructs("_OPENMP"), (vec![(3, 8)], false));
        assert_eq!(constructs("MINE"), (vec![(10, 10)], true));
    }

    #[test]
    fn the_last_construct_of_a_region_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let last = |name: &str, text: &str| {
            let constructs = constructs_in(&folder, name, text);
            let last = constructs.all.iter();
            let last = last.filter(|it| it.other.contains_key(LAST));
            last.map(|it| it.begin.first).collect::<BTreeSet<u32>>()
        };
        let region = |end: &str| {
            format!(
                "void f(int n) {{\n#pragma omp parallel\n{{\nif (n) {{\n#pragma omp for\n\
                 for (int i = 0; i < 9; i++)\n;\n{end}\n}}\n}}\n"
            )
        };
        assert_eq!(last("a.c", &region("}  // ends")), [5].into());
        assert!(last("b.c", &region("} else {\n}")).is_empty());
        assert!(last("c.c", &region("g(); }")).is_empty());
        let branches = "void f(int n) {\n#pragma omp parallel\n{\nif (n) {\n#pragma omp single\n;\n} else {\n\
                        #pragma omp single\n;\n}\n}\n}\n";
        assert!(last("d.c", branches).is_empty());
        let region = |end: &str| {
            format!(
                "subroutine f\n!$omp parallel\nif (n) then\n!$omp do\ndo i = 1, 9\nend do\n!$omp end do\n\
                 {end}\n!$omp end parallel\nend subroutine\n"
            )
        };
        assert_eq!(
            last("a.f90", &region("  END IF  ! so it is\n\n! a comment")),
            [4].into()
        );
        assert!(last("b.f90", &region("end if\ncall g")).is_empty());
        assert_eq!(last("c.f90", &region("end if\n!$omp barrier")), [9].into());
    }

    #[test]
    fn clauses_of_an_end_directive_are_those_of_its_construct() {
        let folder = tempfile::tempdir().unwrap();
        let waits = |name: &str, end: &str| {
            let text = format!(
                "subroutine f\n!$omp do schedule(static)\ndo i = 1, 9\nend do\n{end}\nend subroutine\n"
            );
            let constructs = constructs_in(&folder, name, &text);
            !has(&constructs.all[0], "nowait")
        };
        assert!(waits("a.f90", "! no nowait"));
        assert!(waits("b.f90", "!$omp end do"));
        assert!(!waits("c.f90", "!$omp end do nowait"));
        assert!(!waits("d.f90", "  !$OMP END DO &\n!$omp NOWAIT"));
    }

    /// A macro that makes a directive leaves the functions certain in which it is not used.
    #[test]
    fn macros_make_constructs_where_they_are_used() {
        let folder = tempfile::tempdir().unwrap();
        let more_in = |name: &str, text: &str| {
            let constructs = constructs_in(&folder, name, text);
            ["f", "g"].map(|function| constructs.may_be_more(RegionKind::Barrier, Some(function)))
        };
        let macros = "#define P _Pragma(\"omp barrier\")\n#define Q P\n#undef P\n";
        let functions = "void f(void) { Q }\nvoid g(void) { }\n";
        let text = format!("{macros}{functions}");
        assert_eq!(more_in("a.c", functions), [false, false]);
        assert_eq!(more_in("b.c", macros), [false, false]);
        assert_eq!(more_in("c.c", &text), [true, false]);
        // The function that a macro begins is not known, nor that of a lambda.
        assert_eq!(
            more_in("d.c", &format!("{text}DEFINE(h, Q)\n")),
            [true, true]
        );
        assert_eq!(more_in("e.cpp", &text), [true, true]);
        // What the macro makes is a construct like any other, if nothing else can be meant.
        let certain = text.replace("#undef P\n", "");
        assert_eq!(more_in("f.c", &certain), [false, false]);
        assert_eq!(more_in("g.cpp", &certain), [false, false]);
        let path = folder.path().join("f.c");
        let constructs = read(&path.to_string_lossy(), &Folders::default()).unwrap();
        let found = constructs.all.iter();
        let found: Vec<_> = found
            .map(|one| (one.begin.first, one.function.as_deref()))
            .collect();
        assert_eq!(found, [(3, Some("f"))]);
    }
}
