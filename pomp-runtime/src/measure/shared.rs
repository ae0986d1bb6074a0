//! Memory that its owner writes while another thread may read it.
//!
//! Everything that a measured thread records is written by that thread alone,
//! with plain moves, and read once more when the run ends, possibly while the
//! thread still runs. So each field is an atomic, written relaxed; what is
//! pointed to is never freed and is published with release and acquire. The
//! types here are the only place that turns stored pointers into references.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::errno;

/// A number that one thread writes.
#[derive(Debug, Default)]
pub(crate) struct SharedU64(AtomicU64);

impl SharedU64 {
    pub(crate) const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Adds, wrapping. For the owner only: it is no read-modify-write.
    #[inline(always)]
    pub(crate) fn add(&self, value: u64) {
        self.set(self.get().wrapping_add(value));
    }
}

/// A floating-point number, written by one thread.
#[derive(Debug, Default)]
pub(crate) struct SharedF64(SharedU64);

impl SharedF64 {
    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.0.get())
    }

    pub(crate) fn set(&self, value: f64) {
        self.0.set(value.to_bits());
    }

    /// Adds. For the owner only, as for [`SharedU64`].
    pub(crate) fn add(&self, value: f64) {
        self.set(self.get() + value);
    }
}

/// A reference, or none, to something that is never freed.
#[derive(Debug)]
pub(crate) struct SharedRef<T: 'static>(AtomicPtr<T>);

impl<T: Sync + 'static> SharedRef<T> {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: only the methods of this type store here, and they take nothing
        // but `&'static T`; the release there and the acquire here order what
        // was written to the target before it was linked. The measured program
        // stores in one such field (`lending::Passed`), on the thread that reads
        // it: nothing, or what the library has stored in a record.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, target: Option<&'static T>) {
        self.0.store(pointer(target), Ordering::Release);
    }

    /// Takes the target out.
    pub(crate) fn take(&self) -> Option<&'static T> {
        let target = self.0.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: as in `get`.
        unsafe { target.as_ref() }
    }

    /// Stores a target unless another one than `expected` stands there. Whether
    /// it was stored.
    pub(crate) fn replace_if(&self, expected: Option<&'static T>, target: &'static T) -> bool {
        self.0
            .compare_exchange(
                pointer(expected),
                pointer(Some(target)),
                Ordering::AcqRel,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Whether this is the target.
    #[inline(always)]
    pub(crate) fn is(&self, target: &'static T) -> bool {
        std::ptr::eq(self.0.load(Ordering::Relaxed), target)
    }
}

impl<T: Sync + 'static> Default for SharedRef<T> {
    fn default() -> Self {
        Self::none()
    }
}

#[inline(always)]
fn pointer<T>(target: Option<&'static T>) -> *mut T {
    target.map_or(std::ptr::null_mut(), |target| {
        std::ptr::from_ref(target).cast_mut()
    })
}

/// Allocates `count` items for good; none if memory is short.
pub(crate) fn leak_slice<T>(count: usize, make: impl FnMut() -> T) -> Option<&'static [T]> {
    let mut items = Vec::new();
    errno::keep(|| items.try_reserve_exact(count)).ok()?;
    items.resize_with(count, make);
    Some(items.leak())
}

/// Allocates one item for good; none if memory is short.
pub(crate) fn leak<T>(item: T) -> Option<&'static T> {
    leak_made(|| item)
}

/// As `leak`, for an item that is too large for the stack: it is made where it stays.
#[inline]
pub(crate) fn leak_made<T>(make: impl FnOnce() -> T) -> Option<&'static T> {
    let mut items = Vec::new();
    errno::keep(|| items.try_reserve_exact(1)).ok()?;
    items.push(make());
    items.leak().first()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_complete_in_every_thread() {
        static LATEST: SharedRef<[SharedU64; 2]> = SharedRef::none();
        const LAST: u64 = 50;
        let writer = std::thread::spawn(|| {
            for number in 1..=LAST {
                let words = leak([SharedU64::new(number), SharedU64::default()]).unwrap();
                words[1].add(number);
                LATEST.set(Some(words));
            }
        });
        let mut seen = 0;
        while seen < LAST {
            if let Some(words) = LATEST.get() {
                assert_eq!(words[0].get(), words[1].get());
                assert!(words[0].get() >= seen);
                seen = words[0].get();
            }
            std::thread::yield_now();
        }
        writer.join().unwrap();
        assert_eq!(LATEST.take().unwrap()[0].get(), LAST);
        assert!(LATEST.get().is_none());
    }

    #[test]
    fn a_link_is_replaced_only_if_it_is_as_expected() {
        let link = SharedRef::default();
        let items = leak_slice(3, SharedU64::default).unwrap();
        assert!(link.replace_if(None, &items[0]) && !link.replace_if(None, &items[1]));
        assert!(link.is(&items[0]) && link.replace_if(Some(&items[0]), &items[2]));
        assert!(link.is(&items[2]));
        items[2].add(u64::MAX);
        items[2].add(2);
        assert_eq!(link.get().unwrap().get(), 1);
    }
}
