//! The directives of POMP itself: user regions and switches, written `#pragma pomp ...` and
//! `!$pomp ...` (POMP paper, section 3.2; OPARI2's manual). Their rows have the same form as
//! OpenMP's.

use super::directives::{Association, Combination, DirectiveRow, Inst, Languages, Leaf};

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
    row("inst init", Leaf::Inst(Inst::Call("Init"))),
    row("inst finalize", Leaf::Inst(Inst::Call("Finalize"))),
    row("inst on", Leaf::Inst(Inst::Call("On"))),
    row("inst off", Leaf::Inst(Inst::Call("Off"))),
    row("inst begin", Leaf::Inst(Inst::Begin)),
    row("inst altend", Leaf::Inst(Inst::AlternateEnd)),
    row("inst end", Leaf::Inst(Inst::End)),
    row("inst noinstrument", Leaf::Noinstrument),
    row("inst instrument", Leaf::Instrument),
    row("noinstrument", Leaf::Noinstrument),
    row("instrument", Leaf::Instrument),
];
