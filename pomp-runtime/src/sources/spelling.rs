//! The names that compilers for Fortran give a subroutine: in lower case, with an
//! underscore behind, with two (`-fsecond-underscore`) or with none
//! (`-fno-underscoring`).

/// Defines a subroutine under the names with one and with two underscores, and with
/// `or_none` under that without one, which is otherwise the function's in C.
///
/// They are the same function: equal ones become one in an optimised build.
macro_rules! subroutine {
    ($(#[$about:meta])* or_none $begin:literal, $name:literal $($rest:tt)*) => {
        $crate::sources::spelling::subroutine! { $(#[$about])* $begin, $name $($rest)* }
        $crate::sources::spelling::subroutine! { @ $(#[$about])* $begin, $name, "" $($rest)* }
    };
    ($(#[$about:meta])* $begin:literal, $name:literal $($rest:tt)*) => {
        $crate::sources::spelling::subroutine! { @ $(#[$about])* $begin, $name, "_" $($rest)* }
        $crate::sources::spelling::subroutine! { @ $(#[$about])* $begin, $name, "__" $($rest)* }
    };
    (@ $(#[$about:meta])* $begin:literal, $name:literal, $end:literal
     ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        const _: () = {
            $(#[$about])*
            ///
            /// # Safety
            /// The arguments are what a compiler for Fortran passes.
            #[unsafe(export_name = concat!($begin, $name, $end))]
            unsafe extern "C-unwind" fn subroutine($($argument: $type),*) $(-> $result)? $body
        };
    };
}
pub(super) use subroutine;
