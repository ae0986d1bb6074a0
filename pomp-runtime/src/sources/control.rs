//! `romp.h`: the functions by which a program controls its own measurement, by hand.

use std::ffi::c_char;

use super::boundary::caught;
use super::descriptor::text;
use crate::measure::{annotations, pausing};
use crate::run::life_cycle;

/// The functions without arguments, to be linked with every program.
#[cfg(not(test))]
pub(super) const STEERING: [extern "C-unwind" fn(); 3] = [romp_start, romp_stop, romp_dump];

/// Measurement goes on.
#[unsafe(no_mangle)]
extern "C-unwind" fn romp_start() {
    caught(|| {
        life_cycle::ensure_started();
        pausing::switch_on();
        Some(())
    });
}

/// Measurement stops for a time.
#[unsafe(no_mangle)]
extern "C-unwind" fn romp_stop() {
    caught(|| {
        life_cycle::ensure_started();
        pausing::switch_off();
        Some(())
    });
}

/// The profile is written as it is now.
#[unsafe(no_mangle)]
extern "C-unwind" fn romp_dump() {
    caught(|| {
        life_cycle::dump_now();
        Some(())
    });
}

/// Something is to be kept in the profile.
///
/// # Safety
/// Each of the two is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn romp_annotate(key: *const c_char, value: *const c_char) {
    caught(|| {
        if life_cycle::ensure_started() {
            annotations::add(text(key)?, text(value).unwrap_or_default());
        }
        Some(())
    });
}
