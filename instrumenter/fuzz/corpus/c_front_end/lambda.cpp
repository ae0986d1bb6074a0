// A construct in a lambda under default(none).
void work(int *a, int n)
{
    auto inner = [&] {
        #pragma omp parallel for default(none) shared(a, n)
        for (int i = 0; i < n; i++) a[i] = i;
    };
    inner();
}
