//! Traces that were cut or changed. They are never taken for complete, the program is never
//! blamed for them, and they never take more memory than their length allows.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::fuzz::{pool, trace as fuzz};
use tests::processors;
use tests::toolchain::romp_bin_dir;
use trace::check::check;
use trace::layout::SLOT_BYTES;
use trace::read::{ReadError, State, Trace};

/// The traces of real programs that are kept for fuzzing, as their programs left them.
fn kept() -> Vec<Vec<u8>> {
    let files = pool::files("fixtures/fuzz/trace", &[]);
    let whole = files.iter().filter(|file| file.extension().is_none());
    let traces: Vec<Vec<u8>> = whole
        .map(|file| fuzz::expanded(&std::fs::read(file).unwrap()))
        .collect();
    assert!(traces.len() >= 3);
    traces
}

/// The offsets of a trace to be tried; of its holes only a few.
fn offsets(trace: &[u8]) -> impl Iterator<Item = usize> {
    (0..trace.len()).filter(|at| {
        let around = trace[at.saturating_sub(16)..trace.len().min(at + 16)].iter();
        at % SLOT_BYTES < 160 || at % 4099 == 0 || around.into_iter().any(|byte| *byte != 0)
    })
}

#[test]
fn a_trace_that_was_cut_anywhere_is_incomplete_and_blames_nobody() {
    for whole in kept() {
        let name = Path::new("cut");
        let trace = Trace::from_bytes(name, whole.clone()).unwrap();
        assert_eq!(trace.state(), State::Complete);
        assert_eq!(check(&trace).unwrap().described, Vec::<String>::new());
        let mut opened = 0;
        for at in offsets(&whole) {
            match Trace::from_bytes(name, whole[..at].to_vec()) {
                Ok(trace) => {
                    opened += 1;
                    let of = whole.len() as u64;
                    let bytes = at as u64;
                    assert_eq!(trace.state(), State::Cut { bytes, of });
                    let found = check(&trace).unwrap();
                    assert_eq!(found.described, Vec::<String>::new(), "{at}");
                }
                Err(error) => {
                    assert!(at < 128, "{at}: {error}");
                    assert!(matches!(error, ReadError::Nothing { .. }), "{at}: {error}");
                }
            }
        }
        assert!(opened > 1000, "{opened}");
    }
}

#[test]
fn a_byte_that_was_changed_takes_no_memory_and_makes_nothing_complete_that_is_not() {
    let files = pool::files("fixtures/fuzz/trace", &[]);
    let smallest = files.iter().filter(|file| file.extension().is_none());
    let smallest = smallest.min_by_key(|file| file.metadata().unwrap().len());
    let packed = std::fs::read(smallest.unwrap()).unwrap();
    let places: Vec<usize> = (0..packed.len()).collect();
    processors::for_each(&places, |&at| {
        for change in [0x01, 0xff] {
            let mut changed = packed.clone();
            changed[at] ^= change;
            // As it is, and with the checks of the slots made right.
            for variant in 0..2 {
                fuzz::traces(&changed, variant);
            }
        }
    });
}

#[test]
fn a_file_with_a_hole_of_any_size_is_read_in_no_time() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &kept()[0]).unwrap();
    file.as_file().set_len(1 << 40).unwrap();
    let trace = Trace::open(file.path()).unwrap();
    assert!(!trace.is_complete());
    assert_eq!(
        trace.torn(),
        (1 << 40) / SLOT_BYTES as u64 - 1 - slots(&kept()[0])
    );
}

/// Slots behind the header.
fn slots(trace: &[u8]) -> u64 {
    (trace.len().div_ceil(SLOT_BYTES) - 1) as u64
}

fn romp(words: &[&str]) -> Output {
    Command::new(romp_bin_dir().unwrap().join("romp"))
        .args(words)
        .output()
        .unwrap()
}

/// A file with these bytes in a folder of its own.
fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.0.romp.trace");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn every_command_says_that_a_trace_was_cut() {
    let whole = &kept()[0];
    for at in [whole.len() / 3, whole.len() * 3 / 4] {
        let (folder, path) = file(&whole[..at]);
        let path = path.to_str().unwrap();
        let export = folder.path().join("out");
        let export = ["--format", "chrome", "--output", export.to_str().unwrap()];
        for (command, more) in [
            ("info", &[] as &[&str]),
            ("dump", &[]),
            ("check", &[]),
            ("stats", &[]),
            ("periods", &[]),
            ("waits", &[]),
            ("loops", &[]),
            ("export", &export),
        ] {
            let ran = romp(&[&["trace", command, path], more].concat());
            let both = [ran.stdout, ran.stderr].concat();
            let said = String::from_utf8_lossy(&both).into_owned();
            assert!(said.contains("incomplete: the file was cut"), "{said}");
            match command {
                "check" => assert_eq!(ran.status.code(), Some(1), "{said}"),
                // Perhaps no loop is left, so any status is right.
                "loops" => {}
                _ => assert!(ran.status.success(), "{command}: {said}"),
            }
            assert!(!said.contains("faults"), "{said}");
        }
    }
}

#[test]
fn what_a_killed_program_left_is_known_for_a_trace() {
    for bytes in [&[] as &[u8], &kept()[0][..5], &kept()[0][..127]] {
        let (_folder, path) = file(bytes);
        let ran = romp(&["trace", "info", path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1));
        assert!(said.contains("ends before its first event"), "{said}");
        assert!(said.contains("run the program to its end"), "{said}");
    }
    // With a header that says that the run has not ended.
    let mut header = kept()[0][..128].to_vec();
    header[16..24].fill(0);
    header[88..96].fill(0);
    let (_folder, path) = file(&header);
    for (command, status) in [("info", 0), ("dump", 0), ("check", 1)] {
        let ran = romp(&["trace", command, path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert_eq!(ran.status.code(), Some(status), "{said}");
        assert!(
            said.contains("incomplete: the program was killed"),
            "{said}"
        );
    }
    let (_folder, path) = file(b"#include <stdio.h>\nint main(void) { return 0; }\n");
    let ran = romp(&["trace", "info", path.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("it is not a Romp trace"), "{said}");
}

#[test]
fn the_words_of_a_command_may_stand_in_either_order() {
    let (_folder, path) = file(&kept()[0]);
    let path = path.to_str().unwrap();
    let expected = romp(&["trace", "dump", path, "-f", "json"]);
    assert!(expected.status.success() && !expected.stdout.is_empty());
    let other = romp(&["trace", path, "dump", "-f", "json"]);
    assert_eq!(
        (other.status.code(), other.stdout),
        (Some(0), expected.stdout)
    );
    let said = |words: &[&str]| {
        let ran = romp(words);
        assert_eq!(ran.status.code(), Some(2));
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    for (words, expected) in [
        (vec!["trace", path, "dmup"], "'dump'"),
        (vec!["trace", "dmup", path], "'dump'"),
        (vec!["trace", path], "romp trace info"),
    ] {
        let said = said(&words);
        assert!(said.contains(expected), "{said}");
    }
}
