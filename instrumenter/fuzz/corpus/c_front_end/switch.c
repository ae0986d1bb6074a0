/* A switch as the body. */
void work(int *a, int n)
{
    #pragma omp parallel
    switch (n) { case 1: a[0] = 1; break; default: a[0] = 2; }
}
