! Teams at three levels: each member of a team forks the next from the same
! line, at the same time, and as many times as its place says.
module nested
  implicit none
  private
  public :: outermost
contains
  subroutine outermost(rounds, total)
    use omp_lib, only: omp_get_thread_num
    integer, intent(in) :: rounds
    integer, intent(inout) :: total
    integer :: round, seen
    seen = 0
    call POMPF_Parallel_fork('0*regionType=parallel*sscl=nested.f90:1:1*escl=nested.f90:9:9*romp=1*id=N:1**')
    !$omp parallel default(none) private(round) shared(rounds) reduction(+:seen) num_threads(3)
    call POMPF_Parallel_begin('N:1')
    do round = 1, rounds * (omp_get_thread_num() + 1)
      call middle(seen)
    end do
    call POMPF_Implicit_barrier_enter('N:1')
    !$omp barrier
    call POMPF_Implicit_barrier_exit('N:1')
    call POMPF_Parallel_end('N:1')
    !$omp end parallel
    call POMPF_Parallel_join('N:1')
    total = total + seen
  end subroutine

  subroutine middle(seen)
    integer, intent(inout) :: seen
    integer :: mine
    mine = 0
    call POMPF_Parallel_fork('0*regionType=parallel*sscl=nested.f90:2:2*' // &
      'escl=nested.f90:8:8*romp=1*id=N:2**')
    !$omp parallel default(none) reduction(+:mine) num_threads(2)
    call POMPF_Parallel_begin('N:2')
    call innermost(mine)
    call POMPF_Parallel_end('N:2')
    !$omp end parallel
    call POMPF_Parallel_join('N:2')
    seen = seen + mine
  contains
    subroutine innermost(sum)
      integer, intent(inout) :: sum
      integer :: own
      own = 0
      call POMPF_Parallel_fork('0*regionType=parallel*sscl=nested.f90:3:3*escl=nested.f90:7:7*romp=1*id=N:3**')
      !$omp parallel default(none) reduction(+:own) num_threads(2)
      call POMPF_Parallel_begin('N:3')
      call POMPF_Atomic_enter('0*regionType=atomic*sscl=nested.f90:4:4*escl=nested.f90:5:5*romp=1*id=N:4**')
      own = own + 1
      call POMPF_Atomic_exit('N:4')
      call POMPF_Parallel_end('N:3')
      !$omp end parallel
      call POMPF_Parallel_join('N:3')
      sum = sum + own
    end subroutine
  end subroutine
end module

program main
  use nested, only: outermost
  implicit none
  integer :: total
  total = 0
  call outermost(25, total)
  print '(i0)', total
end program
