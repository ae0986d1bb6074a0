* A loop that ends at its label, without a directive at its end.
      SUBROUTINE F(A,N)
      INTEGER N,A(N),I
!$OMP PARALLEL DO
      DO 10 I=1,N
      A(I)=I
 10   CONTINUE
      END
