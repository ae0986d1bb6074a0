//! What is done for a program that was not built with us, whatever its runtime: `romp run`
//! is told of the profiles, and the reader of what cannot be seen.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use profile::model::Run;
use profile::save::{LIST, Saved};

use crate::measure::state;
use crate::run::life_cycle;

/// A runtime was met.
pub(super) fn begin() {
    life_cycle::tell_instead(|saved: &Saved| note(&saved.json));
}

/// Tells `romp run` of a profile: it looks up the regions, and then tells the user. False
/// if nobody asked for that.
fn note(line: &Path) -> bool {
    let Some(list) = std::env::var_os(LIST) else {
        return false;
    };
    let line = [line.as_os_str().as_bytes(), b"\n"].concat();
    let file = std::fs::OpenOptions::new().append(true).open(list);
    file.is_ok_and(|mut file| file.write_all(&line).is_ok())
}

/// Says of the run what of its runtimes cannot be seen.
pub(super) fn add_unseen(run: &mut Run, unseen: &[&str]) {
    for what in unseen {
        if !run.not_visible.iter().any(|said| said == what) {
            run.not_visible.push((*what).to_owned());
        }
    }
}

/// The program was built with us, and measures itself. `romp run` says so.
pub fn stand_back() {
    if state::is_untouched() {
        state::turn_off();
        note(Path::new("-"));
    }
}
