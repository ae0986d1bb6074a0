//! The `depend` clauses of a task, as the program gives them to its runtime: iterators are
//! resolved, and the objects of `depobj` stand for what they were set to.

use trace::depend::{ALL_MEMORY, Kind};

/// An item of LLVM's list.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct KmpDepend {
    address: usize,
    _bytes: usize,
    flags: u8,
}

/// Types, as LLVM's runtime numbers them; for all memory, a flag beside others.
const KMP_IN: u8 = 1;
const KMP_OUT: u8 = 2;
const KMP_MUTEXINOUTSET: u8 = 4;
const KMP_INOUTSET: u8 = 8;
const KMP_ALL: u8 = 0x80;

/// Gives each item of the list that is given to GCC's runtime: type and address.
///
/// ```text
/// number, number of out,                                              addresses
/// 0, number, number of out, of mutexinoutset, of in,                  addresses, objects
/// ```
///
/// In the first form all others are `in`. An object is an address and the number of a type. GCC
/// does not tell `inout` from `out`.
///
/// # Safety
/// `list` is null or such a list.
pub(super) unsafe fn each_of_gomp(list: *const usize, mut each: impl FnMut(Kind, u64)) {
    if list.is_null() {
        return;
    }
    // SAFETY: as the caller promises; each index is below the number of words in the head.
    let word = |index: usize| unsafe { *list.add(index) };
    let (begin, all, outs, mutexes, ins) = match word(0) {
        0 => (5, word(1), word(2), word(3), word(4)),
        all => (2, all, word(1), 0, all - word(1).min(all)),
    };
    for index in 0..all {
        let item = word(begin + index);
        let (kind, address) = if index < outs {
            (Kind::Out, item)
        } else if index - outs < mutexes {
            (Kind::Mutexinoutset, item)
        } else if index - outs - mutexes < ins {
            (Kind::In, item)
        } else {
            // SAFETY: as the caller promises, it is an object.
            unsafe { object(std::ptr::with_exposed_provenance(item)) }
        };
        each(kind, address as u64);
    }
}

/// The type and the address of GCC's object.
///
/// # Safety
/// `object` points to two words.
unsafe fn object(object: *const [usize; 2]) -> (Kind, usize) {
    // SAFETY: as the caller promises.
    let [address, kind] = unsafe { *object };
    let kind = match kind {
        1 => Kind::In,
        2 => Kind::Out,
        4 => Kind::Mutexinoutset,
        5 => Kind::Inoutset,
        _ => Kind::Inout,
    };
    (kind, address)
}

/// The same for a list that is given to LLVM's runtime.
///
/// # Safety
/// `list` points to this many items, or is null if there are none.
pub(super) unsafe fn each_of_kmp(
    number: usize,
    list: *const KmpDepend,
    mut each: impl FnMut(Kind, u64),
) {
    if list.is_null() {
        return;
    }
    for index in 0..number {
        // SAFETY: as the caller promises.
        let item = unsafe { &*list.add(index) };
        let kind = match item.flags & !KMP_ALL {
            KMP_IN => Kind::In,
            KMP_OUT => Kind::Out,
            KMP_MUTEXINOUTSET => Kind::Mutexinoutset,
            KMP_INOUTSET => Kind::Inoutset,
            _ => Kind::Inout,
        };
        let address = match item.flags & KMP_ALL {
            0 => item.address as u64,
            _ => ALL_MEMORY,
        };
        each(kind, address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_by_gomp(list: &[usize]) -> Vec<(Kind, u64)> {
        let mut told = Vec::new();
        // SAFETY: the lists of these tests are as the runtime's.
        unsafe { each_of_gomp(list.as_ptr(), |kind, address| told.push((kind, address))) };
        told
    }

    #[test]
    fn both_forms_of_gomp_are_read() {
        use Kind::{In, Inout, Inoutset, Mutexinoutset, Out};
        assert_eq!(
            told_by_gomp(&[3, 1, 10, 20, 30]),
            [(Out, 10), (In, 20), (In, 30)]
        );
        let objects = [[70_usize, 3], [80, 5]];
        let at = |index: usize| (&raw const objects[index]).expose_provenance();
        let list = [0, 5, 1, 1, 1, 10, 20, 30, at(0), at(1)];
        let expected = [
            (Out, 10),
            (Mutexinoutset, 20),
            (In, 30),
            (Inout, 70),
            (Inoutset, 80),
        ];
        assert_eq!(told_by_gomp(&list), expected);
    }

    #[test]
    fn flags_of_llvm_are_types() {
        use Kind::{In, Inout, Inoutset, Mutexinoutset, Out};
        let list = [1, 2, 3, 4, 8, 0x82].map(|flags| KmpDepend {
            address: 7,
            _bytes: 8,
            flags,
        });
        let mut told = Vec::new();
        // SAFETY: there are so many.
        unsafe {
            each_of_kmp(list.len(), list.as_ptr(), |kind, address| {
                told.push((kind, address));
            });
        }
        let expected = [
            (In, 7),
            (Out, 7),
            (Inout, 7),
            (Mutexinoutset, 7),
            (Inoutset, 7),
            (Out, ALL_MEMORY),
        ];
        assert_eq!(told, expected);
    }
}
