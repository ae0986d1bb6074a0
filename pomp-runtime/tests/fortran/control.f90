! Measurement is switched off and on by hand.
subroutine work
  implicit none
  call POMPF_Atomic_enter('0*regionType=atomic*sscl=control.f90:1:1*escl=control.f90:2:2*romp=1*id=C:1**')
  call POMPF_Atomic_exit('C:1')
end subroutine

program main
  implicit none
  include 'romp_lib.h'
  integer :: i
  character(8) :: size
  size = 'small'
  do i = 1, 3
    call work
    call romp_stop
    call work
    call romp_start
  end do
  call romp_annotate('size', size)
  call romp_dump
end program
