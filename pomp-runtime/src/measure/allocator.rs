//! The memory in which a large profile is written when the program ends.
//!
//! Half of that time were the faults of small pages. So what is allocated meanwhile comes,
//! one piece behind the other, from a range that the system may fill with large pages. A
//! piece that is not needed any more is kept for the next one of its size, or given back
//! to the system if it is large. At all other times, and where there is no such range,
//! this is the system's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Addresses of the range; what is not used of it takes no memory.
const RANGE: usize = 1 << 36;
/// What a thread takes from the range for its small pieces.
const SLAB: usize = 1 << 18;
/// Pieces above this size are taken from the range, and given back to the system.
const LARGE: usize = 1 << 16;
/// What the system gives and takes back.
const PAGE: usize = 1 << 12;
/// Small pieces have one of these sizes: 16, and four for each doubling.
const SIZES: usize = 4 * (LARGE.ilog2() as usize - 3);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The range; null until it is needed.
static BEGIN: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
/// How much of it is used.
static USED: AtomicUsize = AtomicUsize::new(0);
static IS_ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What is left of this thread's slab: offsets of its begin and end.
    static LEFT: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Pieces that are not needed any more, by size: the offset of one, plus one, and in
    /// its first word that of the next.
    static KEPT: [Cell<usize>; SIZES] = const { [const { Cell::new(0) }; SIZES] };
}

/// Does something that takes much memory, once.
pub(super) fn with_large_pages<R>(action: impl FnOnce() -> R) -> R {
    IS_ON.store(is_reserved(), Ordering::Relaxed);
    let result = action();
    IS_ON.store(false, Ordering::Relaxed);
    result
}

