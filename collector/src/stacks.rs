//! Call stacks. The stacks of a team's members continue in the thread that forked it.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard};

use crate::kinds::KINDS;

/// More addresses of a stack are not kept.
const DEEPEST: usize = 128;
/// The largest number of different stacks; later ones are only counted.
const MOST_STACKS: usize = 100_000;

/// Return addresses, innermost first; 0 between the stacks of two threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stack(pub(crate) Vec<usize>);

/// A kind of time, and the stack where it was spent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Its place in `KINDS`.
    pub(crate) kind: usize,
    pub(crate) stack: Stack,
}

/// How often, and how long in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) count: u64,
    pub(crate) ns: u64,
    pub(crate) longest: u64,
}

impl Times {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.ns = self.ns.saturating_add(other.ns);
        self.longest = self.longest.max(other.longest);
    }
}

type ByStack = HashMap<Key, Times>;

/// All that was recorded.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// By the instance of the parallel region whose join they wait for; 0 for complete stacks.
    by_region: HashMap<u64, ByStack>,
    /// How many took too little time for a stack, by kind.
    pub(crate) short: [u64; 8],
    /// How many had no room.
    pub(crate) lost: u64,
}

static RECORDED: Mutex<Option<Recorded>> = Mutex::new(None);

fn recorded() -> MutexGuard<'static, Option<Recorded>> {
    RECORDED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Adds to a stack that ends in an instance of a parallel region; 0 if it ends in none.
pub(crate) fn add(region: u64, key: Key, ns: u64) {
    let times = Times {
        count: 1,
        ns,
        longest: ns,
    };
    recorded().get_or_insert_default().add(region, key, times);
}

/// Counts a region or wait that took too little time.
pub(crate) fn skip(kind: usize) {
    recorded().get_or_insert_default().short[kind] += 1;
}

/// Whether stacks wait for the join of a region.
pub(crate) fn has_pending(region: u64) -> bool {
    let recorded = recorded();
    recorded
        .as_ref()
        .is_some_and(|recorded| recorded.by_region.contains_key(&region))
}

/// A region has ended: the stacks of its members go on in this one, which ends in the
/// region around it.
pub(crate) fn join(region: u64, around: u64, stack: &Stack) {
    recorded()
        .get_or_insert_default()
        .join(region, around, stack);
}

/// Takes out all that was recorded, complete or not.
pub(crate) fn take() -> (Vec<(Key, Times)>, Recorded) {
    let mut all = recorded().take().unwrap_or_default();
    let stacks = all.by_region.drain().flat_map(|(_, stacks)| stacks);
    (stacks.collect(), all)
}

impl Recorded {
    fn add(&mut self, region: u64, key: Key, times: Times) {
        let count: usize = self.by_region.get(&region).map_or(0, HashMap::len);
        let stacks = self.by_region.entry(region).or_default();
        if count >= MOST_STACKS && !stacks.contains_key(&key) {
            self.lost += times.count;
            return;
        }
        stacks.entry(key).or_default().add(times);
    }

    fn join(&mut self, region: u64, around: u64, stack: &Stack) {
        if region == 0 {
            return;
        }
        for (mut key, times) in self.by_region.remove(&region).unwrap_or_default() {
            key.stack.0.push(0);
            key.stack.0.extend(&stack.0);
            self.add(around, key, times);
        }
    }
}

unsafe extern "C" {
    /// The system's unwinder.
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

impl Stack {
    /// The stack of this thread.
    pub(crate) fn here() -> Self {
        extern "C" fn each(context: *mut c_void, stack: *mut c_void) -> c_int {
            // SAFETY: the unwinder passes its context, and the pointer that it was given,
            // to a stack that nobody else uses meanwhile.
            let (address, stack) =
                unsafe { (_Unwind_GetIP(context), &mut *stack.cast::<Vec<usize>>()) };
            if address != 0 && stack.len() < DEEPEST {
                stack.push(address);
            }
            0
        }
        let mut stack: Vec<usize> = Vec::with_capacity(DEEPEST);
        // SAFETY: the function is of the type that the unwinder wants; the vector lives
        // until it returns.
        unsafe { _Unwind_Backtrace(each, (&raw mut stack).cast()) };
        Self(stack)
    }
}

const _: () = assert!(KINDS.len() <= 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_of_members_go_on_in_the_thread_that_forked() {
        let key = |addresses: &[usize]| Key {
            kind: 1,
            stack: Stack(addresses.to_vec()),
        };
        let once = |ns| Times {
            count: 1,
            ns,
            longest: ns,
        };
        let mut all = Recorded::default();
        all.add(7, key(&[1, 2]), once(5));
        all.add(7, key(&[1, 2]), once(3));
        all.add(8, key(&[1, 2]), once(100));
        // The inner region, then the one around it.
        all.join(7, 4, &Stack(vec![3]));
        all.join(4, 0, &Stack(vec![6]));
        let both = Times {
            count: 2,
            ns: 8,
            longest: 5,
        };
        assert_eq!(all.by_region[&0][&key(&[1, 2, 0, 3, 0, 6])], both);
        assert_eq!(all.by_region[&0].len(), 1);
        assert!(all.by_region.contains_key(&8) && !all.by_region.contains_key(&7));
    }

    #[test]
    fn this_thread_has_a_stack() {
        assert!(Stack::here().0.len() > 3);
    }
}
