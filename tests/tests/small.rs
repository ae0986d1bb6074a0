//! Many small inputs, one construct each, where source instrumenters went wrong:
//! every one compiles with `rompcc` as it does without, with the same messages,
//! and what becomes of its directives is a reviewed snapshot.
//!
//! `INSTA_UPDATE=always cargo test -p tests --test small` rewrites it.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::path::Path;
use std::process::Command;

use instrumenter::list::{FileListing, listing, write_text};
use instrumenter::verify::verify;
use instrumenter::{Options, Source, instrument};
use tests::fixture::Fixture;
use tests::processors;
use tests::toolchain::{Compiler, romp_bin_dir};

#[test]
fn every_directive_is_measured_or_left_for_a_reason() {
    let listings: Vec<FileListing> = Fixture::all_in("small").unwrap().iter().map(list).collect();
    let mut text = Vec::new();
    write_text(&listings, &mut text).unwrap();
    insta::assert_snapshot!("small_list", String::from_utf8(text).unwrap());
}

fn list(fixture: &Fixture) -> FileListing {
    let name = fixture.path.file_name().unwrap().to_string_lossy();
    let source = Source {
        name: name.into_owned(),
        language: Source::language_of(&fixture.path),
        text: fixture.text.clone().into_bytes(),
        layout: Source::layout_of(&fixture.path),
        undefined: instrumenter::source::UndefinedMacros::new(),
    };
    let options = Options {
        host_only: true,
        ..Options::default()
    };
    let result = instrument(&source, &options);
    assert_eq!(verify(&source, &result), Ok(()), "{}", source.name);
    listing(&source, &result)
}

#[test]
fn every_input_compiles_as_it_does_without() {
    let bin = romp_bin_dir().unwrap();
    let differences = |fixture: &Fixture| -> Vec<String> {
        let names = fixture.header.compilers.iter().map(|name| {
            match (fixture.path.extension().unwrap() == "cpp", name.as_str()) {
                (true, "gcc") => "g++",
                (true, "clang") => "clang++",
                (_, name) => name,
            }
        });
        names
            .filter_map(|name| difference(fixture, &Compiler::find(name).unwrap(), &bin))
            .collect()
    };
    let fixtures = Fixture::all_in("small").unwrap();
    let failures = processors::for_each(&fixtures, differences).concat();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The messages that the compiler gives only with us, or only without us.
fn difference(fixture: &Fixture, compiler: &Compiler, bin: &Path) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let (wrapper, _) = compiler.wrapper();
    // If a directive is left alone for a reason, a warning says so, which must be no error.
    let is_left = fixture.header.notes > 0;
    let run = |program: &Path, object: &str| {
        let output = Command::new(program)
            .env("ROMP_CC", &compiler.name)
            .env("ROMP_CXX", &compiler.name)
            .env("ROMP_FC", &compiler.name)
            .env("ROMP_STRICT", if is_left { "0" } else { "1" })
            .args(&fixture.header.flags)
            .args(["-fopenmp", "-O1", "-c", "-o"])
            .arg(folder.path().join(object))
            .arg(std::fs::canonicalize(&fixture.path).unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    };
    let plain = run(compiler.name.as_ref(), "plain.o");
    let measured = run(&bin.join(wrapper), "measured.o");
    let about = || format!("{} with {}", fixture.name(), compiler.name);
    match (plain, measured) {
        ((false, said), _) => Some(format!("{}: without us: {said}", about())),
        (plain, measured) if plain == measured && !is_left => None,
        ((_, said), (true, also)) if is_left && also.ends_with(&said) && also != said => None,
        (_, (_, said)) => Some(format!("{}: {said}", about())),
    }
}
