//! Memory of our own, apart from the program's heap: what the program allocates has the
//! same addresses as without measurement.
//!
//! Some programs write a little beyond the end of an array. Such a program may run well with its
//! own heap, and crash if memory of ours lies between its pieces. So memory of ours comes, one
//! piece behind the other, from a range of addresses of its own. A piece that is not needed any
//! more is kept for the next one of its size, or given back to the system if it is large. If a
//! range is full, or could not be reserved, the system's allocator is used.
//!
//! While a large profile is written, memory comes from a range that the system may fill with large
//! pages. With small pages, half of the time for writing was spent in page faults.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::limits;

/// The bytes that a thread takes from a range at once for its small pieces.
const SLAB: usize = 1 << 18;
/// Pieces above this size are taken from the range, and given back to the system.
const LARGE: usize = 1 << 16;
/// The size of a page.
const PAGE: usize = 1 << 12;
/// Small pieces have one of these sizes: 16, and four for each doubling.
const SIZES: usize = 4 * (LARGE.ilog2() as usize - 3);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

static WHILE_IT_RUNS: Range = Range::of(if cfg!(miri) { 1 << 24 } else { 1 << 28 });
static AT_THE_END: Range = Range::of(if cfg!(miri) { 1 << 24 } else { 1 << 36 });
static IS_ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The free rest of this thread's slab: its begin and its size.
    static LEFT: Cell<(*mut u8, usize)> = const { Cell::new((ptr::null_mut(), 0)) };
    /// Pieces that are not needed any more: a list for each size, linked by the first words of the
    /// pieces.
    static KEPT: [Cell<*mut u8>; SIZES] = const { [const { Cell::new(ptr::null_mut()) }; SIZES] };
}

/// Runs something that takes much memory, once, in the range with large pages.
pub(crate) fn with_large_pages<R>(action: impl FnOnce() -> R) -> R {
    let range = AT_THE_END.begin();
    if let Some(begin) = range {
        advise(begin, AT_THE_END.size(), libc::MADV_HUGEPAGE);
        LEFT.set((ptr::null_mut(), 0));
    }
    IS_ON.store(range.is_some(), Ordering::Relaxed);
    let result = action();
    IS_ON.store(false, Ordering::Relaxed);
    result
}

/// New memory of the system's that can be written to, with some more flags; `MAP_FAILED` if it refuses.
fn map(size: usize, flags: libc::c_int) -> *mut libc::c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    // SAFETY: new memory is asked for, wherever there is room.
    unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) }
}

/// Whether the system would give this many bytes.
pub(crate) fn has_room_for(size: usize) -> bool {
    let piece = map(size, 0);
    // SAFETY: nobody else knows of the piece.
    piece != libc::MAP_FAILED && unsafe { libc::munmap(piece, size) } == 0
}

/// A range of addresses. Addresses that are not used take no memory.
struct Range {
    /// Null until it is needed.
    begin: AtomicPtr<u8>,
    used: AtomicUsize,
    /// May become smaller when it is reserved.
    size: AtomicUsize,
}

/// No memory is set aside for a range. Miri knows no such flag.
const UNRESERVED: libc::c_int = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };

/// The begin of a range that the system refused.
const REFUSED: *mut libc::c_void = libc::MAP_FAILED;

impl Range {
    const fn of(size: usize) -> Self {
        Self {
            begin: AtomicPtr::new(ptr::null_mut()),
            used: AtomicUsize::new(0),
            size: AtomicUsize::new(size),
        }
    }

    fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Reserves the range, unless that was done.
    fn begin(&self) -> Option<*mut u8> {
        let mut begin = self.begin.load(Ordering::Acquire);
        if begin.is_null() {
            begin = self.reserve();
        }
        (begin != REFUSED.cast()).then_some(begin)
    }

    #[cold]
    fn reserve(&self) -> *mut u8 {
        let size = self.size().min(limits::addresses()).max(SLAB) / SLAB * SLAB;
        self.size.store(size, Ordering::Relaxed);
        let range = map(size, UNRESERVED);
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        let first = self
            .begin
            .compare_exchange(ptr::null_mut(), range.cast(), order, failed);
        match first {
            Ok(_) => range.cast(),
            Err(begin) => {
                if range != REFUSED {
                    // SAFETY: another thread was faster: nobody knows of this one.
                    unsafe { libc::munmap(range, size) };
                }
                begin
            }
        }
    }

