! A directive in several lines.
subroutine f(a, n)
  integer :: n, a(n), i
  !$omp parallel do &
  !$omp default(none) &
  !$omp shared(a, n) &
  !$omp num_threads(2)
  do i = 1, n
    a(i) = i
  end do
  !$omp end parallel do
end subroutine
