C     Fixed form, without declarations, with literals on several lines.
      program fixed
      integer i, n, total
      parameter (n = 60)
      total = 0
      call POMPF_Parallel_fork('0*regionType=paralleldo*sscl=fixed.f:1:1
     &*escl=fixed.f:5:5*romp=1*id=F:1**')
c$omp parallel shared(total)
      call POMPF_Parallel_begin('F:1')
      call POMPF_For_enter('F:1')
c$omp do reduction(+:total)
      do 10 i = 1, n
        total = total + 1
        call POMPF_Critical_enter('0*regionType=critical*'//
     &   'sscl=fixed.f:2:2*escl=fixed.f:4:4*criticalName=it''s*'//
     &   'romp=1*id=F:2**')
c$omp critical
        call POMPF_Critical_begin('F:2')
        call POMPF_Critical_end('F:2')
c$omp end critical
        call POMPF_Critical_exit('F:2')
   10 continue
c$omp end do nowait
      call POMPF_For_exit('F:1')
      call POMPF_Implicit_barrier_enter('F:1')
c$omp barrier
      call POMPF_Implicit_barrier_exit('F:1')
      call POMPF_Parallel_end('F:1')
c$omp end parallel
      call POMPF_Parallel_join('F:1')
      write (*, '(i0)') total
      end
