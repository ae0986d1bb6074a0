//! C and C++: the spelling of probes, descriptors and `#line`.
//!
//! A probe names its region by calling a function that returns the address of its descriptor. A
//! function needs no data-sharing attribute, so nothing has to be listed under `default(none)`.
//! The function is declared in front of the user's text, before any header is included, and
//! defined behind that text. One function serves all regions: each function costs the compilers
//! more time than its calls.
//!
//! Text with lines of its own is followed by `#line`, so that the compiler goes on counting the
//! user's lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::c_asked::Asked;
use super::c_chunks::{self as chunks, LoopRecord};
use super::c_passing::{Passing, RECORD};
pub(super) use super::c_regions::quoted;
use super::c_regions::{Accessor, ENTRY_FIELDS, EXTERNAL, STATIC, entry};
use super::{Group, OWN_FILE, OWN_LINE, Speller, Step, Surroundings, steps};
use crate::api::Api;
use crate::edit::{EditSet, Order};
use crate::openmp::Language;
use crate::openmp::events::{TEAM, USER};
use crate::plan::{
    AddedClause, CallEdit, DirectiveEdit, EditedDirective, Fragment, Guard, Insertion, Mark, Plan,
    Region,
};

/// Version of the interface with the library; see `pomp_lib.h`.
const INTERFACE_VERSION: u32 = 1;

/// The speller for C and C++.
pub struct CSpeller<'a> {
    pub(super) plan: &'a Plan,
    pub(super) around: Surroundings<'a>,
    dialect: &'static Dialect,
    pub(super) api: Api,
    /// See `LoopRecord`.
    distance: String,
    pub(super) passing: Passing<'a>,
    pub(super) asked: Asked<'a>,
}

/// The differences between C and C++.
struct Dialect {
    /// The text around declarations of C functions.
    extern_c: (&'static str, &'static str),
    /// Spells a cast of a pointer, from the type and the pointer.
    cast: fn(&str, &str) -> String,
    /// Whether an inline function may refer to functions with internal linkage.
    inline_sees_static: bool,
    /// Whether a number is converted with the syntax of a call: `int(x)`.
    calls_types: bool,
}

const C: Dialect = Dialect {
    extern_c: ("", ""),
    cast: |target, pointer| format!("({target}){pointer}"),
    inline_sees_static: false,
    calls_types: false,
};

const CXX: Dialect = Dialect {
    extern_c: ("extern \"C\" {\n", "}\n"),
    cast: |target, pointer| format!("reinterpret_cast<{target}>({pointer})"),
    inline_sees_static: true,
    calls_types: true,
};

impl<'a> CSpeller<'a> {
    /// A speller for one plan.
    #[must_use]
    pub fn new(plan: &'a Plan, around: Surroundings<'a>, language: Language, api: Api) -> Self {
        let dialect = if language == Language::Cxx { &CXX } else { &C };
        let unique = around.unique;
        let mut speller = Self {
            distance: format!("romp_distance_{unique}"),
            plan,
            around,
            dialect,
            api,
            passing: Passing::new(unique, BTreeMap::new()),
            asked: Asked::new(unique, BTreeSet::new()),
        };
        speller.passing = Passing::new(unique, speller.passed_over());
        speller.asked = Asked::new(unique, speller.asked_for());
        speller
    }

    /// The text around declarations of C functions.
    pub(super) fn extern_c(&self) -> (&'static str, &'static str) {
        self.dialect.extern_c
    }

    /// Converts a number to `int` without a warning, whatever its type.
    pub(super) fn as_int(&self, number: &str) -> String {
        match self.dialect.calls_types {
            true => format!("int({number})"),
            false => format!("(int)({number})"),
        }
    }

