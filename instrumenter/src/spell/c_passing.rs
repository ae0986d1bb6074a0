//! C and C++: instances that the program passes over without a call.
//!
//! A construct in which nothing else happens, such as `atomic`, can take less time than the call
//! of a function, which makes the compiler save registers around it. So the library lends the
//! program the record in which it counts the instances that are still to be passed over. An inline
//! function checks that the record is valid here and now, and counts the instance. If it is not
//! valid, the program calls the library. The fields of the record are in `pomp_lib.h`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The type of the record.
pub(super) const RECORD: &str = "struct romp_passing";

/// Its definition.
const TYPE: &str = "\
struct romp_passing { unsigned long *romp_mark; unsigned long romp_seen; unsigned romp_left; \
unsigned romp_lent; };
";

const INLINE: &str =
    "static __inline__ __attribute__((__always_inline__, __unused__, __no_instrument_function__))";

/// The regions whose instances the program passes over itself, with consecutive numbers.
pub(super) struct Passing<'a> {
    numbers: BTreeMap<usize, usize>,
    unique: &'a str,
}

impl<'a> Passing<'a> {
    pub(super) fn new(unique: &'a str, regions: impl Iterator<Item = usize>) -> Self {
        let mut numbers: BTreeMap<usize, usize> = regions.map(|region| (region, 0)).collect();
        for (number, at) in numbers.values_mut().enumerate() {
            *at = number;
        }
        Self { numbers, unique }
    }

    /// The expression for whether the end of an instance is to be reported. `function` is called
    /// with the descriptor if the program does not pass over the instance itself.
    pub(super) fn asking(&self, function: &str, descriptor: &str, region: usize) -> String {
        let unique = self.unique;
        match self.numbers.get(&region) {
            Some(number) => format!(
                "romp_passes_{unique}({number}) ? 0 : \
                 {function}({descriptor}, romp_slot_{unique}({number}))"
            ),
            None => format!("{function}({descriptor}, 0)"),
        }
    }

    /// The functions that the user's text calls.
    pub(super) fn declarations(&self) -> String {
        if self.numbers.is_empty() {
            return String::new();
        }
        let unique = self.unique;
        format!(
            "{INLINE} int romp_passes_{unique}(int);\n\
             {INLINE} {RECORD} **romp_slot_{unique}(int);\n"
        )
    }

    /// Their definitions. Other threads write the mark and read the record. So the accesses are
    /// atomic, in relaxed order (0; preprocessed text expands no macro).
    pub(super) fn definitions(&self) -> String {
        let mut text = String::new();
        if self.numbers.is_empty() {
            return text;
        }
        let unique = self.unique;
        let count = self.numbers.len();
        text.push_str(TYPE);
        let _ = write!(
            text,
            "__extension__ static __thread {RECORD} *romp_passing_{unique}[{count}];\n\
             {INLINE} {RECORD} **romp_slot_{unique}(int romp_number) \
             {{ return &romp_passing_{unique}[romp_number]; }}\n\
             {INLINE} int romp_passes_{unique}(int romp_number) {{ \
             {RECORD} *romp_record = romp_passing_{unique}[romp_number]; \
             unsigned romp_left; \
             if (!romp_record || __atomic_load_n(&romp_record->romp_seen, 0) \
             != __atomic_load_n(romp_record->romp_mark, 0)) return 0; \
             romp_left = __atomic_load_n(&romp_record->romp_left, 0); \
             if (!romp_left) return 0; \
             __atomic_store_n(&romp_record->romp_left, romp_left - 1u, 0); \
             return 1; }}\n"
        );
        text
    }
}
