!     romp_lib.h - steering the measurement by hand, from Fortran.
!
!     include 'romp_lib.h' is valid in free and in fixed form. It is needed
!     only under "implicit none (external)". Each subroutine may be called
!     from any thread at any time.
!
!     romp_start, romp_stop: measurement of the whole process goes on, or
!     stops for a time. A region that is open when it stops goes on when it
!     goes on, without the time between. A region that both begins and ends
!     between is not recorded.
!     romp_dump: writes the profile as it is now, over what this run wrote
!     before.
!     romp_annotate('key', 'value'): keeps something in the profile, such as
!     the size of the problem. Compile with underscores behind the names of
!     subroutines, as compilers do by default.
      external romp_start, romp_stop, romp_dump, romp_annotate
