//! The common code of stubs that are called instead of a function and pass its arguments on unread.

/// Assembly that does something in between, and keeps the arguments that the caller has put in
/// registers. It saves seven registers, one of which holds the number of words in vector registers.
/// Together with the return address they keep the stack aligned for a call.
#[macro_export]
macro_rules! keeping_words {
    ($($between:literal)+) => {
        concat!(
            "push rax
            push rdi
            push rsi
            push rdx
            push rcx
            push r8
            push r9
            .cfi_adjust_cfa_offset 56
            ",
            $($between,)+
            "
            pop r9
            pop r8
            pop rcx
            pop rdx
            pop rsi
            pop rdi
            pop rax
            .cfi_adjust_cfa_offset -56"
        )
    };
}
