//! C and C++: instances that the program passes over without a call.
//!
//! A construct in which nothing else happens, such as `atomic`, can take less time than the call
//! of a function, which makes the compiler save registers around it. So the library lends the
//! program the record in which it counts the instances that are still to be passed over. An inline
//! function checks that the record is valid here and now, and counts the instance. If it is not
//! valid, the program calls the library. The fields of the record are in `pomp_lib.h`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::c::CSpeller;
use super::c_regions::STATIC;
use super::c_shapes::Shape;
use super::{Step, steps};
use crate::plan::Fragment;

/// The type of the record.
pub(super) const RECORD: &str = "struct romp_passing";

/// Its definition.
const TYPE: &str = "\
struct romp_passing { const volatile unsigned long *romp_mark; \
volatile unsigned long romp_seen; volatile unsigned romp_left; unsigned romp_armed; };
";

const INLINE: &str =
    "static __inline__ __attribute__((__always_inline__, __unused__, __no_instrument_function__))";

impl CSpeller<'_> {
    /// The regions whose instances the program passes over itself, with consecutive numbers. A
    /// function that must not refer to static objects has to call the library.
    pub(super) fn find_passing(&self) -> BTreeMap<usize, usize> {
        let insertions = self.plan.insertions.iter();
        let steps = insertions.flat_map(|insertion| steps(&insertion.items, self.api));
        let mut found: BTreeMap<usize, usize> = steps
            .filter_map(|step| match step {
                Step::Fragment(Fragment::Probe(event, region))
                    if self.shape(*event, *region) == Shape::AsksForEnd
                        && *self.accessor(&self.plan.regions[*region]) == STATIC =>
                {
                    Some((*region, 0))
                }
                _ => None,
            })
            .collect();
        for (number, at) in found.values_mut().enumerate() {
            *at = number;
        }
        found
    }

    /// The functions that the user's text calls.
    pub(super) fn passing_declarations(&self) -> String {
        if self.passing.is_empty() {
            return String::new();
        }
        let unique = self.around.unique;
        format!(
            "{INLINE} int romp_passes_{unique}(int);\n\
             {INLINE} struct romp_passing **romp_slot_{unique}(int);\n"
        )
    }

    /// Their definitions.
    pub(super) fn passing_definitions(&self) -> String {
        let mut text = String::new();
        if self.passing.is_empty() {
            return text;
        }
        let unique = self.around.unique;
        let count = self.passing.len();
        text.push_str(TYPE);
        let _ = write!(
            text,
            "__extension__ static __thread struct romp_passing *romp_passing_{unique}[{count}];\n\
             {INLINE} struct romp_passing **romp_slot_{unique}(int romp_number) \
             {{ return &romp_passing_{unique}[romp_number]; }}\n\
             {INLINE} int romp_passes_{unique}(int romp_number) {{ \
             struct romp_passing *romp_record = romp_passing_{unique}[romp_number]; \
             unsigned romp_left; \
             if (!romp_record || romp_record->romp_seen != *romp_record->romp_mark) return 0; \
             romp_left = romp_record->romp_left; \
             if (!romp_left) return 0; \
             romp_record->romp_left = romp_left - 1u; \
             return 1; }}\n"
        );
        text
    }
}
