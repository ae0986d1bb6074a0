//! Names that others may define too. Ours are weak, so that a definition of the program's own is
//! taken instead. Each name jumps to the function that does the work.

/// Defines names weakly.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! define_weakly {
    ($($name:expr => $target:expr),+ $(,)?) => {$(
        $crate::sources::weak::weak_name! {
            $name, $target, concat!($crate::assembly::jump!(), " ", $target)
        }
    )+};
}

/// On other processors the names are not defined.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! define_weakly {
    ($($name:expr => $target:expr),+ $(,)?) => {};
}

/// Defines a name weakly, as a jump to the address in a word. The word first holds the function of
/// ours, which may put the address of another one there: then all that the name costs is the jump.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! define_weakly_by {
    ($name:expr => $word:expr, $target:expr) => {
        $crate::sources::weak::define_word! { $word, $target }
        $crate::sources::weak::weak_name! {
            $name, $target, $crate::sources::weak::jump_by!($word)
        }
    };
}

/// On other processors the name is not defined; the word is.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! define_weakly_by {
    ($name:expr => $word:expr, $target:expr) => {
        $crate::sources::weak::define_word! { $word, "0" }
    };
}

/// Defines a weak name whose code is one jump; it leads to a function of ours.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! weak_name {
    ($name:expr, $target:expr, $jump:expr) => {
        std::arch::global_asm!(
            ".pushsection .text.romp_weak, \"ax\", %progbits",
            concat!(".hidden ", $target),
            concat!(".weak ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            $jump,
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
        );
    };
}

/// Defines a word that holds an address.
macro_rules! define_word {
    ($word:expr, $address:expr) => {
        std::arch::global_asm!(
            ".pushsection .data.rel.romp_weak, \"aw\", %progbits",
            ".balign 8",
            concat!(".hidden ", $word),
            concat!(".globl ", $word),
            concat!($word, ": .8byte ", $address),
            ".popsection",
        );
    };
}

/// Defines a function of an OpenMP runtime, weakly: the name is the runtime's. See
/// [`in_front_of_runtime`] for the rest.
macro_rules! of_runtime {
    (
        $name:ident $ours:ident $arguments:tt -> $result:ty,
        $none:expr, $around:expr $(, $changed:ident = $value:expr)?
    ) => {
        $crate::sources::weak::in_front_of_runtime! {
            $name $ours $arguments -> $result, $none, $around $(, $changed = $value)?
        }
        $crate::sources::weak::define_weakly! { stringify!($name) => stringify!($ours) }
    };
}

/// Defines a function that stands in front of a function of an OpenMP runtime. It calls that
/// function once, with the same arguments. The parameters are: the runtime's name; our name; the
/// arguments and the result; the result without a runtime, which is never needed, since the caller
/// is in a construct of a runtime; the function that is given the call to make; and an argument
/// that is replaced, if there is one.
macro_rules! in_front_of_runtime {
    (
        $name:ident $ours:ident($($argument:ident: $type:ty),*) -> $result:ty,
        $none:expr, $around:expr $(, $changed:ident = $value:expr)?
    ) => {
        $crate::sources::weak::in_front_of! {
            $name $ours($($argument: $type),*) -> $result, $none, $crate::measure::dynamic::next,
            |next| {
                $(let $changed = $value;)?
                // SAFETY: as the caller promises.
                $around(|| unsafe { next($($argument),*) })
            }
        }
    };
}

/// As [`in_front_of_runtime`], with other parameters behind the result without a runtime: the
/// function that finds the runtime's, given where to keep it and its name; and what is done with
/// the runtime's function.
macro_rules! in_front_of {
    (
        $name:ident $ours:ident($($argument:ident: $type:ty),*) -> $result:ty,
        $none:expr, $find:expr, |$next:ident| $call:expr
    ) => {
        /// # Safety
        /// As the runtime asks of its own function, which is called with the same arguments.
        #[allow(clippy::too_many_arguments)] // The runtime's.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $ours($($argument: $type),*) -> $result {
            use std::ffi::{CStr, c_void};
            use std::sync::atomic::AtomicPtr;
            static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            const NAME: &CStr =
                $crate::measure::dynamic::name(concat!(stringify!($name), "\0"));
            type Function = unsafe extern "C-unwind" fn($($type),*) -> $result;
            let next: *const c_void = $find(&NEXT, NAME);
            // SAFETY: null is the `None` of a function pointer, and a function of this name
            // has this type.
            let next: Option<Function> = unsafe { std::mem::transmute(next) };
            match next {
                Some($next) => $call,
                None => $none,
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump_by {
    ($word:expr) => {
        concat!("jmp qword ptr [rip + ", $word, "]")
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump_by {
    ($word:expr) => {
        concat!(
            "adrp x16, ",
            $word,
            "\n ldr x16, [x16, :lo12:",
            $word,
            "]\n br x16"
        )
    };
}

pub(super) use define_weakly;
pub(super) use define_weakly_by;
pub(super) use define_word;
pub(super) use in_front_of;
pub(super) use in_front_of_runtime;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use jump_by;
pub(super) use of_runtime;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use weak_name;
