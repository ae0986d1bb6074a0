//! The barrier at the end of a construct that could not be split, as one in which a
//! `cancel` stands: the compiler calls the runtime for it, behind the construct's work.
//!
//! Our functions have the runtimes' names, weakly, and call the runtime's own once. Where
//! the runtime is linked statically the linker takes its functions instead; GCC's
//! `GOMP_barrier` is named in a part of the archive that sees to that (`packaging/archive`).

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::AtomicPtr;

use super::boundary::thread_event;
use crate::measure::{clock, dynamic, region, state};

/// Passes a barrier, which counts for the construct that it ends.
#[inline(always)]
fn pass<R>(barrier: impl FnOnce() -> R) -> R {
    match region::some_is_unsplit() {
        true => measured(barrier),
        false => barrier(),
    }
}

#[cold]
#[inline(never)]
fn measured<R>(barrier: impl FnOnce() -> R) -> R {
    if state::is_off() {
        return barrier();
    }
    let end = thread_event(|thread| thread.arrive_at_unsplit_barrier(clock::now));
    let result = barrier();
    if let Some(Some(end)) = end {
        thread_event(move |thread| thread.leave_unsplit_barrier(end, clock::now));
    }
    result
}

/// Defines a barrier: the runtime's name, ours, the arguments and the result.
macro_rules! barrier {
    ($name:ident $ours:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        /// # Safety
        /// As the runtime asks of its own function, which is called with the same arguments.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $ours($($argument: $type),*) -> $result {
            static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            const NAME: &CStr =
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                };
            type Barrier = unsafe extern "C-unwind" fn($($type),*) -> $result;
            // SAFETY: null is the `None` of a function pointer, and a function of this name
            // has this type.
            let next: Option<Barrier> = unsafe { std::mem::transmute(dynamic::next(&NEXT, NAME)) };
            // The team was made by the same runtime, so that there is one.
            let Some(next) = next else {
                return <$result>::default();
            };
            // SAFETY: as the caller promises.
            pass(|| unsafe { next($($argument),*) })
        }
    };
}

barrier! { GOMP_barrier romp_gomp_barrier() -> () }
barrier! { GOMP_loop_end romp_gomp_loop_end() -> () }
barrier! { GOMP_loop_end_cancel romp_gomp_loop_end_cancel() -> bool }
barrier! { GOMP_sections_end romp_gomp_sections_end() -> () }
barrier! { GOMP_sections_end_cancel romp_gomp_sections_end_cancel() -> bool }
barrier! {
    __kmpc_barrier romp_kmpc_barrier(source: *mut c_void, thread: c_int) -> ()
}
barrier! {
    __kmpc_cancel_barrier romp_kmpc_cancel_barrier(source: *mut c_void, thread: c_int) -> c_int
}

super::weak::define_weakly! {
    "GOMP_loop_end" => "romp_gomp_loop_end",
    "GOMP_loop_end_cancel" => "romp_gomp_loop_end_cancel",
    "GOMP_sections_end" => "romp_gomp_sections_end",
    "GOMP_sections_end_cancel" => "romp_gomp_sections_end_cancel",
    "__kmpc_barrier" => "romp_kmpc_barrier",
    "__kmpc_cancel_barrier" => "romp_kmpc_cancel_barrier",
}
