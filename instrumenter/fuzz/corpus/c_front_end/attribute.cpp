/* A directive as an attribute. romp-test: flags=-Wno-openmp-51-extensions */
void work(int *a, int n)
{
    [[omp::directive(parallel for)]]
    for (int i = 0; i < n; i++) a[i] = i;
}
