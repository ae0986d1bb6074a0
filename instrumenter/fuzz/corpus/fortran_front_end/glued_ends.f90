! Directives at the end without blanks, two collapsed loops.
subroutine f(a, n)
  integer :: n, a(n), i, j
  !$omp parallel
  !$omp do collapse(2)
  do i = 1, n
    do j = 1, n
      a(i) = i + j
    enddo
  enddo
  !$omp enddo nowait
  !$omp endparallel
end subroutine
