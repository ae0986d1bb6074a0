//! Checks of properties that every source text must have, whether it is a program or not.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use instrumenter::api::Api;
use instrumenter::edit::{EditSet, Order};
use instrumenter::find::front_end;
use instrumenter::openmp::Language;
use instrumenter::source::{Form, Layout};
use instrumenter::verify::{Defect, verify_read};
use instrumenter::{Instrumented, Options, Source, instrument_read};

/// A number taken apart into choices.
struct Choices(u64);

impl Choices {
    /// The next choice, of so many.
    fn of(&mut self, ways: u64) -> u64 {
        let choice = self.0 % ways;
        self.0 /= ways;
        choice
    }

    fn yes(&mut self) -> bool {
        self.of(2) == 1
    }
}

/// How many ways there are to instrument C: the languages, and what `options` chooses.
pub const C_VARIANTS: u64 = 2 * 2 * OPTIONS;
/// How many ways there are to instrument Fortran.
pub const FORTRAN_VARIANTS: u64 = 3 * 2 * 8 * OPTIONS;
/// How many ways there are to choose what all languages have.
const OPTIONS: u64 = 2 * 2 * 3 * 2;

/// Options that all languages have.
fn options(choices: &mut Choices) -> Options {
    let (host_only, chunks) = (choices.yes(), choices.yes());
    // Libraries for POMP2 have all functions.
    let (api, partial_library) =
        [(Api::Pomp, false), (Api::Pomp2, false), (Api::Pomp, true)][choices.of(3) as usize];
    Options {
        unique: "u".into(),
        host_only,
        chunks,
        api,
        without_lines: choices.yes(),
        partial_library,
        ..Options::default()
    }
}

/// Instruments any text as C or as C++.
///
/// # Panics
/// If something is not as it must be.
pub fn c_front_end(text: &[u8], variant: u64) {
    let mut choices = Choices(variant);
    let options = options(&mut choices);
    let language = [Language::C, Language::Cxx][choices.of(2) as usize];
    let absent: &[&str] = if choices.yes() {
        &["A", "OFFLOAD"]
    } else {
        &[]
    };
    let source = Source {
        name: "input".into(),
        language,
        text: text.to_vec(),
        layout: Layout::FREE,
        undefined: absent.iter().map(|name| (*name).to_owned()).collect(),
    };
    instrumented_and_checked(&source, &options);
}

/// Instruments any text as Fortran in one of the source forms, for compilers that run a
/// preprocessor over it and for those that don't.
///
/// # Panics
/// If something is not as it must be.
pub fn fortran_front_end(text: &[u8], variant: u64) {
    let wide = Layout {
        line_length: Some(132),
        ..Layout::FIXED
    };
    let mut choices = Choices(variant);
    let options = options(&mut choices);
    let layout = [Layout::FREE, Layout::FIXED, wide][choices.of(3) as usize];
    let source = Source {
        name: "input".into(),
        language: Language::Fortran,
        text: text.to_vec(),
        layout: Layout {
            preprocessed_by_compiler: choices.yes(),
            ..layout
        },
        undefined: instrumenter::source::UndefinedMacros::new(),
    };
    let options = Options {
        explicit_interfaces: choices.yes(),
        whole_statements: choices.yes(),
        without_blocks: choices.yes(),
        ..options
    };
    instrumented_and_checked(&source, &options);
}

/// One source in so many is read and instrumented once more. A different second result would
/// be a defect of Romp's code that hardly depends on the input, so a sample is enough.
const SAME_AGAIN: usize = 8;

/// Instruments a source and checks properties that every source must have.
///
/// # Panics
/// If something is not as it must be.
pub fn instrumented_and_checked(source: &Source, options: &Options) {
    let reading = front_end(source.language).read(source);
    let result = instrument_read(&*reading, source, options);
    let verified = verify_read(&*reading, source, &result);
    // The grammars and the lexers accept different texts that are no programs (an `else` without
    // an `if`), and the grammars do not know all programs.
    let is_forgiven = match verified {
        Err(Defect::Syntax) => {
            let output = Source {
                text: result.text().to_vec(),
                ..source.clone()
            };
            !may_be_program(source) || may_be_program(&output)
        }
        Err(Defect::Tokens(_) | Defect::Extent(_)) => !may_be_program(source),
        _ => false,
    };
    if !is_forgiven {
        assert_eq!(verified, Ok(()));
    }
    assert!(no_defect(&result), "{:?}", result.warnings);
    let listed = result.plan.listing.len();
    if listed == 0 {
        assert_eq!(result.text(), source.text, "edits without a directive");
    }
    if !source.text.len().is_multiple_of(SAME_AGAIN) {
        return;
    }
    // A reading tries only a limited number of choices of conditionals, so this is a new one.
    let found = front_end(source.language).read(source).find();
    assert_eq!(listed, found.directives.len() + found.calls.len());
    let again = instrument_read(&*front_end(source.language).read(source), source, options);
    assert!(
        again.text() == result.text(),
        "another text the second time"
    );
}

