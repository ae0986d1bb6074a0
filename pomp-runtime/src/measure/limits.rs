//! Resource limits that the user has set for the program (`ulimit`). What the library takes
//! of them, the program lacks.

/// How much there may be of a resource; none if there is no limit.
pub(super) fn limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the place is valid.
    unsafe { libc::getrlimit(resource, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Whether the last thread that the system allows the user may be one of the program's:
/// so few are allowed that somebody has thought of it.
pub(crate) fn threads_are_scarce() -> bool {
    const FEW: u64 = 256;
    limit(libc::RLIMIT_NPROC).is_some_and(|limit| limit <= FEW)
}

/// How many addresses we may reserve: where they are limited, used or not, a small part.
pub(super) fn addresses() -> usize {
    const PART: u64 = 64;
    let limits = [libc::RLIMIT_AS, libc::RLIMIT_DATA].map(limit);
    let part = limits.into_iter().flatten().min().map(|limit| limit / PART);
    part.map_or(usize::MAX, |part| {
        usize::try_from(part).unwrap_or(usize::MAX)
    })
}
