//! Chunks of a loop that are handed out together, to see what larger chunks would win.
//!
//! A request for a chunk ends with an atomic update, and no iteration in front of it overlaps with one behind
//! it. So the work in a chunk takes longer than it would in larger chunks. Where the work in a chunk is known
//! to take little time, some requests ask for several chunks. Those that follow each other are handed out as
//! one chunk, whose work is timed. Any schedule that hands out chunks at run time may give them to one thread.
//!
//! The first chunk that does not follow is held back. The thread gets it with its next request, in its order.
//! A thread asks until there is no chunk left, unless its loop is cancelled. So where constructs may be
//! cancelled, no chunks are handed out together.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::request_count::look_at_all;

/// A chunk: its first value, and the one behind its last.
pub(crate) type Chunk = [u64; 2];

/// At most this many chunks are joined.
const MOST_JOINED_CHUNKS: u64 = 16;

/// Work is timed if at least this many chunks were joined: the first of them overlaps with none in front.
const LEAST_TIMED: u64 = 10;

thread_local! {
    /// The chunk that is held back, and the place where its loop wants to have chunks; 0 if there is none.
    static HELD: Cell<(usize, Chunk)> = const { Cell::new((0, [0; 2])) };
}

static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// Allows to hand out chunks together: no construct of the program may be cancelled.
pub(crate) fn allow() {
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether chunks may be handed out together at all.
pub(super) fn is_allowed() -> bool {
    IS_ALLOWED.load(Ordering::Relaxed)
}

/// Whether a chunk is held back on this thread.
pub(crate) fn is_any_held() -> bool {
    HELD.get().0 != 0
}

/// The chunk that is held back for the loop that wants it at this `place`. The place is a variable of the loop,
/// which no other loop uses meanwhile: not one within it, either.
pub(crate) fn take_held(place: usize) -> Option<Chunk> {
    let (of, chunk) = HELD.get();
    if place == 0 || of != place {
        return None;
    }
    HELD.set((0, [0; 2]));
    look_at_all(false);
    Some(chunk)
}

/// Several chunks that are handed out as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) chunk: Chunk,
    /// How many they are.
    pub(crate) number: u64,
    /// How many requests there were: one more, if a chunk is held back or none was left.
    pub(crate) requests: u64,
}

impl Joined {
    /// Whether its work is to be timed.
    pub(crate) fn is_timed(&self) -> bool {
        self.number >= LEAST_TIMED
    }
}

/// Asks for several chunks of the loop that wants them at this `place`, and joins those that follow each other.
/// None if there is none left.
pub(crate) fn join(place: usize, mut ask: impl FnMut() -> Option<Chunk>) -> Option<Joined> {
    let mut joined = Joined {
        chunk: ask()?,
        number: 1,
        requests: 1,
    };
    while joined.number < MOST_JOINED_CHUNKS {
        joined.requests += 1;
        let Some(next) = ask() else { break };
        let [_, end] = joined.chunk;
        if next[0] != end {
            HELD.set((place, next));
            look_at_all(true);
            break;
        }
        joined.chunk[1] = next[1];
        joined.number += 1;
    }
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: usize = 8;

    fn joined(chunks: &[Chunk]) -> (Option<Joined>, Option<Chunk>) {
        let mut chunks = chunks.iter().copied();
        (join(PLACE, || chunks.next()), take_held(PLACE))
    }

    #[test]
    fn chunks_that_follow_each_other_are_one() {
        let of = |chunk, number| {
            let requests = number + 1;
            Some(Joined {
                chunk,
                number,
                requests,
            })
        };
        assert_eq!(joined(&[]), (None, None));
        assert_eq!(joined(&[[3, 4]]), (of([3, 4], 1), None));
        assert_eq!(joined(&[[3, 5], [5, 7], [7, 8]]), (of([3, 8], 3), None));
        // A loop that counts down.
        let down = [[7, 5], [5, 3], [3, 2]];
        assert_eq!(joined(&down), (of([7, 2], 3), None));
    }

    #[test]
    fn the_first_one_that_does_not_follow_is_held_back() {
        let of = Joined {
            chunk: [3, 5],
            number: 2,
            requests: 3,
        };
        assert_eq!(joined(&[[3, 4], [4, 5], [6, 7]]), (Some(of), Some([6, 7])));
    }

    #[test]
    fn no_more_are_asked_for_than_are_joined() {
        let mut asked = 0;
        let joined = join(PLACE, || {
            asked += 1;
            Some([asked, asked + 1])
        });
        assert_eq!(asked, MOST_JOINED_CHUNKS);
        assert!(joined.unwrap().is_timed());
        assert!(!is_any_held());
    }

    #[test]
    fn a_loop_within_the_loop_gets_chunks_of_its_own() {
        let mut chunks = [[3, 4], [6, 7]].into_iter();
        let joined = join(PLACE, || chunks.next());
        assert!(!joined.unwrap().is_timed());
        assert_eq!(take_held(PLACE + 8), None);
        assert!(is_any_held());
        assert_eq!(take_held(PLACE), Some([6, 7]));
        assert_eq!(take_held(PLACE), None);
    }
}
