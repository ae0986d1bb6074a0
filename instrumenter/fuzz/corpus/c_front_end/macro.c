/* A macro makes the directive. */
#define TEXT(x) _Pragma(#x)
#define LOOP TEXT(omp parallel for)
void work(int *a, int n)
{
    LOOP
    for (int i = 0; i < n; i++) a[i] = i;
}
