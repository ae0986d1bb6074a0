//! The interface of the library, written down for C: `pomp_lib.h` and `pomp_rest.c` say
//! what the tables of events and of kinds of region say. The lists in `pomp_rest.c` are
//! made of the tables: `INSTA_UPDATE=always cargo test -p tests --test interface`.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use instrumenter::openmp::api::ROUTINES;
use instrumenter::openmp::recipes::RECIPES;
use instrumenter::{Options, Source, instrument};
use profile::event::{Event, FUNCTIONS};
use profile::region_kind::REGION_KINDS;

fn include(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../pomp-runtime/include")
        .join(name)
}

/// The functions that do more than report an event of a descriptor's region.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "Register_table", "Parallel_fork_team", "Parallel_begin_team", "Parallel_fork",
    "Parallel_begin", "Parallel_end", "Parallel_join", "Implicit_barrier_leave", "Task_begin",
    "Task_create", "Task_execute", "Init", "Finalize", "On", "Off", "Chunks_begin", "Chunk_begin",
    "Chunks_end", "Atomic_enter_or_pass", "Flush_enter_or_pass", "Critical_enter_or_pass",
    "Ordered_enter_or_pass", "Master_begin_or_pass", "Has_routine",
];

/// The functions of the header, without their prefix.
fn declared(header: &str) -> BTreeSet<&str> {
    header
        .split("POMP_")
        .skip(1)
        .filter_map(|rest| rest.split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
        .collect()
}

#[test]
fn the_header_declares_each_function_and_no_other() {
    let header = std::fs::read_to_string(include("pomp_lib.h")).unwrap();
    let declared = declared(&header);
    let events = FUNCTIONS.iter().map(|(_, _, event)| event.name());
    let locks = ROUTINES.iter().map(|routine| routine.wrapper);
    let expected: BTreeSet<&str> = events.chain(locks).chain(OTHERS.iter().copied()).collect();
    assert_eq!(declared, expected);
    for (name, ..) in FUNCTIONS {
        let prototype = format!("extern void {name}(struct ompregdescr *) ROMP_NOTHROW;\n");
        assert!(header.contains(&prototype), "{prototype}");
    }
}

/// A program that calls every function links with the stand-ins alone.
#[test]
fn every_function_of_the_header_has_a_stand_in() {
    let path = include("pomp_lib.h");
    let header = std::fs::read_to_string(&path).unwrap();
    let names = declared(&header);
    let names = names.iter();
    let addresses: Vec<String> = names
        .map(|name| format!("(void (*)(void))POMP_{name}"))
        .collect();
    let text = format!(
        "#include \"{}\"\nvoid (*volatile all[])(void) = {{ {} }};\n\
         int main(void) {{ return !all[0]; }}\n",
        path.display(),
        addresses.join(", ")
    );
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("all.c");
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-fopenmp", "-o"])
        .arg(folder.path().join("all"));
    compiler.args([source, include("pomp_rest.c")]).arg("-ldl");
    assert!(compiler.status().unwrap().success());
}

/// The lines of a fixture's instrumented text that declare the record of a loop.
fn records_of(fixture: &str) -> Vec<String> {
    let path = tests::fixture::fixtures().join(fixture);
    let source = Source {
        name: "listing.c".into(),
        language: Source::language_of(&path),
        text: std::fs::read(&path).unwrap(),
        layout: Source::layout_of(&path),
        undefined: instrumenter::source::UndefinedMacros::new(),
    };
    let options = Options {
        unique: "u".into(),
        chunks: true,
        ..Options::default()
    };
    let text = String::from_utf8(instrument(&source, &options).text().to_vec()).unwrap();
    let is_record =
        |line: &&str| line.starts_with("struct romp_loop") || line.starts_with("struct romp_row");
    text.lines().filter(is_record).map(str::to_owned).collect()
}

/// Instrumented text declares the record of a loop itself, under names that no macro of the user
/// changes.
#[test]
fn a_loop_s_record_is_the_header_s() {
    const PAIRS: &[(&str, &str, &[&str])] = &[
        (
            "romp_loop",
            "romp_loop_u",
            &[
                "levels",
                "chunk_size",
                "is_traced",
                "chunk_first",
                "asked",
                "level",
            ],
        ),
        (
            "romp_loop_level",
            "romp_level_u",
            &[
                "first",
                "bound",
                "second_then_step",
                "relation_then_count",
                "value",
            ],
        ),
    ];
    const ROW: (&str, &str, &[&str]) = (
        "romp_loop_row",
        "romp_row_u",
        &["outer", "first_then_slope", "bound_then_slope"],
    );
    // Only with triangles does the text declare rows, which are the end of a loop's record.
    for (fixture, has_rows) in [("trace/listing.c", false), ("trace/rows.c", true)] {
        let records = records_of(fixture);
        let header = include("pomp_lib.h");
        let mut text = format!(
            "#include \"{}\"\n{}\n",
            header.display(),
            records.join("\n")
        );
        for (ours, theirs, fields) in PAIRS.iter().chain(has_rows.then_some(&ROW)) {
            let offset =
                |of: &str, field: &str| format!("__builtin_offsetof(struct {of}, {field})");
            let ours_bytes = match *ours == "romp_loop" && !has_rows {
                true => offset(ours, "row"),
                false => format!("sizeof(struct {ours})"),
            };
            let sizes = format!("{ours_bytes} == sizeof(struct {theirs})");
            let offsets = fields.iter().map(|field| {
                let theirs = offset(theirs, &format!("romp_{field}"));
                format!("{} == {theirs}", offset(ours, field))
            });
            for condition in offsets.chain([sizes]) {
                text += &format!("_Static_assert({condition}, \"{ours}\");\n");
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text.c");
        std::fs::write(&file, text).unwrap();
        let mut compiler = Command::new("cc");
        let accepted = compiler.args(["-fsyntax-only", "-fopenmp"]).arg(file);
        assert!(accepted.status().unwrap().success(), "{fixture}");
    }
}

/// A macro of C that lists something, in lines of less than 100 characters.
fn list(head: &str, items: impl Iterator<Item = String>) -> String {
    let mut lines = vec![format!("#define {head}")];
    for item in items {
        match lines.last_mut() {
            Some(line) if lines_fit(line, &item) => *line += &format!(" {item}"),
            _ => lines.push(format!("  {item}")),
        }
    }
    lines.join(" \\\n") + "\n"
}

fn lines_fit(line: &str, item: &str) -> bool {
    line.starts_with(' ') && line.len() + item.len() < 96
}

#[test]
fn the_stand_ins_have_the_events_of_the_table() {
    let path = include("pomp_rest.c");
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("/* Made of the tables. */\n", "/* Till here. */\n");
    let (head, rest) = text.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    // They call OPARI 1's where the library has not heard of them.
    let says_more = |event: Event| {
        matches!(
            event,
            Event::ImplicitBarrierEnter | Event::ImplicitBarrierExit
        )
    };
    let events = FUNCTIONS.iter().filter(|row| !says_more(row.2));
    let events = events.map(|(_, fortran, event)| format!("X({}, {fortran})", event.name()));
    let ends = REGION_KINDS.iter().filter_map(|row| {
        let event = Event::behind_barrier(row.kind)?;
        Some(format!("X(\"{}\", {})", row.region_types[0], event.name()))
    });
    let made = [list("EVENTS(X)", events), list("ENDS(X)", ends)].concat();
    let made = format!("{head}{begin}{made}{end}{tail}");
    if made != text && std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        return std::fs::write(&path, made).unwrap();
    }
    assert!(
        made == text,
        "make {} anew, as this file says on top",
        path.display()
    );
}

/// Events that need no recipe: the user marks regions, sections are in any construct, and the
/// implicit barrier and the end of a task belong to others.
const OF_NO_RECIPE: &[Event] = &[
    Event::ImplicitBarrierEnter,
    Event::ImplicitBarrierExit,
    Event::TaskEnd,
    Event::UserBegin,
    Event::UserEnd,
];

#[test]
fn each_event_is_in_a_recipe() {
    let pairs = RECIPES
        .iter()
        .flat_map(|recipe| [recipe.outside, recipe.inside]);
    let events = pairs
        .flatten()
        .flat_map(|pair| [pair.opening(), pair.closing()]);
    let in_recipes: BTreeSet<&str> = events.map(|event| event.name()).collect();
    let needs_one = |event: &Event| !OF_NO_RECIPE.contains(event);
    for event in FUNCTIONS.iter().map(|row| row.2).filter(needs_one) {
        assert!(
            in_recipes.contains(event.name()),
            "no recipe of instrumenter/src/openmp/recipes.rs has {}",
            event.name()
        );
    }
}

/// Region types that no directive alone has: combinations, executions of tasks, routines
/// and what the user marks.
const OF_NO_DIRECTIVE: &[&str] = &[
    "parallelfor",
    "paralleldo",
    "parallelsections",
    "parallelworkshare",
    "do",
    "userRegion",
    "region",
    "lock",
    "taskexec",
    "taskuntied",
    "taskuntiedexec",
    "function",
];

#[test]
fn each_kind_is_of_a_directive_that_is_measured() {
    let types = REGION_KINDS.iter().flat_map(|row| row.region_types);
    for region_type in types.filter(|of| !OF_NO_DIRECTIVE.contains(of)) {
        assert!(
            RECIPES.iter().any(|of| of.region_type == *region_type),
            "no recipe of instrumenter/src/openmp/recipes.rs makes regions of type {region_type}"
        );
    }
}