    /// The piece at an offset. The user's pointer to it may be valid for fewer bytes than the piece
    /// has, so a piece is handed out again by this one.
    fn at(&self, offset: usize) -> *mut u8 {
        // SAFETY: the offset is that of a piece, which lies within the range.
        unsafe { self.begin.load(Ordering::Acquire).add(offset) }
    }

    /// Takes a piece. A range begins at a page, so pieces can be aligned to up to the size of a
    /// page.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let begin = self.begin()?;
        let size = layout.size().checked_next_multiple_of(PAGE)?;
        let next = |used: usize| used.checked_add(size).filter(|end| *end <= self.size());
        if layout.align() > PAGE {
            return None;
        }
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        // SAFETY: the offset lies within the range.
        taken.ok().map(|offset| unsafe { begin.add(offset) })
    }

    /// Where in the range a piece lies.
    fn offset_of(&self, piece: *mut u8) -> Option<usize> {
        let begin = self.begin.load(Ordering::Relaxed);
        let offset = piece.addr().wrapping_sub(begin.addr());
        (!begin.is_null() && begin != REFUSED.cast() && offset < self.size()).then_some(offset)
    }

    /// Makes the latest piece of the range longer or shorter where it stands.
    fn resize_large(&self, offset: usize, old: usize, new: usize) -> bool {
        if new > self.size() - PAGE - offset {
            return false;
        }
        let end = |size: usize| offset + size.next_multiple_of(PAGE);
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let resized = self
            .used
            .compare_exchange(end(old), end(new), order, failed);
        resized.is_ok()
    }
}

/// The range from which to take.
fn current() -> &'static Range {
    match IS_ON.load(Ordering::Relaxed) {
        true => &AT_THE_END,
        false => &WHILE_IT_RUNS,
    }
}

/// The range in which a piece lies, and where; none if it is the system's.
fn range_of(piece: *mut u8) -> Option<(&'static Range, usize)> {
    let mut ranges = [&WHILE_IT_RUNS, &AT_THE_END].into_iter();
    ranges.find_map(|range| Some((range, range.offset_of(piece)?)))
}

