//! What only C++ has.

use super::{At, Pattern, cxx};

pub(super) const PATTERNS: &[Pattern] = &[
    cxx(
        At::Serial,
        "",
        "@parallel for<[¦ schedule(dynamic)]>
LOOP(i%n, 6) { try { if (i%n % 2) throw i%n;
{S}} catch (int v%n) { add(%n, v%n); } }
",
    ),
    cxx(
        At::Serial,
        "template <typename T, int N>
static T total%n(const T *v)
{
T s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(N)
for (int i = 0; i < 4; i++) { s += v[i]; }
#pragma omp parallel num_threads(N)
{
#pragma omp for lastprivate(s)
for (T i = 0; i < 4; i++) s = i + 1;
#pragma omp critical
add(%m, 1);
}
return s;
}
",
        "{ long v%n[] = {1, 2, 3, 4}; int w%n[] = {4, 5, 6, 7};
add(%n, total%n<long, 2>(v%n) + total%n<int, 3>(w%n)); }
",
    ),
    cxx(
        At::Serial,
        "struct Member%n {
long v;
static long calls;
explicit Member%n(long w) : v(w) {}
long run()
{
long s = 0;
#pragma omp parallel for reduction(+ : s)<[¦ schedule(dynamic)]>
LOOP(i, 5) { s += v * i; }
#pragma omp parallel
{
#pragma omp single nowait
v++;
#pragma omp atomic
calls += 1;
}
return s + v;
}
};
long Member%n::calls = 0;
",
        "{ Member%n m%n(<[3¦4]>);
add(%n, m%n.run()); add(%n, m%n.run()); add(%m, Member%n::calls); }
",
    ),
    cxx(
        At::Serial,
        "",
        "{ auto f%n = [&](long v%n) {
@parallel for firstprivate(v%n)
LOOP(i%n, 4) add(%n, v%n + i%n);
return v%n; };
add(%n, f%n(3) + f%n(4)); }
",
    ),
    cxx(
        At::Serial,
        "",
        "{ long a%n[] = {3, 1, 4, 1, 5};
@parallel for
for (long v%n : a%n) add(%n, v%n);
#if defined __clang__ || __GNUC__ < 12
@parallel for
#else
[[omp::directive(parallel for<[¦ schedule(dynamic)]>)]]
#endif
LOOP(i%n, 4) add(%m, a%n[i%n]);
#if defined __clang__ || __GNUC__ < 12
@parallel
#else
<[[[omp::sequence(directive(parallel))]]¦[[using omp : directive(parallel)]]]>
#endif
{B}}
",
    ),
    cxx(
        At::Tasks,
        "",
        "{ Counted c%n(&sum[%n]);
@task firstprivate(c%n)<[¦ if(no)]>
c%n.touch();
@taskwait
}
",
    ),
    cxx(
        At::Anywhere,
        "",
        "{
try {
@critical (thrown%n)
{ try { if (yes) throw 3L; } catch (long v%n) { add(%n, v%n); } }
if (yes) throw 'x';
} catch (char) {
{T}}
}
",
    ),
];
