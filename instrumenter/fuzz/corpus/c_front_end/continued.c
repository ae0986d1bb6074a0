/* Continued lines with a comment between. */
void work(int *a, int n)
{
    #pragma omp parallel \
        for \
        schedule(static) /* c */ \
        num_threads(2)
    for (int i = 0; i < n; i++) a[i] = i;
}