/// Takes a piece of a range; none if it does not fit.
fn take(layout: Layout) -> Option<*mut u8> {
    match kind(layout) {
        Some(kind) => take_small(kind),
        None => current().take(layout),
    }
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

fn take_small(kind: usize) -> Option<*mut u8> {
    let again = KEPT.with(|kept| {
        let piece = kept.get(kind)?.get();
        if piece.is_null() {
            return None;
        }
        // SAFETY: the piece is ours, aligned, and has kept this word.
        let next = unsafe { piece.cast::<*mut u8>().read() };
        kept[kind].set(next);
        Some(piece)
    });
    again.or_else(|| take_from_slab(kind))
}

fn take_from_slab(kind: usize) -> Option<*mut u8> {
    let size = size_of_kind(kind);
    LEFT.with(|left| {
        let (begin, room) = left.get();
        // A layout whose size is a power of two may ask for that alignment.
        let align = if size.is_power_of_two() {
            size.min(PAGE)
        } else {
            16
        };
        let skipped = begin.addr().next_multiple_of(align) - begin.addr();
        if skipped + size <= room {
            // SAFETY: the piece and its end lie within the slab.
            let (piece, end) = unsafe { (begin.add(skipped), begin.add(skipped + size)) };
            left.set((end, room - skipped - size));
            return Some(piece);
        }
        let slab = Layout::from_size_align(SLAB, PAGE).ok()?;
        let piece = current().take(slab)?;
        // SAFETY: no small piece is as large as a slab.
        left.set((unsafe { piece.add(size) }, SLAB - size));
        Some(piece)
    })
}

/// A small piece is kept for the next one of its size: by the pointer to hand out again, and
/// written to by the pointer that its user gives back.
fn keep(again: *mut u8, given: *mut u8, kind: usize) {
    KEPT.with(|kept| {
        // SAFETY: nobody uses the piece any more, which is aligned and has room for a word.
        unsafe { given.cast::<*mut u8>().write(kept[kind].get()) };
        kept[kind].set(again);
    });
}

/// Gives a large piece back.
fn give_back(piece: *mut u8, size: usize) {
    // The pages are those of the piece alone, which nobody uses any more.
    advise(piece, size & !(PAGE - 1), libc::MADV_DONTNEED);
}

/// Advises the system about pages of ours. A refusal does no harm. Miri has no such call.
fn advise(begin: *mut u8, size: usize, advice: libc::c_int) {
    if !cfg!(miri) {
        // SAFETY: the pages are ours, and nobody relies on what stands in them.
        unsafe { libc::madvise(begin.cast(), size, advice) };
    }
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
        // A piece that was used before may be handed out again, and is not zero then.
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
        match range_of(piece) {
            Some((range, offset)) => match kind(layout) {
                Some(kind) => keep(range.at(offset), piece, kind),
                None => give_back(piece, layout.size()),
            },
            // SAFETY: as the caller promises, and it is the system's.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some((range, offset)) = range_of(piece) else {
            // SAFETY: as the caller promises, and it is the system's.
            return unsafe { System.realloc(piece, layout, new_size) };
        };
        let new = Layout::from_size_align(new_size, layout.align()).ok();
        let stays = match (kind(layout), new.and_then(kind)) {
            (Some(old), Some(new)) => old == new,
            (None, None) => range.resize_large(offset, layout.size(), new_size),
            _ => false,
        };
        if stays {
            return range.at(offset);
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

    /// Miri takes its time.
    const STRINGS: usize = if cfg!(miri) { 50 } else { 1000 };
    const ROUNDS: u64 = if cfg!(miri) { 50 } else { 20_000 };
    const STEP: usize = if cfg!(miri) { 97 } else { 1 };

    /// Memory is compared with these at once: Miri would take minutes for a loop over the bytes.
    static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

    #[test]
    fn pieces_are_aligned_apart_and_keep_their_content_when_they_grow() {
        let _turn = lock(&TURN);
        let (vectors, strings) = with_large_pages(|| {
            let mut vectors: Vec<Vec<u64>> = (0..100).map(|_| Vec::new()).collect();
            for round in 0..ROUNDS {
                for (number, vector) in (0..).zip(&mut vectors) {
                    vector.push(round * 1000 + number);
                }
            }
            let strings: Vec<String> = (0..STRINGS).map(|number| "x".repeat(number * 7)).collect();
            (vectors, strings)
        });
        for (number, vector) in (0..).zip(&vectors) {
            let expected = (0..ROUNDS).map(|round| round * 1000 + number);
            assert!(vector.iter().copied().eq(expected));
        }
        for (number, string) in strings.iter().enumerate() {
            assert_eq!(string.len(), number * 7);
            assert!(string.bytes().all(|byte| byte == b'x'));
        }
        let place = vectors[0].as_ptr().cast_mut().cast();
        assert!(AT_THE_END.offset_of(place).is_some());
        let small = Box::into_raw(Box::new(0u64));
        assert!(range_of(small.cast()).is_some());
        // SAFETY: it was a box.
        drop(unsafe { Box::from_raw(small) });
        assert!(vec![0u8; ZEROS.len()] == ZEROS);
        let given = |size, align| {
            let layout = Layout::from_size_align(size, align).unwrap();
            size_of_kind(kind(layout).unwrap())
        };
        for size in (1..=LARGE).step_by(STEP) {
            assert!(
                (size..size + size / 4 + 16).contains(&given(size, 8)),
                "{size}"
            );
        }
        for align in [32, 64, 4096] {
            assert!(given(40, align).is_power_of_two() && given(40, align) >= align);
        }
        drop((vectors, strings));
        assert!(AT_THE_END.used.load(Ordering::Relaxed) > ROUNDS as usize * 8 * 100);
    }

    #[test]
    fn what_is_zeroed_is_zero_also_where_something_was() {
        const SMALL: usize = 1000;
        const SIZE: usize = 3 << 16;
        let _turn = lock(&TURN);
        with_large_pages(|| {
            // A small piece is used again; a large one begins where the last one was cut off,
            // unless another test took memory in between.
            for (size, stays) in [(SMALL, SMALL), (SIZE, LARGE + PAGE)] {
                let (mut last, mut used_again) = (None, 0);
                for _ in 0..ROUNDS.min(50) {
                    let mut block = vec![0u8; size];
                    let begin = block.as_ptr().addr();
                    let was_used = |last: usize| (last..last + size).contains(&begin);
                    used_again += u32::from(last.is_some_and(was_used));
                    last = Some(begin);
                    assert!(block == ZEROS[..size]);
                    block.fill(1);
                    block.truncate(stays);
                    block.shrink_to_fit();
                }
                assert!(used_again > 0, "{size}");
            }
        });
    }
}
