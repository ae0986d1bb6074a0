//! Entries that make tasks: the runtime gets a stub of ours instead of the task's function.

use super::super::task_functions::TaskFunction;
use super::site;
use super::table::Entry;

type Eleven = unsafe extern "C-unwind" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> usize;

/// Entries that make tasks.
///
/// # Safety
/// Only for the stubs of the entries: the words are those of the call.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn task<E: Entry>(
    body: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    _caller: usize,
    g: usize,
    h: usize,
    i: usize,
    j: usize,
    k: usize,
) -> usize {
    let call = site::of::<E>(body, body);
    // SAFETY: the runtime's function of this name takes these words.
    let function: Eleven = unsafe { std::mem::transmute(call.function) };
    let run = call.body.map_or(body, TaskFunction::stub);
    super::shapes::before::<E>(call);
    // SAFETY: as above; the stub runs the function with the data that it gets.
    let result = unsafe { function(run, b, c, d, e, f, g, h, i, j, k) };
    super::shapes::after::<E>(call, E::after);
    result
}
