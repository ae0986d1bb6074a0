//! The names that compilers for Fortran give a subroutine: in lower case, with an
//! underscore behind, with two (`-fsecond-underscore`) or with none
//! (`-fno-underscoring`).

/// Defines a subroutine under the names with one and with two underscores, and with
/// `or_none` under that without one, which is otherwise the function's in C.
///
/// What it does stands once: the others jump there, since every program carries them.
macro_rules! subroutine {
    ($(#[$about:meta])* or_none $begin:literal, $name:literal
     ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        const _: () = {
            $crate::sources::spelling::subroutine!(@ $(#[$about])* $begin, $name ($($argument: $type),*) $(-> $result)? $body);
            $crate::sources::spelling::subroutine!(@ $begin, $name, "__" ($($argument: $type),*) $(-> $result)?);
            $crate::sources::spelling::subroutine!(@ $begin, $name, "" ($($argument: $type),*) $(-> $result)?);
        };
    };
    ($(#[$about:meta])* $begin:literal, $name:literal
     ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        const _: () = {
            $crate::sources::spelling::subroutine!(@ $(#[$about])* $begin, $name ($($argument: $type),*) $(-> $result)? $body);
            $crate::sources::spelling::subroutine!(@ $begin, $name, "__" ($($argument: $type),*) $(-> $result)?);
        };
    };
    (@ $(#[$about:meta])* $begin:literal, $name:literal
     ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$about])*
        ///
        /// # Safety
        /// The arguments are what a compiler for Fortran passes.
        #[inline(never)]
        #[unsafe(export_name = concat!($begin, $name, "_"))]
        unsafe extern "C" fn subroutine($($argument: $type),*) $(-> $result)? $body
    };
    (@ $begin:literal, $name:literal, $end:literal
     ($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        const _: () = {
            /// The same under another name.
            ///
            /// # Safety
            /// The arguments are what a compiler for Fortran passes.
            #[unsafe(export_name = concat!($begin, $name, $end))]
            unsafe extern "C" fn renamed($($argument: $type),*) $(-> $result)? {
                // SAFETY: as the caller promises.
                unsafe { subroutine($($argument),*) }
            }
        };
    };
}
pub(super) use subroutine;
