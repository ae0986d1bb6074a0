//! How much memory a piece of code takes: what its thread has allocated and not freed,
//! at the most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts for each thread.
#[derive(Debug)]
pub struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: i64) {
    // A thread that ends may free memory after its counters are gone.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = now + bytes;
        held.set((now, most.max(now)));
    });
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps what `alloc_zeroed` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the pointer came from `alloc` above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the pointer came from `alloc` above, with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The code's result, and the most bytes that this thread held meanwhile, beyond those that it
/// held before.
pub fn taken<R>(code: impl FnOnce() -> R) -> (R, u64) {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    let result = code();
    let (_, most) = HELD.get();
    (result, u64::try_from(most - before).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::taken;

    #[test]
    fn what_is_freed_counts_while_it_was_held() {
        let (kept, most) = taken(|| {
            drop(std::hint::black_box(vec![0u8; 1 << 20]));
            vec![0u8; 1000]
        });
        assert!(((1 << 20)..(1 << 21)).contains(&most), "{most}");
        let ((), most) = taken(|| drop(kept));
        assert_eq!(most, 0);
    }
}
