//! Names that others may define too: ours are weak, so that a definition of the
//! program's own is taken instead. Each jumps to the function that does it.

/// Defines names weakly.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! define_weakly {
    ($($name:expr => $target:expr),+ $(,)?) => {$(
        std::arch::global_asm!(
            ".pushsection .text.romp_weak, \"ax\", %progbits",
            concat!(".hidden ", $target),
            concat!(".weak ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            concat!($crate::sources::weak::jump!(), " ", $target),
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
        );
    )+};
}

/// Elsewhere they are not defined.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! define_weakly {
    ($($name:expr => $target:expr),+ $(,)?) => {};
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    () => {
        "jmp"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    () => {
        "b"
    };
}

pub(super) use define_weakly;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use jump;
