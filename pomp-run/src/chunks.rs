//! The entries of OpenMP runtimes that hand out chunks of loops.

use std::arch::naked_asm;

use pomp::gomp;
use pomp::ompt::chunks::request;
use pomp::ompt::entries::Request;

macro_rules! gomp {
    ($($name:ident)+) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            call_shape!(gomp::request::<{ gomp::Request::$name as usize }>)
        }
    )+};
}

pomp::for_gomp_requests!(gomp);

macro_rules! llvm {
    ($($name:ident($value:ident))+) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            call_shape!(request::<$value, { Request::$name as usize }>)
        }
    )+};
}

pomp::for_llvm_requests!(llvm);