    /// The attribute that keeps our functions out of profiles and coverage. Old compilers don't
    /// know the attribute, so it is used only where it matters.
    fn uncounted(&self) -> &'static str {
        match self.around.apart {
            true => " __attribute__((__no_profile_instrument_function__))",
            false => "",
        }
    }

    /// The expression for the address of a region's descriptor.
    pub(super) fn descriptor(&self, region: usize) -> String {
        let accessor = self.accessor(&self.plan.regions[region]);
        format!("{}_{}({region})", accessor.prefix, self.around.unique)
    }

    /// The variable that is passed to the members of a team. In POMP2 the members have no use
    /// for it.
    fn handed_on(&self, region: usize) -> String {
        match self.api {
            Api::Pomp => self.team(region),
            Api::Pomp2 => self.left(TEAM.opening(), region),
        }
    }

    pub(super) fn team(&self, region: usize) -> String {
        format!("romp_team_{}_{region}", self.around.unique)
    }

    /// The variable that says whether an instance is timed, so that its end is to be reported.
    pub(super) fn timed(&self, region: usize) -> String {
        format!("romp_timed_{}_{region}", self.around.unique)
    }

    fn guard(&self, region: usize) -> String {
        format!("romp_if_{}_{region}", self.around.unique)
    }

    pub(super) fn mark(&self, Mark(group, branch): Mark) -> String {
        format!("romp_branch_{}_{group}_{branch}", self.around.unique)
    }

    fn loop_record(&self, number: usize) -> LoopRecord<'_> {
        LoopRecord {
            nest: &self.plan.loops[number],
            unique: self.around.unique,
            number,
            distance: &self.distance,
            calls_types: self.dialect.calls_types,
            cast: self.dialect.cast,
            asked: &self.asked,
        }
    }

    /// The prefix of the names of the interface's functions.
    fn prefix(&self) -> &'static str {
        match self.api {
            Api::Pomp => "POMP",
            Api::Pomp2 => "POMP2",
        }
    }

    /// The `#line` for the text that follows an offset.
    fn line(&self, at: usize) -> String {
        let place = self.around.lines.presumed(at);
        place.map_or_else(String::new, |place| match self.around.apart {
            true => self.line_of_same_file(place.line),
            false => self.line_text(place.line, &place.file),
        })
    }

    /// A `#line` without a file name. If a `#line` inside a function names the file, GCC takes
    /// the function as ending in another file, and gcov does not show it as one function.
    fn line_of_same_file(&self, line: u32) -> String {
        match self.around.without_lines {
            true => String::new(),
            false => format!("#line {line}\n"),
        }
    }

    /// A `#line`, unless `#line` is not wanted.
    pub(super) fn line_text(&self, line: u32, file: &str) -> String {
        match self.around.without_lines {
            true => String::new(),
            false => format!("#line {line} {}\n", quoted(file)),
        }
    }

    /// Appends items as text. It may start inside a line, and may end behind a line of its own.
    fn items(&self, items: &[Fragment], text: &mut String) {
        for step in steps(items, self.api) {
            let item = match step {
                Step::Fragment(item) => item,
                Step::Leave(end, region) => {
                    text.push_str(&self.leave(end, region));
                    text.push(' ');
                    continue;
                }
            };
            match item {
                Fragment::Open => text.push_str("{ "),
                Fragment::Close => text.push_str("} "),
                Fragment::Probe(event, region) => {
                    text.push_str(&self.probe(*event, *region));
                    text.push(' ');
                }
                Fragment::AlternateEnd(region) => {
                    text.push_str(&self.probe(USER.closing(), *region));
                    text.push(' ');
                }
                Fragment::Call(name) => {
                    let function = format!("{}_{name}", self.prefix());
                    text.push_str(&self.asked.statement(&function, ""));
                    text.push(' ');
                }
                // The redirected calls themselves give the call site.
                Fragment::CallSite(_) => {}
                // A `#line` follows all text at the begin of a line anyway.
                Fragment::Line => {}
                Fragment::ChunksBegin(number, region) => {
                    text.push_str(&self.loop_record(*number).begin(&self.descriptor(*region)));
                }
                Fragment::ChunkTest(number) => text.push_str(&self.loop_record(*number).test()),
                Fragment::ChunksEnd(number) => text.push_str(&self.loop_record(*number).end()),
                Fragment::Mark(mark) => own_line(text, &format!("#define {}", self.mark(*mark))),
                Fragment::Barrier => own_line(text, BARRIER),
                Fragment::Directive { name, clauses, .. } => {
                    let words: Vec<&str> = std::iter::once(name.as_str())
                        .chain(clauses.iter().map(String::as_str))
                        .collect();
                    own_line(text, &format!("#pragma omp {}", words.join(" ")));
                }
            }
        }
    }

    fn insertion(&self, insertion: &Insertion, text: &mut String) {
        match insertion.guard {
            None => self.items(&insertion.items, text),
            Some(Guard::Sets(region)) => {
                own_line(text, &format!("#define {}", self.guard(region)));
                self.items(&insertion.items, text);
            }
            Some(Guard::Tests(region)) => {
                own_line(text, &format!("#ifdef {}", self.guard(region)));
                self.items(&insertion.items, text);
                own_line(text, "#endif");
            }
            Some(Guard::Clears(region)) => {
                let guard = self.guard(region);
                own_line(text, &format!("#ifdef {guard}"));
                own_line(text, &format!("#undef {guard}"));
                self.items(&insertion.items, text);
                own_line(text, "#endif");
            }
        }
    }
}