/// Reserves the range, unless that was done.
fn is_reserved() -> bool {
    if !BEGIN.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: new memory is asked for, wherever there is room.
    let range = unsafe {
        libc::mmap(
            ptr::null_mut(),
            RANGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if range == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: the range is ours. That the advice may be refused does no harm.
    unsafe { libc::madvise(range, RANGE, libc::MADV_HUGEPAGE) };
    BEGIN.store(range.cast(), Ordering::Release);
    true
}

/// Takes a piece from the range; none if it is not used now, or the piece does not fit.
fn take(layout: Layout) -> Option<*mut u8> {
    if !IS_ON.load(Ordering::Relaxed) {
        return None;
    }
    let begin = BEGIN.load(Ordering::Acquire);
    let offset = match kind(layout) {
        Some(kind) => take_small(begin, kind)?,
        None => take_from_range(layout)?,
    };
    // SAFETY: the offset lies within the range.
    Some(unsafe { begin.add(offset) })
}

/// The number of a small piece's size.
fn kind(layout: Layout) -> Option<usize> {
    // The sizes are not multiples of large alignments.
    let size = match layout.align() > 16 {
        true => layout.size().max(layout.align()).next_power_of_two(),
        false => layout.size().max(16),
    };
    if size > LARGE || layout.align() > PAGE {
        return None;
    }
    let doubling = (size - 1).ilog2() as usize;
    let quarter = ((size - 1) >> (doubling - 2)) & 3;
    Some(4 * (doubling - 3) + quarter)
}

/// The size with this number.
fn size_of_kind(kind: usize) -> usize {
    (5 + kind % 4) << (kind / 4 + 1)
}

fn take_small(begin: *mut u8, kind: usize) -> Option<usize> {
    let again = KEPT.with(|kept| {
        let offset = kept.get(kind)?.get().checked_sub(1)?;
        // SAFETY: the piece is in the range, aligned, and has kept this word.
        let next = unsafe { begin.add(offset).cast::<usize>().read() };
        kept[kind].set(next);
        Some(offset)
    });
    again.or_else(|| take_from_slab(kind))
}

fn take_from_slab(kind: usize) -> Option<usize> {
    let size = size_of_kind(kind);
    LEFT.with(|left| {
        let (begin, end) = left.get();
        // As aligned as a power of two of this size asks for.
        let align = if size.is_power_of_two() {
            size.min(PAGE)
        } else {
            16
        };
        let begin = begin.next_multiple_of(align);
        if begin + size <= end {
            left.set((begin + size, end));
            return Some(begin);
        }
        let slab = Layout::from_size_align(SLAB, PAGE).ok()?;
        let begin = take_from_range(slab)?;
        left.set((begin + size, begin + SLAB));
        Some(begin)
    })
}

/// A small piece is kept for the next one of its size.
fn keep(piece: *mut u8, offset: usize, kind: usize) {
    KEPT.with(|kept| {
        // SAFETY: nobody uses the piece any more, which is aligned and has room for a word.
        unsafe { piece.cast::<usize>().write(kept[kind].get()) };
        kept[kind].set(offset + 1);
    });
}

/// The range begins at a page, so that offsets are aligned as addresses are, for
/// alignments up to that.
fn take_from_range(layout: Layout) -> Option<usize> {
    let size = layout.size().checked_next_multiple_of(PAGE)?;
    let next = |used: usize| used.checked_add(size).filter(|end| *end <= RANGE);
    if layout.align() > PAGE {
        return None;
    }
    let taken = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    taken.ok()
}

/// Where in the range a piece lies; none if it is the system's.
fn offset_of(piece: *mut u8) -> Option<usize> {
    let begin = BEGIN.load(Ordering::Relaxed);
    let offset = piece.addr().wrapping_sub(begin.addr());
    (!begin.is_null() && offset < RANGE).then_some(offset)
}

/// Gives a large piece back.
fn give_back(piece: *mut u8, size: usize) {
    // SAFETY: the pages are those of the piece alone, which nobody uses any more.
    unsafe { libc::madvise(piece.cast(), size & !(PAGE - 1), libc::MADV_DONTNEED) };
}

/// Makes the latest piece of the range longer or shorter where it stands.
fn resize_large(offset: usize, old: usize, new: usize) -> bool {
    if offset + new > RANGE - PAGE {
        return false;
    }
    let end = |size: usize| offset + size.next_multiple_of(PAGE);
    let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
    let resized = USED.compare_exchange(end(old), end(new), order, failed);
    resized.is_ok()
}

struct Allocator;

// SAFETY: pieces of the range are never handed out twice, and are as large and as
// aligned as was asked for; all else is the system's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // What was taken back may be handed out again, and is not zero then.
        match take(layout) {
            Some(piece) => {
                // SAFETY: the piece has this size.
                unsafe { piece.write_bytes(0, layout.size()) };
                piece
            }
            // SAFETY: as the caller promises.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match offset_of(piece) {
            Some(offset) => match kind(layout) {
                Some(kind) => keep(piece, offset, kind),
                None => give_back(piece, layout.size()),
            },
            // SAFETY: as the caller promises, and it is the system's.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(offset) = offset_of(piece) else {
            // SAFETY: as the caller promises, and it is the system's.
            return unsafe { System.realloc(piece, layout, new_size) };
        };
        let new = Layout::from_size_align(new_size, layout.align()).ok();
        let stays = match (kind(layout), new.and_then(kind)) {
            (Some(old), Some(new)) => old == new,
            (None, None) => resize_large(offset, layout.size(), new_size),
            _ => false,
        };
        if stays {
            return piece;
        }
        // SAFETY: as the caller promises of the new size; both pieces have the bytes
        // that are copied, and are different ones.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(piece, layout.size().min(new_size));
                self.dealloc(piece, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::measure::mutex::lock;

    /// One at a time switches it on.
    static TURN: Mutex<()> = Mutex::new(());

    #[test]
    fn pieces_are_aligned_apart_and_keep_their_content_when_they_grow() {
        let _turn = lock(&TURN);
        let (vectors, strings) = with_large_pages(|| {
            let mut vectors: Vec<Vec<u64>> = (0..100).map(|_| Vec::new()).collect();
            for round in 0..20_000u64 {
                for (number, vector) in (0..).zip(&mut vectors) {
                    vector.push(round * 1000 + number);
                }
            }
            let strings: Vec<String> = (0..1000).map(|number| "x".repeat(number * 7)).collect();
            (vectors, strings)
        });
        for (number, vector) in (0..).zip(&vectors) {
            let expected = (0..20_000).map(|round| round * 1000 + number);
            assert!(vector.iter().copied().eq(expected));
        }
        for (number, string) in strings.iter().enumerate() {
            assert_eq!(string.len(), number * 7);
            assert!(string.bytes().all(|byte| byte == b'x'));
        }
        assert!(offset_of(vectors[0].as_ptr().cast_mut().cast()).is_some());
        assert_eq!(
            vec![0u8; 1 << 20].iter().filter(|byte| **byte != 0).count(),
            0
        );
        let given = |size, align| {
            let layout = Layout::from_size_align(size, align).unwrap();
            size_of_kind(kind(layout).unwrap())
        };
        for size in 1..=LARGE {
            assert!(
                (size..size + size / 4 + 16).contains(&given(size, 8)),
                "{size}"
            );
        }
        for align in [32, 64, 4096] {
            assert!(given(40, align).is_power_of_two() && given(40, align) >= align);
        }
        drop((vectors, strings));
        assert!(USED.load(Ordering::Relaxed) > 20_000 * 8 * 100);
    }

    #[test]
    fn what_is_zeroed_is_zero_also_where_something_was() {
        let _turn = lock(&TURN);
        with_large_pages(|| {
            for _ in 0..50 {
                let mut block = vec![0u8; 3 << 16];
                assert!(block.iter().all(|byte| *byte == 0));
                block.fill(1);
                block.truncate(1 << 16);
                block.shrink_to_fit();
            }
        });
    }
}
