//! The table of a C source's regions: the fields of its entries, the values of these fields for
//! each region, and the functions that return the addresses of entries.

use std::fmt::Write as _;

use crate::names;
use crate::plan::Region;

/// The fields of an entry: OPARI 1's descriptor and the text form. Their names are used nowhere
/// else, so no macro of the user changes them. The two pointers are declared as integers of the
/// same size (on every Unix) here, so that warnings about null pointers ignore a 0. No macro
/// may be used, since preprocessed text expands none.
pub(super) const ENTRY_FIELDS: &str = "\
const char *romp_name; const char *romp_sub_name; int romp_num_sections; \
const char *romp_file_name; int romp_begin_first_line; int romp_begin_last_line; \
int romp_end_first_line; int romp_end_last_line; \
unsigned long romp_data; unsigned long romp_next; \
const char *romp_text;";

/// The first field of a region's entry, and the remaining fields.
pub(super) fn entry(region: &Region) -> (String, String) {
    let d = &region.descriptor;
    let rest = format!(
        "{}, {}, {}, {}, {}, {}, {}, 0, 0, {}",
        quoted(d.name.as_deref().unwrap_or_default()),
        d.num_sections.unwrap_or(0),
        quoted(&d.begin.file),
        d.begin.first,
        d.begin.last,
        d.end.first,
        d.end.last,
        quoted(&d.to_text()),
    );
    (quoted(&d.region_type), rest)
}

/// A function that returns the addresses of descriptors.
#[derive(PartialEq, Eq)]
pub(super) struct Accessor {
    pub(super) prefix: &'static str,
    pub(super) storage: &'static str,
    pub(super) attribute: &'static str,
}

pub(super) const STATIC: Accessor = Accessor {
    prefix: "romp_rd",
    storage: "static",
    // Its callers may be in a branch that is not compiled.
    attribute: "__attribute__((__unused__, __no_instrument_function__))",
};

pub(super) const EXTERNAL: Accessor = Accessor {
    prefix: "romp_rdx",
    storage: "extern",
    // Weak, since a program may contain a source twice under one name.
    attribute: "__attribute__((__weak__, __visibility__(\"hidden\"), \
                __no_instrument_function__))",
};

impl Accessor {
    /// The text in front of its definition.
    pub(super) fn defined_as(&self) -> &'static str {
        if *self == STATIC { "static " } else { "" }
    }
}

/// A string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in names::bytes(text).iter().copied() {
        match byte {
            b'"' | b'\\' => literal.extend(['\\', char::from(byte)]),
            // An unescaped `??` could begin a trigraph.
            b'?' => literal.push_str("\\?"),
            0x20..=0x7e => literal.push(char::from(byte)),
            _ => {
                let _ = write!(literal, "\\{byte:03o}");
            }
        }
    }
    literal.push('"');
    literal
}