/// The directive of an explicit barrier that replaces an implicit one. No compiler warns about
/// it.
pub(crate) const BARRIER: &str = "#pragma omp barrier";

/// Appends a line that must stand alone.
fn own_line(text: &mut String, line: &str) {
    end_line(text);
    text.push_str(line);
    text.push('\n');
}

fn end_line(text: &mut String) {
    let kept = text.trim_end_matches(' ').len();
    text.truncate(kept);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Gives all lines of code the number of the first line, with a `#line` before each. With
/// consecutive numbers, a debugger would stop there for the user's next lines.
fn numbered(text: &str, line: &str) -> String {
    let is_code = |text: &str| !text.starts_with('#') || text.starts_with("#pragma");
    let lines = text.split_inclusive('\n').enumerate();
    lines
        .flat_map(|(number, text)| {
            let again = number > 0 && is_code(text);
            [if again { line } else { "" }, text]
        })
        .collect()
}

/// Whether an insertion can be put in the middle of a line.
fn fits_in_line(insertion: &Insertion) -> bool {
    let opens = matches!(insertion.order, Order::Open { .. });
    let lines = |item: &Fragment| {
        matches!(
            item,
            Fragment::Barrier | Fragment::Mark(_) | Fragment::Directive { .. }
        )
    };
    opens && insertion.guard.is_none() && !insertion.items.iter().any(lines)
}

impl Speller for CSpeller<'_> {
    fn group(&self, group: &Group<'_>) -> String {
        let mut text = String::new();
        for insertion in &group.insertions {
            self.insertion(insertion, &mut text);
        }
        if !group.line_start && group.insertions.iter().all(|i| fits_in_line(i)) {
            return text;
        }
        end_line(&mut text);
        // Text that closes a construct belongs to the construct's last line. This matters to
        // compilers that compare neighbouring lines (misleading indentation), and to line
        // counts of coverage.
        let line = self.line(group.at);
        let own = match self.around.apart {
            // The `#line` stays in the user's file: if another file begins inside a function,
            // Clang stops counting the function's lines.
            true => self.line_of_same_file(OWN_LINE),
            false => line.clone(),
        };
        let before = match group.line_start {
            true if self.around.apart => own.clone(),
            true => String::new(),
            false => format!("\n{own}"),
        };
        format!("{before}{}{line}", numbered(&text, &own))
    }

    /// Changes only the parts that are edited, so that the rest stays as written.
    fn directive(&self, edited: &[EditedDirective], edits: &mut EditSet) {
        let mut added: Option<(usize, String)> = None;
        for edit in edited.iter().flat_map(|edited| &edited.edits) {
            match edit {
                DirectiveEdit::Remove(range) => edits.replace(range.clone(), String::new()),
                DirectiveEdit::Replace(range, text) => {
                    edits.replace(range.clone(), (*text).to_owned());
                }
                DirectiveEdit::Add { at, clause } => {
                    let (_, text) = added.get_or_insert_with(|| (*at, String::new()));
                    text.push_str(&self.clause(clause));
                }
            }
        }
        if let Some((at, text)) = added.filter(|(_, text)| !text.is_empty()) {
            edits.insert(at, Order::open(0), text);
        }
    }

    fn call(&self, call: &CallEdit) -> (String, String) {
        if self.api == Api::Pomp2 {
            return (self.pomp2_routine(call.routine), String::new());
        }
        let name = format!("POMP_{}", call.routine.wrapper);
        (name, format!("{}, ", self.descriptor(call.region)))
    }

    fn ranges(&self) -> Vec<(usize, Order, String)> {
        let records = (0..self.plan.loops.len()).map(|number| self.loop_record(number));
        records.flat_map(|record| record.ranges()).collect()
    }

    fn prologue(&self) -> String {
        if self.api == Api::Pomp2 {
            return self.pomp2_prologue();
        }
        let mut text = String::from("struct ompregdescr; struct romp_region;\n");
        text.push_str(&chunks::types(
            self.around.unique,
            &self.distance,
            &self.plan.loops,
        ));
        let functions = self.used_functions();
        if functions.iter().any(|function| function.contains(RECORD)) {
            let _ = writeln!(text, "{RECORD};");
        }
        let (open, close) = self.dialect.extern_c;
        text.push_str(open);
        text.push_str(&self.asked.declaration());
        for declaration in functions {
            // Without exceptions to consider, compilers need much less time for C++, and don't
            // keep code that only a catch block would need.
            let _ = writeln!(text, "extern {declaration} __attribute__((__nothrow__));");
        }
        text.push_str(close);
        for accessor in self.used_accessors() {
            let Accessor {
                prefix,
                storage,
                attribute,
            } = accessor;
            let _ = writeln!(
                text,
                "{storage} struct ompregdescr *{prefix}_{}(int) {attribute}{};",
                self.around.unique,
                self.uncounted()
            );
        }
        text.push_str(&self.passing.declarations());
        let line = self.line_text(1, self.around.name);
        text + &line
    }

    fn epilogue(&self) -> String {
        if self.api == Api::Pomp2 {
            return self.pomp2_epilogue();
        }
        let unique = self.around.unique;
        let count = self.plan.regions.len();
        let line = self.line_text(1, OWN_FILE);
        let mut text = format!(
            "\n{line}\
             #pragma GCC diagnostic push\n\
             #pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\
             struct romp_entry_{unique} {{ {ENTRY_FIELDS} }};\n\
             static struct romp_entry_{unique} romp_table_{unique}[{count}] = {{\n"
        );
        for region in &self.plan.regions {
            let (name, rest) = entry(region);
            let _ = match region.branch.map(|mark| self.mark(mark)) {
                // The library skips entries without a name.
                Some(mark) => writeln!(
                    text,
                    "{{\n#ifdef {mark}\n{name},\n#else\n\"\",\n#endif\n{rest} }},"
                ),
                None => writeln!(text, "{{ {name}, {rest} }},"),
            };
        }
        text.push_str("};\n");
        for accessor in self.used_accessors() {
            let entry = format!("&romp_table_{unique}[romp_region]");
            let entry = (self.dialect.cast)("struct ompregdescr *", &entry);
            let _ = writeln!(
                text,
                "{}struct ompregdescr *{}_{unique}(int romp_region) {{ return {entry}; }}",
                accessor.defined_as(),
                accessor.prefix
            );
        }
        text.push_str(&self.passing.definitions());
        // 101 is the first priority that is not reserved for the implementation. So tables are
        // registered before the user's constructors run.
        let table = (self.dialect.cast)("struct romp_region *", &format!("romp_table_{unique}"));
        let register = format!(
            "POMP_Register_table({INTERFACE_VERSION}u, sizeof romp_table_{unique}[0], {table}, \
             {count}u);"
        );
        text.push_str(&self.asked.definitions());
        let _ = write!(
            text,
            "static void romp_register_{unique}(void) __attribute__((__constructor__(101), \
             __no_instrument_function__)){};\n\
             static void romp_register_{unique}(void) {{ {} }}\n\
             #pragma GCC diagnostic pop\n",
            self.uncounted(),
            self.asked.asking(&register)
        );
        text
    }
}

impl CSpeller<'_> {
    /// The text of a clause, with a blank in front.
    fn clause(&self, clause: &AddedClause) -> String {
        match clause {
            AddedClause::Nowait => " nowait".into(),
            AddedClause::Shared(items) => format!(" shared({})", items.join(", ")),
            AddedClause::Team(region) => format!(" firstprivate({})", self.handed_on(*region)),
            AddedClause::Task(region) => format!(" firstprivate({})", self.new_task(*region)),
        }
    }

    /// The accessor for a region. In C an inline function with external linkage must not refer
    /// to a function with internal linkage. For regions in such functions the accessor has
    /// external linkage, but hidden visibility.
    pub(super) fn accessor(&self, region: &Region) -> &'static Accessor {
        match region.maybe_extern_inline && !self.dialect.inline_sees_static {
            true => &EXTERNAL,
            false => &STATIC,
        }
    }

    pub(super) fn used_accessors(&self) -> impl Iterator<Item = &'static Accessor> {
        let used = |accessor: &&'static Accessor| {
            let mut regions = self.plan.regions.iter();
            regions.any(|region| self.accessor(region) == *accessor)
        };
        [&STATIC, &EXTERNAL].into_iter().filter(used)
    }
}
