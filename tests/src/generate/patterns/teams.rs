//! Constructs that make a team in serial code.

use super::{At, Pattern, c, plain, with_top};

pub(super) const PATTERNS: &[Pattern] = &[
    with_top(
        At::Serial,
        // On combined constructs clang ignores it.
        "static long tp%n = 2;
#pragma omp threadprivate(tp%n)
",
        "{ tp%n = <[5¦7]>;
@parallel copyin(tp%n)<[¦ num_threads(3)¦ default(shared)]>
{ tp%n += 1 + omp_get_thread_num(); add(%n, tp%n);
{B}}
@parallel copyin(tp%n)
@for schedule(static)
LOOP(i%n, 5) add(%m, tp%n);
}
",
    ),
    plain(
        At::Serial,
        "{ long r%n = 1, f%n = 4, p%n = 0;
@parallel reduction(<[+¦^¦|]> : r%n) firstprivate(f%n) private(p%n)<[¦ proc_bind(close)¦ num_threads(counted(%m, 3))¦ if(parallel : counted(%m, 1))]>
{ p%n = f%n; r%n += p%n;
{B}}
add(%n, r%n + p%n);
}
",
    ),
    // LLVM's runtime 14 now and then loses the last iteration if threads steal chunks.
    plain(
        At::Serial,
        "{ long l%n = 0, q%n = 8;
@parallel for<[ collapse(2)¦ collapse(2) schedule(monotonic : dynamic, 3)¦ schedule(static, 1)]> lastprivate(l%n) firstprivate(q%n)
LOOP(i%n, 3) LOOP(j%n, 4) {
<[{S}¦{T}]>l%n = q%n + 10 * i%n + j%n;
}
add(%n, l%n);
}
",
    ),
    plain(
        At::Serial,
        "{ long r%n = 0, s%n = 1;
@parallel sections reduction(+ : r%n) firstprivate(s%n)<[¦ num_threads(2)]>
{
r%n += s%n;
#pragma omp section
{ r%n += 2 * s%n;
{S}}
#pragma omp section
{T}
}
add(%n, r%n);
}
",
    ),
    plain(
        At::Serial,
        "{ long r%n = 0, x%n = 1, a%n[10];
@parallel for simd reduction(+ : r%n)<[ linear(x%n : 2)¦ firstprivate(x%n) if(parallel : no)¦ if(simd : no)]>
LOOP(i%n, 10) { a%n[i%n] = x%n + i%n; r%n += 2 * i%n; }
LOOP(j%n, 10) add(%n, a%n[j%n]);
add(%m, r%n);
}
",
    ),
    plain(
        At::Serial,
        "@parallel num_threads(3)
{
{T}
#pragma omp cancel parallel
add(%n, omp_get_cancellation() ? 1000 : 1);
}
",
    ),
    with_top(
        At::Serial,
        "#define TEXT%n(x) #x
#define OMP%n(x) _Pragma(TEXT%n(omp x))
#define SUM%n(to, what) do { _Pragma(\"omp critical (name)\") { to += what; } } while (0)
#define TEAM%n(x) OMP%n(parallel for reduction(+ : x) schedule(static))
",
        "{ long r%n = 0, s%n = 0;
TEAM%n(r%n)
LOOP(i%n, 6) r%n += i%n;
OMP%n(parallel shared(s%n))
{ SUM%n(s%n, 2); }
add(%n, r%n + s%n);
}
",
    ),
    with_top(
        At::Serial,
        "static long a%n[7];
",
        "{
@parallel for<[¦ schedule(static, 2)]>
for (long *p%n = a%n; p%n < a%n + 7; <[p%n++¦++p%n¦p%n += 1¦p%n = p%n + 1]>) *p%n += p%n - a%n;
LOOP(j%n, 7) add(%n, a%n[j%n]);
@parallel for
for (unsigned char u%n = 9; u%n > 2; u%n -= 3) add(%m, u%n);
@parallel for collapse(2)
LOOP(k%n, 4) for (int l%n = k%n; l%n < 5; l%n++) add(%m, l%n);
}
",
    ),
    plain(
        At::Serial,
        "@parallel
@<[single¦master]>
@taskloop<[ collapse(2)¦ collapse(2) untied¦ collapse(2) if(no)¦ collapse(2) grainsize(3)¦ collapse(2) num_tasks(2) final(yes)]>
LOOP(i%n, 3) LOOP(j%n, 3) {
{S}}
",
    ),
    // A label may stand once in a function; of C++ a block may be doubled.
    c(
        At::Serial,
        "{ int which%n = 0;
again%n:
@parallel num_threads(2)
{
switch (which%n) { case 0: {B} break; case 1: {T} break; default: break; }
}
if (++which%n < 3) goto again%n;
}
",
    ),
];
