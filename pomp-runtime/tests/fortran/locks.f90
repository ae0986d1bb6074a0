! Locks, set and tested in every kind of statement.
subroutine sub(n, entered)
  use omp_lib
  implicit none
  integer, intent(in) :: n
  integer, intent(inout) :: entered
  integer(omp_lock_kind) :: simple, taken
  integer(omp_nest_lock_kind) :: nest
  integer :: i, depth
  call POMPF_Init_lock('0*regionType=lock*sscl=l.f90:1:1*' // &
    'escl=l.f90:1:1*lockRoutine=omp_init_lock*romp=1*id=L:1**', simple)
  call POMPF_Init_lock('L:1', taken)
  call POMPF_Init_nest_lock('0*regionType=lock*sscl=l.f90:2:2*' // &
    'escl=l.f90:2:2*lockRoutine=omp_init_nest_lock*romp=1*id=L:2**', nest)
  call POMPF_Set_lock('0*regionType=lock*sscl=l.f90:3:3*' // &
    'escl=l.f90:3:3*lockRoutine=omp_set_lock*romp=1*id=L:3**', taken)
  do i = 1, n
    call POMPF_Lock_site('0*regionType=lock*sscl=l.f90:4:4*' // &
      'escl=l.f90:4:4*lockRoutine=omp_test_lock*romp=1*id=L:4**')
    if (omp_test_lock(taken)) then
      entered = -1000
    else if (omp_test_lock(svar=simple)) then
      entered = entered + 1
      call POMPF_Unset_lock('0*regionType=lock*sscl=l.f90:5:5*' // &
        'escl=l.f90:5:5*lockRoutine=omp_unset_lock*romp=1*id=L:5**', simple)
    end if
    call POMPF_Set_nest_lock('0*regionType=lock*sscl=l.f90:6:6*' // &
      'escl=l.f90:6:6*lockRoutine=omp_set_nest_lock*romp=1*id=L:6**', nest)
    call POMPF_Lock_site('0*regionType=lock*sscl=l.f90:7:7*' // &
      'escl=l.f90:7:7*lockRoutine=omp_test_nest_lock*romp=1*id=L:7**')
    depth = omp_test_nest_lock(nest)
    if (depth /= 2) entered = -2000
    call POMPF_Unset_nest_lock('0*regionType=lock*sscl=l.f90:8:8*' // &
      'escl=l.f90:8:8*lockRoutine=omp_unset_nest_lock*romp=1*id=L:8**', nest)
    call POMPF_Unset_nest_lock('L:8', nest)
  end do
  call POMPF_Unset_lock('L:5', taken)
  call omp_destroy_nest_lock(nest)
end subroutine

program main
  implicit none
  integer :: entered
  entered = 0
  call sub(10, entered)
  print '(i0)', entered
end program
