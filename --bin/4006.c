#include <omp.h>
#include <stdio.h>
#define LOOP(i, n) for (int i = 0; i < (n); i++)
#define ADD(k, v) add((k), (v))
static long sum[91];
static volatile int yes = 1, no = 0;
static omp_lock_t lock;
static long g78 = 0;
static void add(int k, long v)
{
    __atomic_fetch_add(&sum[k], v, __ATOMIC_RELAXED);
}
static int counted(int k, int v)
{
    add(k, 1);
    return v;
}
static long x26 = 3;
#pragma omp declare simd uniform(b) linear(a : 1)
static inline __attribute__((unused)) long both41(long a, long b) { return a + 2 * b; }
static long w61;
static void f73(int t)
{
(void)t;
{

#ifdef _OPENMP
#pragma omp master
#endif
{ long r74 = 0, l74 = 0;

#pragma omp taskloop reduction(+ : r74) grainsize(2) // taskloop reduction(+ : r74) grainsize(2) {
LOOP(i74, 7) { r74 += i74; l74 = i74; }
add(74, r74); add(75, l74 == 0 || l74 == 6);
}

#if 1
switch (yes) {
case 1:
add(76, 8);
break;
default:
break;
}
#else
add(77, 2);
#endif

#pragma omp single
{
#pragma omp task depend(out : g78)
g78 += 5;
#pragma omp task depend(in : g78)
{ add(79, g78); }
#pragma omp taskwait
}
}
}
int main(void)
{
omp_init_lock(&lock);

#pragma omp parallel sections if(parallel: no)
{
if (yes)
{
{

#pragma omp flush acquire
ADD(3, 7);
}
}
else
{

_Pragma("omp parallel for simd if(yes) schedule(static)")
for (int i4 = 0; i4 < 8; i4++)
__atomic_fetch_add(&sum[5], i4, __ATOMIC_RELAXED);
{
if (yes)
{ add(6, 1); } /* } */
else
add(7, 9);
{ goto l8; l8:
{ add(9, 3); } /* } */
}

#pragma omp flush
if (yes)
{
ADD(10, 7);
add(11, 9);

#pragma omp atomic
sum[12] += 3;
}
}

#pragma omp critical (own13) hint(omp_sync_hint_uncontended)
{

#ifdef _OPENMP
#pragma omp flush acq_rel
#endif
{

#pragma omp flush release
add(21, 2);
}
}

}

#pragma omp section
{ int i22 = 0; do
{
switch (yes) {
case 1:
{

#pragma omp atomic
sum[23] += 3;
}
break;
default:
break;
}
if (yes)
{ int i24 = 0; do
{
#if !defined __clang__ && __GNUC__ >= 12

#pragma omp atomic compare seq_cst
if (x26 < 8) { x26 = 8; };
#else

#pragma omp critical (name26)
x26 = 8;
#endif
add(26, x26);
}
while (++i24 < 2);
}
else
{ long v28 = 4;
#pragma omp task mergeable
{ add(28, v28);
add(29, 3);
}
}

#if 1
switch (yes) {
case 1:
{ add(30, 8); } /* } */
break;
default:
break;
}
#else
add(31, 9);
#endif
}
while (++i22 < 2);
}

#pragma omp section
add(32, 5);
}
{ long r33 = 1, f33 = 4, p33 = 0;

#pragma omp parallel reduction(+ : r33) firstprivate(f33) private(p33) proc_bind(close)
{ p33 = f33; r33 += p33;
{
{
{

#pragma omp taskloop nogroup
LOOP(i35, 5)

#pragma omp atomic
sum[36] += 2;
}

#ifdef NEVER
add(37, 3);
#endif
}
{ goto l38; l38:

#pragma omp taskgroup
{

#pragma omp atomic
sum[39] += 2;
{ long r41 = 0;

#pragma omp simd reduction(+ : r41)
LOOP(i41, 8) r41 += both41(i41, 3);
add(41, r41);
}
}
}
}
}
add(33, r33 + p33);
}

#if defined __clang__ && __clang_major__ < 19
#pragma omp target parallel for
#else
#pragma omp target teams
#pragma omp distribute
#endif
LOOP(i43, 9) {
add(44, 8);
add(45, 1);
}

_Pragma("omp critical (own46) hint(omp_sync_hint_contended | omp_sync_hint_speculative)")
{ add(48, 2);
}
{ long r49 = 0, x49 = 1, a49[10];

#  pragma omp parallel \
      for simd reduction(+ : r49) linear(x49 : 2)
LOOP(i49, 10) { a49[i49] = x49 + i49; r49 += 2 * i49; }
LOOP(j49, 10) add(49, a49[j49]);
add(50, r49);
}

#if defined __clang__ && __clang_major__ < 19
#pragma omp target parallel for
#else
#pragma omp target teams
#pragma omp distribute
#endif
LOOP(i51, 9) {
add(52, 5);
add(53, 4);
}

#  pragma omp parallel \
      sections if(parallel: no)
{

#if 1

#pragma omp critical (other)
{
switch (yes) {
case 1:
add(54, 2);
break;
default:
break;
}
{
{ add(55, 1); } /* } */

#pragma omp atomic
sum[56] += 7;
{ long a58[8], r58 = 0;

#pragma omp simd simdlen(2) reduction(+ : r58)
LOOP(i58, 8) { a58[i58] = 2 * i58; r58 += i58; }
add(58, a58[7] + r58);
}
}
}
#else

#pragma omp atomic
sum[60] += 5;
#endif

#pragma omp section
{
{ long v61;

#pragma omp atomic write release
w61 = 7;

#pragma omp atomic read seq_cst
v61 = w61;
add(61, v61);
}
if (yes)
{ int i63 = 0; while (i63++ < 2)

#pragma omp critical (own65) hint(omp_sync_hint_contended | omp_sync_hint_speculative)
add(67, 1);

}
else
{ int i68 = 0; while (i68++ < 2)
if (yes)
add(69, 2);
else

#pragma omp atomic
sum[70] += 7;
}
}
}
{ long r71 = 1, f71 = 4, p71 = 0;

#ifdef _OPENMP
#pragma omp parallel reduction(+ : r71) firstprivate(f71) private(p71) num_threads(counted(72, 3))
#endif
{ p71 = f71; r71 += p71;
{
{
f73(1);
}
for (int i80 = 0; i80 < 2; i80++)

#pragma omp sections
{
{ 
#pragma omp cancel sections
add(81, omp_get_cancellation() ? 1000 : 3);
}
#pragma omp section
add(82, omp_get_cancellation() ? 0 : 5);
}

#ifdef _OPENMP
#pragma omp critical (other)
#endif
if (yes)
if (yes)
{

#pragma omp atomic
sum[83] += 5;

#pragma omp flush
add(84, 3);

#pragma omp flush
}
else
{

#pragma omp flush (sum)
add(87, 9);
}

#pragma omp taskyield
}
}
add(71, r71 + p71);
}

#if defined __clang__ && __clang_major__ < 19
#pragma omp target parallel for
#else
#pragma omp target teams
#pragma omp distribute
#endif
LOOP(i88, 9) {
add(89, 3);
add(90, 2);
}
    LOOP(k, 91) printf("%ld\n", sum[k]);
    printf("g78 %ld\n", g78);
    ADD(0, no + counted(0, 0));
    return 0;
}
