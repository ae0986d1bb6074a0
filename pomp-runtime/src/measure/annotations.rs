//! Annotations: facts that the program states about its run, kept in the profile.

use std::collections::BTreeMap;
use std::sync::Mutex;

use profile::model::Run;

use super::mutex::lock;
use super::{errno, thread};

/// A program that annotates in a loop must not use up memory.
const MOST_ANNOTATIONS: usize = 1000;

static ANNOTATIONS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The program says something. A key that was there gets a new value.
pub(crate) fn add(key: String, value: String) {
    thread::inside(|| {
        errno::keep(|| {
            let mut annotations = lock(&ANNOTATIONS);
            if annotations.len() < MOST_ANNOTATIONS || annotations.contains_key(&key) {
                annotations.insert(key, value);
            }
        });
    });
}

/// Adds the annotations to the description of the run.
pub(crate) fn describe(run: &mut Run) {
    run.annotations.clone_from(&lock(&ANNOTATIONS));
}

/// A forked child says for itself what it is.
pub(crate) fn start_anew() {
    // A lock that a thread of the parent holds is left alone for good.
    if let Ok(mut annotations) = ANNOTATIONS.try_lock() {
        annotations.clear();
    }
}