/// Whether GNU's compiler accepts a source. If the compiler can't be started, the source counts
/// as accepted. Few sources come to this question.
fn may_be_program(source: &Source) -> bool {
    is_accepted(source).unwrap_or(true)
}

/// Whether GNU's compiler accepts a source. One with a conditional counts as refused, since the
/// compiler reads only one of its choices; and one with a directive that it does not know, and
/// which may stand anywhere therefore.
fn is_accepted(source: &Source) -> std::io::Result<bool> {
    let is_conditional = |line: &[u8]| {
        let directive = line.trim_ascii_start().strip_prefix(b"#");
        directive.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"if"))
    };
    if source.text.split(|byte| *byte == b'\n').any(is_conditional) {
        return Ok(false);
    }
    let (compiler, language, folder) = match source.language {
        Language::C => ("gcc", ["-x", "c", "-std=gnu17"], "c"),
        Language::Cxx => ("g++", ["-x", "c++", "-std=gnu++20"], "cxx"),
        Language::Fortran => ("gfortran", ["-x", "f95", "-std=gnu"], "fortran"),
    };
    let is_fortran = source.language == Language::Fortran;
    let layout: &[&str] = match (source.layout.form, source.layout.line_length) {
        _ if !is_fortran => &[],
        (Form::Free, _) => &["-ffree-form"],
        (Form::Fixed, Some(132)) => &["-ffixed-form", "-ffixed-line-length-132"],
        (Form::Fixed, _) => &["-ffixed-form"],
    };
    let is_preprocessed = is_fortran && source.layout.preprocessed_by_compiler;
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let place = tempfile::tempdir()?;
    let input = place.path().join("input");
    std::fs::write(&input, &source.text)?;
    let output = Command::new(compiler)
        .current_dir(place.path())
        .env("LC_ALL", "C")
        .args(["-fopenmp", "-fsyntax-only"])
        .args(is_preprocessed.then_some("-cpp"))
        .args((!is_fortran).then_some("-Wunknown-pragmas"))
        .arg("-I")
        .arg(fixtures.join(folder))
        .args(language)
        .args(layout)
        .arg(&input)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(output.status.success() && !said.contains("ignoring '#pragma omp"))
}

fn no_defect(result: &Instrumented) -> bool {
    let defects = result.warnings.iter();
    defects.filter(|warning| warning.contains("defect")).count() == 0
}

/// Takes the second half of an input as edits of the first: tokens are in order
/// and in the text, edits are undone exactly, and refused only if they overlap.
///
/// # Panics
/// If something is not as it must be.
pub fn edit_engine(data: &[u8], _: u64) {
    let (text, rest) = data.split_at(data.len() / 2);
    tokens_are_in_order(text);
    let ranges = ranges(rest, text.len());
    let mut edits = EditSet::default();
    for (number, range) in ranges.iter().enumerate() {
        let new = format!("<{number}>");
        match range.is_empty() {
            true => edits.insert(range.start, Order::open(number % 3), new),
            false => edits.replace(range.clone(), new),
        }
    }
    match edits.apply(text) {
        Ok(applied) => {
            assert_eq!(applied.strip_back(), text);
            for (at, byte) in applied.text.iter().enumerate() {
                if let Some(original) = applied.original_offset(at) {
                    assert_eq!(*byte, text[original]);
                    assert!(!applied.removes(original));
                }
            }
        }
        Err(_) => assert!(any_overlap(&ranges)),
    }
}

fn tokens_are_in_order(text: &[u8]) {
    for language in [Language::C, Language::Cxx] {
        let source = Source {
            name: "input".into(),
            language,
            text: text.to_vec(),
            layout: Layout::FREE,
            undefined: instrumenter::source::UndefinedMacros::new(),
        };
        let mut end = 0;
        for token in front_end(language).token_ranges(&source) {
            assert!(end <= token.start && token.start < token.end, "{token:?}");
            end = token.end;
        }
        assert!(end <= text.len());
    }
}

/// Two bytes are a range: its begin and its length.
fn ranges(bytes: &[u8], length: usize) -> Vec<Range<usize>> {
    let pairs = bytes.chunks_exact(2);
    let range = |pair: &[u8]| {
        let start = usize::from(pair[0]) % (length + 1);
        start..(start + usize::from(pair[1]) % 4).min(length)
    };
    pairs.map(range).collect()
}

/// Whether two ranges have bytes in common, or one begins inside another.
fn any_overlap(ranges: &[Range<usize>]) -> bool {
    let inside = |outer: &Range<usize>, inner: &Range<usize>| {
        outer.start < inner.start && inner.start < outer.end
            || outer.start == inner.start && !outer.is_empty() && !inner.is_empty()
    };
    let pairs = |at: usize| {
        ranges[at + 1..]
            .iter()
            .map(move |other| (&ranges[at], other))
    };
    (0..ranges.len())
        .flat_map(pairs)
        .any(|(a, b)| inside(a, b) || inside(b, a))
}
