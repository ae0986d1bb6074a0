      PROGRAM D1
      INTEGER I,S,T
      S=0 ; T=0
!$OMP PARALLEL DO REDUCTION(+:S)
      DO I=1,10; S=S+I; END DO; T=1 ; T=T+1 ; T=T+1                     +1000000
      PRINT *,S,T
      END
