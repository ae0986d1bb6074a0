! A whole loop in one line.
subroutine f(a, n)
  integer :: n, a(n), i
  !$omp parallel do
  do i = 1, n; a(i) = i; end do
  !$omp end parallel do
end subroutine
