//! Constructs that make tasks.

use super::{At, Pattern, plain, with_top};

pub(super) const PATTERNS: &[Pattern] = &[
    plain(
        At::Tasks,
        "{ long d%n = 0, e%n = 0;
@task depend(<[out¦inout]> : d%n) shared(d%n)
d%n += 5;
@task depend(in : d%n) depend(out : e%n) shared(d%n, e%n)<[¦ untied¦ priority(2)¦ mergeable¦ final(no)]>
e%n = 2 * d%n;
@task depend(<[in¦inout¦mutexinoutset]> : e%n) shared(e%n) if(<[yes¦no¦task : yes]>)
{ add(%n, e%n);
{S}}
@taskwait
add(%m, d%n + e%n);
}
",
    ),
    plain(
        At::Tasks,
        "{ long a%n[6] = {0, 0, 0, 0, 0, 0};
@taskgroup
{
LOOP(i%n, 6) {
@task depend(inout : a%n[i%n % 3]) firstprivate(i%n) shared(a%n)
a%n[i%n % 3] += i%n;
}
}
add(%n, a%n[0] + 10 * a%n[1] + 100 * a%n[2]);
}
",
    ),
    plain(
        At::Tasks,
        "{ long r%n = 0, l%n = 0;
@taskloop <[reduction(+ : r%n)¦reduction(+ : r%n) grainsize(2)¦shared(r%n) lastprivate(l%n) num_tasks(1)]>
LOOP(i%n, 7) { r%n += i%n; l%n = i%n; }
add(%n, r%n); add(%m, l%n == 0 || l%n == 6);
}
",
    ),
    with_top(
        At::Tasks,
        "static long a%n[9];
",
        "{
@taskloop simd<[¦ grainsize(4)¦ simdlen(4) num_tasks(2)]>
LOOP(i%n, 9) a%n[i%n] = 3 * i%n;
add(%n, a%n[8]);
}
",
    ),
    with_top(
        At::Tasks,
        "static long fib%n(int n)
{
long a, b;
if (n < 2) { add(%n, 1); return n; }
#pragma omp task shared(a)<[¦ if(n > 3)¦ final(n < 3)¦ untied¦ firstprivate(n)]>
a = fib%n(n - 1);
#pragma omp task shared(b) default(none) firstprivate(n)
b = fib%n(n - 2);
#pragma omp taskwait
return a + b;
}
",
        "add(%m, fib%n(5));
",
    ),
    plain(
        At::Tasks,
        "{ long v%n = 3;
@task final(<[yes¦no]>) firstprivate(v%n)
{
@task<[¦ if(no)¦ untied]>
{ add(%n, v%n);
{S}}
@taskyield
add(%n, omp_in_final() || yes);
@taskwait
}
}
",
    ),
    plain(
        At::Tasks,
        "@taskgroup
{
@task
{
#pragma omp cancel taskgroup
add(%n, omp_get_cancellation() ? 1000 : 3);
}
}
",
    ),
    plain(
        At::Tasks,
        "{ long r%n = 0;
@taskgroup task_reduction(+ : r%n)
{
LOOP(i%n, 3) {
@task in_reduction(+ : r%n) firstprivate(i%n)
{ r%n += i%n;
{S}}
}
}
add(%n, r%n);
}
",
    ),
];
