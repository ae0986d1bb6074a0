//! The directives of POMP itself: user regions and switches, written `#pragma pomp ...` and
//! `!$pomp ...` (POMP paper, section 3.2; OPARI2's manual). Their rows have the same form as
//! OpenMP's.

use super::directives::{Association, Combination, DirectiveRow, Languages, Leaf};

const fn row(name: &'static str, leaf: Leaf) -> DirectiveRow {
    DirectiveRow {
        name,
        languages: Languages::All,
        leaf,
        association: Association::Standalone,
        since: 0,
        combination: Combination::Never,
    }
}

/// The table.
pub const POMP_DIRECTIVES: &[DirectiveRow] = &[
    row("inst init", Leaf::InstInit),
    row("inst finalize", Leaf::InstFinalize),
    row("inst on", Leaf::InstOn),
    row("inst off", Leaf::InstOff),
    row("inst begin", Leaf::InstBegin),
    row("inst altend", Leaf::InstAltend),
    row("inst end", Leaf::InstEnd),
    row("inst noinstrument", Leaf::Noinstrument),
    row("inst instrument", Leaf::Instrument),
    row("noinstrument", Leaf::Noinstrument),
    row("instrument", Leaf::Instrument),
];
