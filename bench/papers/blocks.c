/*
 * Fault: the threads that a block's team adds have nothing to do while its first thread
 * works alone (the shape of the flow solver TFS in the paper on nested parallelism in TAU).
 *
 * A team of four threads has a block each. A thread prepares its block alone, 190 ms, then
 * forks a team of two for the loops in the block, 680 ms. All loads are equal.
 *
 * Expected: eight threads in two clusters: those of the outer team, and the other thread of
 * each inner team. Of 900 ms the former are idle for 30 at most, the latter for 220.
 */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include "expect.h"
#include "work.h"

enum { BLOCKS = 4, ALONE = 190, TOGETHER = 680, BEFORE = 30 };

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    work(BEFORE);
    #pragma omp parallel num_threads(BLOCKS)
    {
        work(ALONE);
        #pragma omp parallel num_threads(2)
        {
            expect("level of the inner region", omp_get_level(), 2);
            work(TOGETHER);
        }
    }
    printf("blocks: ok\n");
    return 0;
}
