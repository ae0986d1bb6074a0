/* Directives in both branches of a conditional. */
void work(int *a, int n)
{
#ifdef NOT_DEFINED
    #pragma omp parallel for
#else
    #pragma omp parallel for schedule(dynamic)
#endif
    for (int i = 0; i < n; i++) a[i] = i;
}
