!     romp_lib.h - steering the measurement by hand, from Fortran.
!
!     include 'romp_lib.h' is valid in free and in fixed form. It is needed
!     only under "implicit none (external)". Each subroutine may be called
!     from any thread at any time.
!
!     romp_start, romp_stop: start or stop the measurement of the whole
!     process, also within regions. While it is stopped, nothing is counted,
!     and no time passes. Regions that are open at a stop or a start keep
!     their place.
!     romp_dump: writes the profile as it is now. It replaces the files that
!     this run wrote before.
!     romp_annotate('key', 'value'): stores a key with its value in the
!     profile, such as the size of the problem. Compile with underscores
!     behind the names of subroutines, as compilers do by default.
      external romp_start, romp_stop, romp_dump, romp_annotate
