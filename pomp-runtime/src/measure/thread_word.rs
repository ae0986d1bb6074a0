//! Words of thread-local storage that a probe reads without a call.
//!
//! In a shared library `thread_local!` asks the dynamic linker for the address of a variable, by a
//! call in each function that reads it. Rust has no stable way to ask for another model of access.
//! So on x86-64 these words are defined and found by assembly, with the model *initial-exec*: their
//! distance from the thread's pointer is fixed when the library is loaded. A program that loads the
//! library later gives it a few bytes of the space that the C library keeps for this, as
//! OpenMP runtimes do. In an executable the linker makes the distance a constant.

/// Values of which bytes of zero are one, the first of a word.
///
/// # Safety
/// Bytes of zero are a valid value.
pub(crate) unsafe trait BeginsAsZero: Copy {
    /// The value.
    const ZERO: Self;
}

// SAFETY: it is a number.
unsafe impl BeginsAsZero for usize {
    const ZERO: Self = 0;
}

// SAFETY: it is a number.
unsafe impl BeginsAsZero for u32 {
    const ZERO: Self = 0;
}

// SAFETY: it is `false`.
unsafe impl BeginsAsZero for bool {
    const ZERO: Self = false;
}

// SAFETY: Rust guarantees that None of a reference is null.
unsafe impl<T> BeginsAsZero for Option<&'static T> {
    const ZERO: Self = None;
}

/// Defines a function that returns a cell of the calling thread's own.
#[cfg(target_arch = "x86_64")]
macro_rules! thread_word {
    ($(#[$about:meta])* $visible:vis fn $name:ident() -> $type:ty = $symbol:literal;) => {
        std::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ", \"awT\", @nobits"),
            ".balign {align}",
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ", @tls_object"),
            concat!(".size ", $symbol, ", {size}"),
            concat!($symbol, ": .zero {size}"),
            ".popsection",
            align = const align_of::<$type>(),
            size = const size_of::<$type>(),
        );

        $(#[$about])*
        #[inline(always)]
        $visible fn $name() -> &'static std::cell::Cell<$type> {
            const {
                let _zero = <$type as $crate::measure::thread_word::BeginsAsZero>::ZERO;
                assert!(align_of::<$type>() <= 8);
            }
            let address: *const std::cell::Cell<$type>;
            // SAFETY: this computes an address, which is the same whenever this thread asks. The
            // memory is the thread's own for as long as the thread runs, and a cell cannot be
            // handed to another thread.
            unsafe {
                std::arch::asm!(
                    "mov {address}, qword ptr fs:[0]",
                    concat!("add {address}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    address = out(reg) address,
                    options(pure, nomem, nostack),
                );
                &*address
            }
        }
    };
}

/// On other processors the words are found as Rust finds thread-local variables.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! thread_word {
    ($(#[$about:meta])* $visible:vis fn $name:ident() -> $type:ty = $symbol:literal;) => {
        $(#[$about])*
        #[inline(always)]
        $visible fn $name() -> &'static std::cell::Cell<$type> {
            thread_local! {
                static WORD: std::cell::Cell<$type> = const {
                    std::cell::Cell::new(
                        <$type as $crate::measure::thread_word::BeginsAsZero>::ZERO,
                    )
                };
            }
            // SAFETY: the memory is the thread's own for as long as the thread runs, since the
            // value is not dropped, and a cell cannot be handed to another thread.
            WORD.with(|word| unsafe { &*std::ptr::from_ref(word) })
        }
    };
}

pub(crate) use thread_word;
