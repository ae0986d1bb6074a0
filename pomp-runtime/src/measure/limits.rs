//! Resource limits that the user has set for the program (`ulimit`). The program lacks whatever the
//! library takes.

/// How much there may be of a resource; none if there is no limit.
pub(super) fn limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // Miri has no such call. Without it there is no limit.
    if !cfg!(miri) {
        // SAFETY: the place is valid.
        unsafe { libc::getrlimit(resource, &raw mut limit) };
    }
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Whether so few threads are allowed that the program may need all of them. A limit that low was
/// set on purpose.
pub(crate) fn threads_are_scarce() -> bool {
    const FEW: u64 = 256;
    limit(libc::RLIMIT_NPROC).is_some_and(|limit| limit <= FEW)
}

/// How many bytes of addresses the library may reserve: a small part of the limit, if there is one,
/// since such a limit counts addresses whether they are used or not.
pub(super) fn addresses() -> usize {
    const PARTS_OF_LIMIT: u64 = 64;
    let limits = [libc::RLIMIT_AS, libc::RLIMIT_DATA].map(limit);
    let part = limits
        .into_iter()
        .flatten()
        .min()
        .map(|limit| limit / PARTS_OF_LIMIT);
    part.map_or(usize::MAX, |part| {
        usize::try_from(part).unwrap_or(usize::MAX)
    })
}
