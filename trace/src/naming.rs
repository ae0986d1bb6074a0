//! Names of regions, which traces and profiles share.

use profile::descriptor::Descriptor;

/// A region as traces and profiles name it.
#[must_use]
pub fn name(region: &Descriptor) -> String {
    match place(region) {
        Some(place) => format!("{} {place}:{}", region.region_type, region.column),
        None => format!("{} {}", region.region_type, code(region)),
    }
}

/// A region without its column, and how certain its lines are.
#[must_use]
pub fn short_name(region: &Descriptor) -> String {
    let near = if region.near { "near " } else { "" };
    match place(region) {
        Some(place) => format!("{} {near}{place}", region.region_type),
        None => format!("{} {}", region.region_type, code(region)),
    }
}

/// File and line; none if they are not known.
fn place(region: &Descriptor) -> Option<String> {
    let begin = &region.begin;
    (begin.first > 0).then(|| format!("{}:{}", begin.file, begin.first))
}

/// A region without lines: its function, and the place in the program or library.
fn code(region: &Descriptor) -> String {
    let Some(code) = &region.code else {
        return "at an unknown place".to_owned();
    };
    let module = code.module.rsplit('/').next().unwrap_or_default();
    let function = region.function.as_ref().or(code.symbol.as_ref());
    match function {
        Some(function) => format!("in {function} at {module}+{:#x}", code.offset),
        None => format!("at {module}+{:#x}", code.offset),
    }
}
