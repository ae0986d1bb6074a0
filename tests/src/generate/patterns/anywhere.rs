//! Constructs that wait for no other thread, or only for their own lock.

use super::{At, Pattern, plain, with_top};

pub(super) const PATTERNS: &[Pattern] = &[
    plain(
        At::Anywhere,
        "<[@atomic<[¦ update¦ relaxed¦ seq_cst¦ hint(omp_sync_hint_contended)]>
<[sum[%n]++¦++sum[%n]¦sum[%n] += 3¦sum[%n] = sum[%n] + 2¦sum[%n] = 4 + sum[%n]¦sum[%n] |= 5¦sum[%n] -= 2]>;¦{ long v%n;
@atomic capture<[¦ seq_cst¦ acq_rel]>
<[v%n = sum[%n]++;¦v%n = --sum[%n];¦v%n = sum[%n] += 6;¦{ v%n = sum[%n]; sum[%n] += 2; }¦{ sum[%n] = sum[%n] + 1; v%n = sum[%n]; }]>
if (v%n > 1000000) add(%n, 1);
}]>
",
    ),
    with_top(
        At::Anywhere,
        "static long w%n;
",
        "{ long v%n;
@atomic write<[¦ seq_cst¦ release]>
w%n = 7;
@atomic read<[¦ seq_cst¦ acquire]>
v%n = w%n;
add(%n, v%n);
}
",
    ),
    with_top(
        At::Anywhere,
        "static long x%n = 3;
",
        "{
#if !defined __clang__ && __GNUC__ >= 12
@atomic compare<[¦ seq_cst]>
<[if (x%n < 8) { x%n = 8; }¦x%n = x%n < 8 ? 8 : x%n]>;
#else
@critical (name%n)
x%n = 8;
#endif
add(%n, x%n);
}
",
    ),
    plain(
        At::Anywhere,
        "@critical (own%n)<[¦ hint(omp_sync_hint_uncontended)¦ hint(omp_sync_hint_contended | omp_sync_hint_speculative)]>
<[{ {T}}¦{T}]>
",
    ),
    with_top(
        At::Anywhere,
        "static omp_nest_lock_t nest%n;
",
        "{
omp_set_nest_lock(&nest%n);
if (omp_test_nest_lock(&nest%n)) {
{T}
omp_unset_nest_lock(&nest%n);
}
omp_unset_nest_lock(&nest%n);
}
",
    ),
    with_top(
        At::Anywhere,
        "static omp_lock_t lock%n;
",
        "{
while (!omp_test_lock(&lock%n)) { }
{T}omp_unset_lock(&lock%n);
}
",
    ),
    plain(
        At::Anywhere,
        "{ long a%n[8], r%n = 0;
@simd<[¦ safelen(4)¦ simdlen(2)]> reduction(+ : r%n)
LOOP(i%n, 8) { a%n[i%n] = 2 * i%n; r%n += i%n; }
add(%n, a%n[7] + r%n);
}
",
    ),
    with_top(
        At::Anywhere,
        "#pragma omp declare simd<[¦ notinbranch¦ uniform(b) linear(a : 1)]>
static inline __attribute__((unused)) long both%n(long a, long b) { return a + 2 * b; }
",
        "{ long r%n = 0;
@simd reduction(+ : r%n)
LOOP(i%n, 8) r%n += both%n(i%n, 3);
add(%n, r%n);
}
",
    ),
    plain(
        At::Anywhere,
        "{
@flush<[¦ acq_rel¦ acquire¦ release¦ (sum)]>
{T}}
",
    ),
];
