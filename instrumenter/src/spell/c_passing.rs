//! C and C++: instances that the program passes over without a call.
//!
//! A construct such as `atomic` can take less time than the call of a function, which makes the
//! compiler save registers around it. So the library lends the program the record in which it counts
//! the instances that are still to be passed over. An inline function checks that the record is valid
//! here and now, and counts the instance. If it is not valid, the program calls the library.
//!
//! Other constructs may begin in a `critical`, and the library has to know where. So the program also
//! notes which instance it is in, and in which phase. At the instance's end it checks that the note still
//! stands: the library takes it away when something else happens. At the begin of the structured block
//! the program only checks that the wait was short, and at the block's end it does nothing: other threads
//! wait until the block is left. The fields of the records are in `pomp_lib.h`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use profile::region_kind::PseudoRegion;

use crate::openmp::events::{Passage, PassageStep};

/// The type of the record.
pub(super) const RECORD: &str = "struct romp_passing";

/// Its definition.
const TYPES: &str = "\
struct romp_passed { unsigned long romp_region; unsigned char romp_phase; };
struct romp_passing { unsigned long *romp_mark; unsigned long romp_seen; unsigned romp_left; \
unsigned romp_lent; struct romp_passed *romp_passed; unsigned long romp_region; };
";

const INLINE: &str =
    "static __inline__ __attribute__((__always_inline__, __unused__, __no_instrument_function__))";

/// The regions whose instances the program passes over itself.
pub(super) struct Passing<'a> {
    /// Consecutive numbers.
    numbers: BTreeMap<usize, usize>,
    /// Whether other constructs may begin in one of them.
    has_inside: bool,
    unique: &'a str,
}

impl<'a> Passing<'a> {
    /// For these regions, each with whether other constructs may begin in an instance.
    pub(super) fn new(unique: &'a str, regions: BTreeMap<usize, bool>) -> Self {
        let has_inside = regions.values().any(|has_inside| *has_inside);
        let regions = regions.into_keys().enumerate();
        let numbers = regions.map(|(number, region)| (region, number)).collect();
        Self {
            numbers,
            has_inside,
            unique,
        }
    }

    /// The expression for whether the other events of an instance are to be reported. The function
    /// is called with the descriptor if the program does not pass over the instance itself.
    pub(super) fn asking(
        &self,
        (function, descriptor): (&str, &str),
        passage: Passage,
        region: usize,
    ) -> String {
        let unique = self.unique;
        let Some(number) = self.numbers.get(&region) else {
            return format!("{function}({descriptor}, 0)");
        };
        let passes = match passage.step {
            PassageStep::Begins(phase) if passage.has_inside => {
                format!("romp_enters_{unique}({number}, {})", phase as u8)
            }
            _ => format!("romp_passes_{unique}({number})"),
        };
        format!("{passes} ? 0 : {function}({descriptor}, romp_slot_{unique}({number}))")
    }

    /// The expression for whether a later event of an instance that the program has passed over so
    /// far is to be reported. None if it never is.
    pub(super) fn reports(&self, passage: Passage, region: usize) -> Option<String> {
        let unique = self.unique;
        let number = self.numbers.get(&region).filter(|_| passage.has_inside)?;
        Some(match passage.step {
            PassageStep::GoesOn(PseudoRegion::Exit) => return None,
            PassageStep::GoesOn(phase) | PassageStep::Begins(phase) => {
                format!("romp_goes_on_{unique}({number}, {})", phase as u8)
            }
            PassageStep::Ends => format!("romp_ends_{unique}({number})"),
        })
    }

    /// The functions that the user's text calls.
    pub(super) fn declarations(&self) -> String {
        if self.numbers.is_empty() {
            return String::new();
        }
        let unique = self.unique;
        let mut text = format!(
            "{INLINE} int romp_passes_{unique}(int);\n\
             {INLINE} {RECORD} **romp_slot_{unique}(int);\n"
        );
        if self.has_inside {
            let _ = write!(
                text,
                "{INLINE} int romp_enters_{unique}(int, unsigned char);\n\
                 {INLINE} int romp_goes_on_{unique}(int, unsigned char);\n\
                 {INLINE} int romp_ends_{unique}(int);\n"
            );
        }
        text
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
        text.push_str(TYPES);
        let _ = write!(
            text,
            "__extension__ static __thread {RECORD} *romp_passing_{unique}[{count}];\n\
             {INLINE} {RECORD} **romp_slot_{unique}(int romp_number) \
             {{ return &romp_passing_{unique}[romp_number]; }}\n\
             {INLINE} int romp_passes_{unique}(int romp_number) {{ \
             {RECORD} *romp_record = romp_passing_{unique}[romp_number]; \
             unsigned romp_left; \
             if (!romp_record || __atomic_load_n(&romp_record->romp_seen, 0) \
             != __atomic_load_n(romp_record->romp_mark, 0) \
             || __atomic_load_n(&romp_record->romp_passed->romp_region, 0)) return 0; \
             romp_left = __atomic_load_n(&romp_record->romp_left, 0); \
             if (!romp_left) return 0; \
             __atomic_store_n(&romp_record->romp_left, romp_left - 1u, 0); \
             return 1; }}\n"
        );
        if self.has_inside {
            self.define_inside(&mut text);
        }
        text
    }

    /// The functions for instances in which other constructs may begin.
    fn define_inside(&self, text: &mut String) {
        let unique = self.unique;
        let record = format!("{RECORD} *romp_record = romp_passing_{unique}[romp_number];");
        let set_phase = "__atomic_store_n(&romp_record->romp_passed->romp_phase, \
                         romp_phase, 0);";
        let set_region = |region| {
            format!("__atomic_store_n(&romp_record->romp_passed->romp_region, {region}, 0);")
        };
        let (begin, end) = (set_region("romp_record->romp_region"), set_region("0ul"));
        // There is no record if nothing is measured.
        let is_measured = "if (!romp_record) return 0;";
        let is_long = "__atomic_load_n(&romp_record->romp_seen, 0) \
                       != __atomic_load_n(romp_record->romp_mark, 0)";
        let is_changed = "__atomic_load_n(&romp_record->romp_passed->romp_region, 0) \
                          != romp_record->romp_region";
        let _ = write!(
            text,
            "{INLINE} int romp_enters_{unique}(int romp_number, unsigned char romp_phase) {{ \
             {record} if (!romp_passes_{unique}(romp_number)) return 0; \
             {set_phase} {begin} return 1; }}\n\
             {INLINE} int romp_goes_on_{unique}(int romp_number, unsigned char romp_phase) {{ \
             {record} {is_measured} if ({is_long}) return 1; {set_phase} return 0; }}\n\
             {INLINE} int romp_ends_{unique}(int romp_number) {{ \
             {record} {is_measured} if ({is_changed} || {is_long}) return 1; {end} return 0; }}\n"
        );
    }
}
