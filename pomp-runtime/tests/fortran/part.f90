! A part of a program in C: its function is measured by each thread that calls it.
subroutine part(n) bind(c)
  use iso_c_binding, only: c_int
  implicit none
  integer(c_int), value :: n
  integer :: i
  do i = 1, n
    call POMPF_Parallel_fork('0*regionType=parallel*sscl=part.f90:1:1*escl=part.f90:4:4*romp=1*id=P:1**')
    !$omp parallel num_threads(2)
    call POMPF_Parallel_begin('P:1')
    call POMPF_Atomic_enter('0*regionType=atomic*sscl=part.f90:2:2*escl=part.f90:3:3*romp=1*id=P:2**')
    call POMPF_Atomic_exit('P:2')
    call POMPF_Parallel_end('P:1')
    !$omp end parallel
    call POMPF_Parallel_join('P:1')
  end do
end subroutine
