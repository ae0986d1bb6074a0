//! Runs the instrumenter on a text, with the options that follow from the command and the
//! compiler.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use crate::api::Api;
use crate::find::front_end;
use crate::names::{self, PrefixMaps};
use crate::plan::Decision;
use crate::wrapper::command::classify::{Argument, CommandLine};
use crate::wrapper::command::layout;
use crate::wrapper::command::outputs;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::compilers::flags::PrefixMap;
use crate::wrapper::questions::known_directives::KnownDirectives;
use crate::wrapper::questions::offload::Offload;
use crate::wrapper::settings::{DISABLE, Settings};
use crate::{Disabled, Instrumented, Options, Source};

/// The instrumenter, or one with an injected fault in tests.
pub(crate) type Instrument = fn(&Source, &Options) -> Instrumented;

/// How the sources of a command are instrumented.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instrumenting<'a> {
    pub(crate) instrument: Instrument,
    pub(crate) offload: &'a Offload<'a>,
    pub(crate) known: &'a KnownDirectives<'a>,
    pub(crate) settings: &'a Settings,
    pub(crate) compiler: &'a Compiler,
}

/// The instrumenter panicked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defect;

/// Runs the instrumenter; a panic must not fail the user's build. With `may_change`, the result
/// may still change, so the compiler is not asked about devices.
pub(crate) fn instrumented(
    how: &Instrumenting<'_>,
    source: &Source,
    line: &CommandLine,
    index: usize,
    may_change: bool,
) -> Result<Instrumented, Defect> {
    let mut options = Options {
        unique: unique(line, index, source),
        prefix_maps: named_in_objects(line),
        disabled: Disabled {
            groups: how.settings.disabled.clone(),
            by: DISABLE,
            ..Disabled::default()
        },
        chunks: how.settings.chunks,
        host_only: false,
        unknown: BTreeSet::new(),
        explicit_interfaces: layout::wants_interfaces(line),
        without_blocks: !layout::has_blocks(line),
        whole_statements: how.compiler.family.whole_statements,
        without_lines: false,
        apart: outputs::has_coverage_notes(line),
        has_hashes: true,
        api: Api::Pomp,
        partial_library: how.settings.partial_library,
    };
    let instrument = how.instrument;
    let instrument = |options: &Options| {
        std::panic::catch_unwind(|| instrument(source, options)).map_err(|_| Defect)
    };
    let mut made = instrument(&options)?;
    options.unknown = how.known.unknown(source.language, &made.plan.asked);
    if !options.unknown.is_empty() {
        made = instrument(&options)?;
    }
    // Asking the compiler takes longer than instrumenting, so it is asked only if the answer
    // matters.
    if made.plan.depends_on_device && !may_change && how.offload.is_host_only() {
        options.host_only = true;
        return instrument(&options);
    }
    Ok(made)
}

pub(crate) fn leaves_something(made: &Instrumented) -> bool {
    let mut listed = made.plan.listing.iter();
    listed.any(|listed| matches!(listed.outcome, Decision::LeftAlone { .. }))
}

/// The maps for file names in region descriptors: as the compiler maps names in the object.
fn named_in_objects(line: &CommandLine) -> PrefixMaps {
    line.prefix_maps(&[PrefixMap::All, PrefixMap::Macro, PrefixMap::Debug])
}

/// A name for the definitions of a translation unit. It depends on the unit's contents and not
/// on the build directory, so that builds are reproducible. It is made from the text, the
/// source's name in the object, and the macros of the command. A program may have several units
/// with the same name; their visible definitions are weak and mean the same in each.
fn unique(line: &CommandLine, index: usize, source: &Source) -> String {
    let mut hash = Fnv::new();
    let preprocessed = front_end(source.language).is_preprocessed(&source.text);
    let lines = source.text.split(|byte| *byte == b'\n');
    // Line markers contain names of directories, so they are left out.
    lines
        .filter(|line| !(preprocessed && is_marker(line)))
        .for_each(|line| hash.add(line));
    let maps = named_in_objects(line);
    hash.add(&maps.mapped(&names::bytes(&source.name)));
    // A command may name a source twice.
    let name = line.arguments[index].name();
    let before = line.arguments[..index].iter().filter(|a| a.is_source());
    let before = before.filter(|argument| argument.name() == name).count();
    hash.add(before.to_string().as_bytes());
    let macros = line.arguments.iter().filter(|argument| defines(argument));
    for word in macros.flat_map(|argument| &argument.words) {
        hash.add(&maps.mapped(word.as_bytes()));
    }
    format!("{:016x}", hash.0)
}

fn is_marker(line: &[u8]) -> bool {
    let number = line.strip_prefix(b"# ").or(line.strip_prefix(b"#line "));
    number.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

/// Whether an argument may define macros on which conditionals depend.
fn defines(argument: &Argument) -> bool {
    argument.begins_with(&["-D", "-U", "-Wp,", "-include", "-imacros"])
}

/// FNV-1a: the same on every machine and with every version of Rust.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: &[u8]) {
        // A zero separates words; words hardly ever contain one.
        for byte in word.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmp::Language;
    use crate::source::{Layout, UndefinedMacros};
    use crate::wrapper::command::classify::classified;

    /// The unique name of a command's source.
    fn name_in(command: &str, text: &str) -> String {
        let line = classified(command);
        let index = line.arguments.iter().position(Argument::is_source).unwrap();
        let source = Source {
            name: line.arguments[index].name().to_str().unwrap().into(),
            language: Language::C,
            text: text.into(),
            layout: Layout::FREE,
            undefined: UndefinedMacros::new(),
        };
        unique(&line, index, &source)
    }

    #[test]
    fn translation_units_get_names_of_their_own() {
        let names = [
            name_in("-c a.c", "f"),
            name_in("-c b.c", "f"),
            name_in("-c a.c", "g"),
            name_in("-c a.c -DX", "f"),
            name_in("-c a.c -Wp,-DX", "f"),
            name_in("-c a.c -include x.h", "f"),
        ];
        for (at, first) in names.iter().enumerate() {
            assert!(first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            assert!(!names[at + 1..].contains(first), "{first}");
        }
    }

    #[test]
    fn a_name_does_not_say_where_a_unit_is_built() {
        for (first, second) in [
            ("-c a.c -o b.o", "-c a.c -o c.o"),
            ("-c a.c -I/home/u -MD -MF x", "-c a.c -I/home/v"),
            // GCC and Clang find a function's profile by its name.
            (
                "-fprofile-generate -c a.c",
                "-fprofile-use -Wno-missing-profile -c a.c",
            ),
            (
                "-ffile-prefix-map=/u=. -c /u/a.c",
                "-ffile-prefix-map=/v/w=. -c /v/w/a.c",
            ),
            ("-fdebug-prefix-map=/u=. -c /u/a.c -DX=1", "-c ./a.c -DX=1"),
            ("-c b.c a.c", "-c b.c"),
        ] {
            assert_eq!(name_in(first, "f"), name_in(second, "f"), "{first}");
        }
        let marked = |name: &str| format!("# 1 \"{name}\"\nint f;\n# 2 \"{name}\" 2\n");
        let command = "-c a.c";
        assert_eq!(
            name_in(command, &marked("/u")),
            name_in(command, &marked("/v"))
        );
        assert_ne!(
            name_in(command, "#line 2 \"a\"\n"),
            name_in(command, "#line 2 \"b\"\n")
        );
    }
}
