//! The rights of the library: never more than the user who started the program, and never
//! more than the program still may.
//!
//! A program may run with more rights than its user has (set-user-id, capabilities). Then nothing
//! of ours is read from that user's environment, and nothing is written or made: the program runs
//! as without the library. A program may give up its identity later, as daemons do. Then its files
//! are made under the identity that it has by then: the C library changes that of every thread,
//! ours too. Files that are open already stay open, as they do for the program. But a program may
//! also bypass the C library and change one thread only. Our thread does not get that change: then
//! it writes nothing, and says so. Nor is anything written after paths have come to mean something
//! else, as after `chroot`.

use std::sync::OnceLock;

use super::own_file::Identity;

/// The root directory when measurement began.
static ROOT: OnceLock<Option<Identity>> = OnceLock::new();

/// Remembers the root directory.
pub(crate) fn remember() {
    ROOT.get_or_init(Identity::of_root);
}

/// Whether the system runs the program with rights that its user does not have.
pub(crate) fn are_lent() -> bool {
    // SAFETY: the call takes a number and reads what the system left for the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Why this thread must not write for the program; none if it may.
pub(crate) fn withheld() -> Option<&'static str> {
    /// The calling thread.
    const SELF: libc::c_int = 0;
    if ROOT.get().copied().flatten() != Identity::of_root() {
        return Some("the program has changed its root directory");
    }
    // SAFETY: the call takes and changes nothing.
    let main = unsafe { libc::getpid() };
    let exceeds = effective(SELF)? & !effective(main)?;
    (exceeds != 0).then_some(
        "the program has given up rights in its main thread only; the thread that writes the profile still has them",
    )
}

/// The capabilities that a thread has in force.
fn effective(thread: libc::c_int) -> Option<u64> {
    /// `_LINUX_CAPABILITY_VERSION_3`, as in `linux/capability.h`.
    const VERSION: u32 = 0x2008_0522;
    #[repr(C)]
    struct Head {
        version: u32,
        thread: libc::c_int,
    }
    let mut head = Head {
        version: VERSION,
        thread,
    };
    // Twice: effective, permitted, inheritable; the lower halves first.
    let mut sets = [0u32; 6];
    // SAFETY: both have the layout that this version of the call has.
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut head, sets.as_mut_ptr()) };
    (result == 0).then(|| u64::from(sets[0]) | u64::from(sets[3]) << 32)
}
