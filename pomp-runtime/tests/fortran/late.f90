! A program that works for 300 ms before its first construct.
program late
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer(int64) :: begin, now, rate
  call system_clock(begin, rate)
  do
    call system_clock(now)
    if (now - begin >= 3 * rate / 10) exit
  end do
  call POMPF_Parallel_fork('0*regionType=parallel*sscl=late.f90:1:1*escl=late.f90:9:9*romp=1*id=L:1**')
  !$omp parallel num_threads(2)
  call POMPF_Parallel_begin('L:1')
  call POMPF_Parallel_end('L:1')
  !$omp end parallel
  call POMPF_Parallel_join('L:1')
  print '(a)', 'done'
end program
