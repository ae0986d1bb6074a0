//! `exec` and its kin: another program takes the place of this one, and no exit handler
//! runs. So the profile is written before the call. If the call fails, the program and
//! its measurement go on.
//!
//! The names are defined weakly, like those in [`super::ends`]. Their arguments are not looked at:
//! each function keeps the registers (`stubs`), has the profile written, and jumps to the C library's
//! function of its name. A static executable has no function of that name besides ours. There,
//! `execve` is the system call, and the work that the other functions do before it is done here.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::boundary::caught;
use crate::measure::dynamic;
use crate::run::life_cycle;

type StringList = *const *const c_char;

unsafe extern "C" {
    static mut environ: StringList;

    fn romp_execl();
    fn romp_execlp();
    fn romp_execle();
}

/// A name, and the function that is used where the C library's cannot be found. Names are in the
/// order of their numbers.
struct Name {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    otherwise: AtomicPtr<c_void>,
}

macro_rules! names {
    ($($number:literal $name:literal => $otherwise:ident),+ $(,)?) => {
        static NAMES: [Name; 9] = [$(Name {
            name: dynamic::name(concat!($name, "\0")),
            found: AtomicPtr::new(std::ptr::null_mut()),
            otherwise: AtomicPtr::new($otherwise as *mut c_void),
        }),+];

        $(std::arch::global_asm!(
            ".pushsection .text.romp_exec, \"ax\", %progbits",
            ".hidden romp_before_exec",
            concat!(".hidden ", stringify!($otherwise)),
            concat!(".weak ", $name),
            concat!(".type ", $name, ", %function"),
            // For a library that defines the name itself.
            concat!(".hidden romp_report_then_", $name),
            concat!(".globl romp_report_then_", $name),
            concat!("romp_report_then_", $name, ":"),
            concat!($name, ":"),
            ".cfi_startproc",
            crate::keeping_words!(
                "mov edi, " $number "
                call romp_before_exec
                mov r11, rax"
            ),
            "jmp r11",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
        );)+
    };
}

names! {
    "0" "execve" => romp_execve,
    "1" "execv" => romp_execv,
    "2" "execvp" => romp_execvp,
    "3" "execvpe" => romp_execvpe,
    "4" "execl" => romp_execl,
    "5" "execlp" => romp_execlp,
    "6" "execle" => romp_execle,
    "7" "fexecve" => romp_fexecve,
    "8" "execveat" => romp_execveat,
}

// Arguments in a row: those in registers are put in front of those on the stack.
macro_rules! lists {
    ($($name:literal => $target:literal),+ $(,)?) => {$(
        std::arch::global_asm!(
            ".pushsection .text.romp_exec, \"ax\", %progbits",
            concat!(".hidden ", $target),
            concat!(".globl ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            "pop rax",
            "push r9",
            "push r8",
            "push rcx",
            "push rdx",
            "push rsi",
            "mov rsi, rsp",
            "push rax",
            concat!("call ", $target),
            "pop rcx",
            "add rsp, 40",
            "jmp rcx",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
        );
    )+};
}

lists! {
    "romp_execl" => "romp_execv",
    "romp_execlp" => "romp_execvp",
    "romp_execle" => "romp_execv_then_environment",
}

/// Has the profile written. Returns the function to which the stub jumps.
#[unsafe(no_mangle)]
extern "C-unwind" fn romp_before_exec(number: usize) -> *const c_void {
    caught(|| {
        life_cycle::before_exec();
        Some(())
    });
    let Some(name) = NAMES.get(number) else {
        return std::ptr::null();
    };
    let found = dynamic::next(&name.found, name.name);
    match found.is_null() {
        true => name.otherwise.load(Ordering::Relaxed),
        false => found,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_execve(
    path: *const c_char,
    arguments: StringList,
    environment: StringList,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { libc::syscall(libc::SYS_execve, path, arguments, environment) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_execv(path: *const c_char, arguments: StringList) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { romp_execve(path, arguments, environ) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_execvp(file: *const c_char, arguments: StringList) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { romp_execvpe(file, arguments, environ) }
}

/// The environment stands behind the end of the arguments.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_execv_then_environment(
    path: *const c_char,
    arguments: StringList,
) -> c_int {
    // SAFETY: the caller has ended the list with a null pointer, and put the
    // environment behind it.
    unsafe {
        let mut end = arguments;
        while !(*end).is_null() {
            end = end.add(1);
        }
        romp_execve(path, arguments, *end.add(1).cast())
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_fexecve(
    file: c_int,
    arguments: StringList,
    environment: StringList,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        romp_execveat(
            file,
            c"".as_ptr(),
            arguments,
            environment,
            libc::AT_EMPTY_PATH,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_execveat(
    directory: c_int,
    path: *const c_char,
    arguments: StringList,
    environment: StringList,
    flags: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let result = libc::syscall(
            libc::SYS_execveat,
            directory,
            path,
            arguments,
            environment,
            flags,
        );
        result as c_int
    }
}

/// Tries each directory of `PATH`, as the C library does.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_execvpe(
    file: *const c_char,
    arguments: StringList,
    environment: StringList,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let name = CStr::from_ptr(file).to_bytes();
        if name.contains(&b'/') {
            return or_as_script(file, arguments, environment);
        }
        let path = libc::getenv(c"PATH".as_ptr());
        let path = match path.is_null() {
            true => c"/bin:/usr/bin",
            false => CStr::from_ptr(path),
        };
        let mut refused = name.is_empty();
        for directory in path.to_bytes().split(|byte| *byte == b':') {
            let separator: &[u8] = if directory.is_empty() { b"" } else { b"/" };
            let place = [directory, separator, name, b"\0"].concat();
            or_as_script(place.as_ptr().cast(), arguments, environment);
            match *libc::__errno_location() {
                libc::EACCES => refused = true,
                libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => {}
                _ => return -1,
            }
        }
        *libc::__errno_location() = if refused && !name.is_empty() {
            libc::EACCES
        } else {
            libc::ENOENT
        };
        -1
    }
}

/// A file that the system does not know how to run is one for the shell.
unsafe fn or_as_script(
    path: *const c_char,
    arguments: StringList,
    environment: StringList,
) -> c_int {
    // SAFETY: as the caller promises; the arguments end with a null pointer.
    unsafe {
        romp_execve(path, arguments, environment);
        if *libc::__errno_location() != libc::ENOEXEC {
            return -1;
        }
        let mut script = vec![c"/bin/sh".as_ptr(), path];
        let mut word = arguments;
        while !(*word).is_null() {
            word = word.add(1);
            script.push(*word);
        }
        if script.last().is_some_and(|last| !last.is_null()) {
            script.push(std::ptr::null());
        }
        romp_execve(c"/bin/sh".as_ptr(), script.as_ptr(), environment)
    }
}
