//! Worksharing constructs and reductions, where all members of the only team come.

use super::{At, Pattern, plain, with_top};

pub(super) const PATTERNS: &[Pattern] = &[
    with_top(
        At::Team,
        "static long r%n = 3;
",
        "{
@for reduction(<[+ : r%n)<[¦ nowait]>
LOOP(i%n, 7) r%n += i%n;¦* : r%n) schedule(dynamic)
LOOP(i%n, 7) r%n *= 1 + i%n % 2;¦max : r%n) schedule(static, 2)
LOOP(i%n, 7) r%n = r%n < 5 * i%n ? 5 * i%n : r%n;¦min : r%n) schedule(guided, 2)
LOOP(i%n, 7) r%n = i%n - 3 < r%n ? i%n - 3 : r%n;¦^ : r%n) schedule(monotonic : dynamic, 2)
LOOP(i%n, 7) r%n ^= 1 << i%n;¦| : r%n) schedule(nonmonotonic : dynamic)
LOOP(i%n, 7) r%n |= 1 << i%n;¦& : r%n) schedule(auto)
LOOP(i%n, 7) r%n &= ~(1 << i%n);¦&& : r%n) schedule(runtime)
LOOP(i%n, 7) r%n = r%n && i%n < 7;¦|| : r%n) order(concurrent)
LOOP(i%n, 7) r%n = r%n || i%n == 5]>;
@barrier
@master
{ add(%n, r%n); r%n = 3; }
@barrier
}
",
    ),
    with_top(
        At::Team,
        "struct Pair%n { long a, b; };
static void zero%n(struct Pair%n *p) { p->a = 0; p->b = 0; }
static void join%n(struct Pair%n *p, const struct Pair%n *q) { p->a += q->a; p->b ^= q->b; }
#pragma omp declare reduction(both%n : struct Pair%n : join%n(&omp_out, &omp_in)) initializer(zero%n(&omp_priv))
static struct Pair%n p%n;
",
        "{
@for reduction(both%n : p%n)<[¦ schedule(dynamic)]>
LOOP(i%n, 9) { p%n.a += i%n; p%n.b ^= 3 * i%n;
{S}}
@single
add(%n, p%n.a + 7 * p%n.b);
}
",
    ),
    with_top(
        At::Team,
        "static long l%n;
static long r%n;
",
        "{
@sections lastprivate(l%n) reduction(+ : r%n)
{
#pragma omp section
{ l%n = 1; r%n += 2;
{S}}
#pragma omp section
{ l%n = 9; r%n += 4; }
}
@single
{ add(%n, 10 * l%n + r%n); r%n = 0; }
}
",
    ),
    with_top(
        At::Team,
        "static long a%n[12];
",
        "{
@for schedule(static) nowait
LOOP(i%n, 12) a%n[i%n] = i%n + 1;
@for schedule(static)<[¦ nowait]>
LOOP(i%n, 12) add(%n, 2 * a%n[i%n]);
@barrier
}
",
    ),
    with_top(
        At::Team,
        "static long h%n;
",
        "{
@for collapse(2) ordered schedule(<[static¦dynamic¦static, 1]>)
LOOP(i%n, 3) LOOP(j%n, 2) {
{T}
@ordered<[¦ threads]>
h%n = (31 * h%n + 2 * i%n + j%n) % 1000003;
}
@single
add(%n, h%n);
}
",
    ),
    with_top(
        At::Team,
        "static long h%n[5][5];
",
        "{
@for ordered(2)
for (int i%n = 1; i%n < 5; i%n++)
for (int j%n = 1; j%n < 5; j%n++) {
#pragma omp ordered depend(sink : i%n - 1, j%n) depend(sink : i%n, j%n - 1)
h%n[i%n][j%n] = h%n[i%n - 1][j%n] + h%n[i%n][j%n - 1] + 1;
#pragma omp ordered depend(source)
}
@single
add(%n, h%n[4][4]);
}
",
    ),
    with_top(
        At::Team,
        "static long a%n[16];
static long r%n;
",
        "{
@for simd <[safelen(4)¦simdlen(4)¦nontemporal(a%n)¦]> reduction(+ : r%n)<[ collapse(1)¦]> schedule(simd : static)
LOOP(i%n, 16) { a%n[i%n] = i%n; r%n += 3 * i%n; }
@single
{ add(%n, a%n[15] + r%n); r%n = 0; }
}
",
    ),
    plain(
        At::Team,
        "{ long c%n[3] = {0, 0, 0}, d%n = 0;
@single copyprivate(c%n, d%n)
{ LOOP(j%n, 3) c%n[j%n] = j%n + 1; d%n = 4;
{S}}
add(%n, c%n[2] * d%n);
}
",
    ),
    with_top(
        At::Team,
        "static long x%n[4];
",
        "{
#if defined __clang__ || __GNUC__ < 12
@master
#else
@masked<[¦ filter(0)]>
#endif
{ x%n[1] = 6; }
@barrier
add(%n, x%n[1]);
@barrier
}
",
    ),
    with_top(
        At::Team,
        "static long r%n;
",
        "{
#if !defined __clang__ && __GNUC__ >= 12
@scope reduction(+ : r%n)
#else
@for reduction(+ : r%n) schedule(static, 1)
LOOP(t%n, omp_get_num_threads())
#endif
{ r%n += 5;
{S}}
@single
{ add(%n, r%n); r%n = 0; }
}
",
    ),
    plain(
        At::Team,
        "@for<[¦ schedule(dynamic)]>
LOOP(i%n, 8) {
#pragma omp cancel for<[¦ if(yes)]>
add(%n, omp_get_cancellation() ? 1000 : i%n);
}
",
    ),
    plain(
        At::Team,
        "@sections
{
{ 
#pragma omp cancel sections
add(%n, omp_get_cancellation() ? 1000 : 3);
}
#pragma omp section
add(%m, omp_get_cancellation() ? 0 : 5);
}
",
    ),
];
