//! Lines on stderr that do no harm: the write neither blocks nor raises a signal, and
//! goes to what was stderr when measurement began.
//!
//! A program must be able to end even while nobody reads its messages. If it closes stderr and
//! opens a file under the same number, that file is its own. No flag is set on the open file, which
//! other processes share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::errno;
use super::own_file::{Identity, about};
use super::signal_mask;

/// How long the library waits for a reader that is behind, once in a run.
const PATIENCE: Duration = Duration::from_millis(100);

/// The file that stderr was at the start; none if it was closed.
static STDERR: OnceLock<Option<Identity>> = OnceLock::new();
/// Whether the library has waited for a reader in vain.
static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// Remembers what stderr is.
pub(crate) fn remember() {
    STDERR.get_or_init(|| about(libc::STDERR_FILENO).as_ref().map(Identity::of));
}

/// Writes a line, or as much as there is room for.
pub(super) fn write(line: &[u8]) {
    errno::keep(|| signal_mask::held_back(|| write_unless_changed(line)));
}

fn write_unless_changed(line: &[u8]) {
    let known = STDERR.get().copied().flatten();
    let now = about(libc::STDERR_FILENO);
    let Some(about) = now.filter(|about| Some(Identity::of(about)) == known) else {
        return;
    };
    let until = Instant::now() + PATIENCE;
    // A part of this length is written in one piece, so that lines of several processes do not mix.
    for mut part in line.chunks(libc::PIPE_BUF) {
        while !part.is_empty() {
            if !has_room(until) {
                return;
            }
            match write_now(part, about.st_mode & libc::S_IFMT) {
                Ok(written) => part = part.get(written..).unwrap_or_default(),
                Err(libc::EAGAIN | libc::EINTR) if Instant::now() < until => {}
                Err(_) => return,
            }
        }
    }
}

/// Waits until stderr takes something; false if it does not, or never will.
fn has_room(until: Instant) -> bool {
    loop {
        let mut file = libc::pollfd {
            fd: libc::STDERR_FILENO,
            events: libc::POLLOUT,
            revents: 0,
        };
        let left = match IS_STUCK.load(Ordering::Relaxed) {
            true => Duration::ZERO,
            false => until.saturating_duration_since(Instant::now()),
        };
        let left = libc::c_int::try_from(left.as_millis()).unwrap_or(0);
        // SAFETY: there is one file in the list.
        let ready = unsafe { libc::poll(&raw mut file, 1, left) };
        if ready > 0 {
            return file.revents & libc::POLLOUT != 0 && file.revents & libc::POLLERR == 0;
        }
        if ready == 0 {
            IS_STUCK.store(true, Ordering::Relaxed);
            return false;
        }
        if errno::get() != libc::EINTR {
            return false;
        }
    }
}

/// Writes as much as there is room for, and does not block if others write meanwhile.
fn write_now(part: &[u8], kind: libc::mode_t) -> Result<usize, libc::c_int> {
    let (file, bytes, length) = (libc::STDERR_FILENO, part.as_ptr().cast(), part.len());
    // SAFETY: the buffer has this many bytes.
    let written = unsafe {
        match kind {
            // Programs have functions of the name `send`.
            libc::S_IFSOCK => libc::syscall(
                libc::SYS_sendto,
                file,
                part.as_ptr(),
                length,
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
                0,
                0,
            ) as libc::ssize_t,
            libc::S_IFIFO => match write_to_pipe(part) {
                // Older kernels cannot do this for pipes. A plain write finds room, unless another
                // process has just taken it.
                -1 if matches!(errno::get(), libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS) => {
                    libc::write(file, bytes, length)
                }
                written => written,
            },
            _ => libc::write(file, bytes, length),
        }
    };
    usize::try_from(written).map_err(|_| errno::get())
}

/// Writes to the pipe unless that would block, even if the pipe is in blocking mode.
fn write_to_pipe(part: &[u8]) -> libc::ssize_t {
    /// The place to write to: a pipe has no offset.
    const HERE: libc::c_long = -1;
    let parts = libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    };
    let file = libc::STDERR_FILENO;
    // SAFETY: the kernel reads the bytes of one part.
    let written = unsafe {
        libc::syscall(
            libc::SYS_pwritev2,
            file,
            &raw const parts,
            1,
            HERE,
            HERE,
            libc::RWF_NOWAIT,
        )
    };
    written as libc::ssize_t
}
