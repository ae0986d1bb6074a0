//! A table of constructs with their clauses: each a pattern that a seed fills in.
//!
//! In a pattern, `<[a¦b]>` is one of its alternatives, `%n` and `%m` are new numbers,
//! `{S}` is a statement and `{B}` a block to which every member of the team comes, `{T}`
//! is a tick. A line that begins with `@` is a directive in one of its spellings.

use super::words::Writer;
use super::{Dialect, Place};

/// Where a pattern may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In serial code: it makes a team, the only one at its time.
    Serial,
    /// Where all members of the only team come.
    Team,
    /// Where tasks may be made, inside of a team.
    Tasks,
    /// Anywhere, in a critical section, too.
    Anywhere,
}

/// One construct.
struct Pattern {
    at: At,
    /// The languages that have it.
    dialects: &'static [Dialect],
    /// What stands in front of `main`.
    top: &'static str,
    text: &'static str,
}

const BOTH: &[Dialect] = &[Dialect::C, Dialect::Cxx];

/// A pattern of both languages without anything in front of `main`.
const fn plain(at: At, text: &'static str) -> Pattern {
    with_top(at, "", text)
}

const fn with_top(at: At, top: &'static str, text: &'static str) -> Pattern {
    Pattern {
        at,
        dialects: BOTH,
        top,
        text,
    }
}

const fn c(at: At, text: &'static str) -> Pattern {
    Pattern {
        at,
        dialects: &[Dialect::C],
        top: "",
        text,
    }
}

const fn cxx(at: At, top: &'static str, text: &'static str) -> Pattern {
    Pattern {
        at,
        dialects: &[Dialect::Cxx],
        top,
        text,
    }
}

const PATTERNS: &[Pattern] = &[
    // Reductions, worksharing.
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
    // Teams.
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
    // LLVM's runtime 14 forgets the last iteration at times if threads take parts from each other.
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
    // Tasks.
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
    // What waits for nobody, or for its own lock only.
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
    // C++ alone.
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

impl Writer {
    /// A construct of the table that may stand here.
    pub(super) fn pattern(&mut self, place: Place) -> String {
        let alone = place.shared && place.parallel == 1;
        let fitting: Vec<&Pattern> = PATTERNS
            .iter()
            .filter(|pattern| pattern.dialects.contains(&self.dialect))
            .filter(|pattern| match pattern.at {
                At::Serial => place.free && place.parallel == 0,
                At::Team => alone,
                // gcc 12 frees the team too early of a parallel region behind such a group in serial code.
                At::Tasks => place.free && place.parallel > 0,
                At::Anywhere => true,
            })
            .collect();
        let number = self.below(fitting.len() as u64) as usize;
        self.filled_in(fitting[number], place)
    }

    fn filled_in(&mut self, pattern: &Pattern, place: Place) -> String {
        let inside = match pattern.at {
            At::Serial => Place {
                parallel: place.parallel + 1,
                shared: true,
                ..place
            },
            _ => place,
        };
        let (n, m) = (self.number().to_string(), self.number().to_string());
        let numbered = |text: String| text.replace("%n", &n).replace("%m", &m);
        let top = numbered(self.chosen(pattern.top));
        self.declare(&top);
        let text = numbered(self.chosen(pattern.text));
        let mut lines = String::new();
        for line in text.split_inclusive('\n') {
            match line.strip_prefix('@') {
                Some(words) => lines += &self.directive(words.trim_end()),
                None => lines += line,
            }
        }
        self.nested(lines, inside)
    }

    /// Adds text in front of `main`; a variable has a line of its own.
    pub(super) fn declare(&mut self, top: &str) {
        for line in top.lines() {
            let variable = line
                .strip_prefix("static ")
                .filter(|line| line.ends_with(';') && !line.contains('('))
                .and_then(|line| {
                    line.split([';', '[', '='])
                        .next()?
                        .trim_end()
                        .rsplit_once(' ')
                });
            if let Some((kind, name)) = variable {
                self.declared(kind, name);
            }
        }
        self.functions.push(top.to_owned());
    }

    /// A text with one of the alternatives in place of each of their lists.
    fn chosen(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        while let Some(end) = text.find("]>") {
            let Some(begin) = text[..end].rfind("<[") else {
                return text;
            };
            let alternatives: Vec<&str> = text[begin + 2..end].split('¦').collect();
            let one = self.one_of(&alternatives).to_owned();
            text.replace_range(begin..end + 2, &one);
        }
        text
    }

    /// A text with statements in the places for them.
    fn nested(&mut self, text: String, place: Place) -> String {
        let place = Place {
            cancel: None,
            ..place
        };
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('{') {
            let (before, behind) = rest.split_at(at);
            done += before;
            let (inner, length) = match behind.get(..3) {
                Some("{S}") => (self.statement(place.apart()), 3),
                Some("{B}") => (self.block(place), 3),
                Some("{T}") => (self.tick(), 3),
                _ => ("{".into(), 1),
            };
            done += &inner;
            rest = &behind[length..];
        }
        done + rest
    }
}
