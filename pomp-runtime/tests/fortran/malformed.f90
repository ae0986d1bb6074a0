! Literals that are none, and an id whose record comes late.
program main
  implicit none
  integer :: i
  do i = 1, 3
    call POMPF_Atomic_enter('nonsense')
    call POMPF_Atomic_exit('nonsense')
    call POMPF_Atomic_enter('0*regionType=atomic**')
    call POMPF_Atomic_enter('')
    call POMPF_Atomic_enter('M:1')
    call POMPF_Atomic_exit('M:1')
    call POMPF_Atomic_enter('0*regionType=atomic*sscl=m.f90:1:1*escl=m.f90:2:2*romp=1*id=M:1**   ')
    call POMPF_Atomic_exit('M:1   ')
  end do
  print '(a)', 'done'
end program
