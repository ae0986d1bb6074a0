//! Entries that make tasks: the runtime gets a stub of ours instead of the task's function.

use super::super::created_tasks::{Made, created_gomp, linked};
use super::super::task_functions::TaskFunction;
use super::site;
use super::table::row::Row;
use super::table::{Entry, entries};

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
/// Only for the stubs of the entries: the arguments are those of the call.
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
    // SAFETY: the runtime's function of this name takes these arguments.
    let function: Eleven = unsafe { std::mem::transmute(call.function) };
    let made = Made {
        function: call.body.map_or(body, TaskFunction::stub),
        data: b,
        copy: c,
        size: d,
        alignment: e,
    };
    super::shapes::before::<E>(call);
    let makes_one = E::NUMBER == <entries::GOMP_task as Row>::NUMBER && call.runtime.is_some();
    let label = match makes_one {
        // SAFETY: the arguments are those of the call.
        true => unsafe { created_gomp(g, h) },
        false => 0,
    };
    // SAFETY: as above; what is called instead of the task's function runs it with its data.
    let result = unsafe {
        linked(made, g, label, |made| {
            function(
                made.function,
                made.data,
                made.copy,
                made.size,
                made.alignment,
                f,
                g,
                h,
                i,
                j,
                k,
            )
        })
    };
    super::shapes::after_call::<E>(call);
    result
}
