//! THE table of directives: one row per directive that is not a combination,
//! for C, C++ and Fortran together, OpenMP 2.5 to 6.0.
//!
//! A combined or composite directive has no row: its name is a sequence of rows, and its effect
//! is computed from them (`parse.rs` reads the name, `plan` composes the recipes). To add a
//! directive, add a row here. If it starts a region worth measuring, add a recipe in
//! `recipes.rs`.

use super::Language;

/// The kind of a directive, apart from its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // Each variant is explained by its row.
pub enum Leaf {
    Parallel,
    Loop,
    Sections,
    Section,
    Single,
    Workshare,
    Scope,
    Critical,
    Ordered,
    Atomic,
    Barrier,
    Flush,
    Taskwait,
    Taskyield,
    Taskgroup,
    Master,
    Masked,
    Task,
    Taskloop,
    TaskIteration,
    Taskgraph,
    GenericLoop,
    Distribute,
    Teams,
    Workdistribute,
    Target,
    TargetData,
    TargetEnterData,
    TargetExitData,
    TargetUpdate,
    Cancel,
    CancellationPoint,
    Simd,
    Transformation,
    Scan,
    Metadirective,
    Variant,
    DeclareTarget,
    BeginDeclareTarget,
    EndDeclareTarget,
    Declarative,
    Informational,
    Dispatch,
    Interop,
    Depobj,
    Allocators,
    Inst(Inst),
    Noinstrument,
    Instrument,
}

/// What a directive `inst ...` of POMP becomes in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inst {
    /// A call of this function.
    Call(&'static str),
    /// The begin of a region.
    Begin,
    /// One more end of a region.
    AlternateEnd,
    /// The end of a region.
    End,
}

/// The code that a directive governs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Association {
    /// Nothing: it stands alone and is executed.
    Standalone,
    /// The structured block that follows.
    Block,
    /// The loop nest that follows.
    LoopNest,
    /// Everything up to a closing directive of its own.
    Delimited,
    /// Nothing that is executed.
    Declarative,
    /// It separates parts of the enclosing construct's block.
    Separating,
    /// The association depends on the clauses, or on the directives that the clauses select.
    Unknown,
}

/// A row of the table.
#[derive(Debug)]
pub struct DirectiveRow {
    /// Name with single blanks between its words, as in C and C++.
    pub name: &'static str,
    /// The languages that have it.
    pub languages: Languages,
    /// The leaf construct.
    pub leaf: Leaf,
    /// The code that it governs.
    pub association: Association,
    /// The OpenMP version that introduced it, times ten.
    pub since: u16,
    /// Its place in the name of a combined directive.
    pub combination: Combination,
}

/// The places where a directive's name may be in the name of a combined directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Nowhere: clauses follow the name.
    Never,
    /// In front of others only.
    Leads,
    /// Behind others only.
    Follows,
    /// On either side of others.
    Either,
}

impl Combination {
    /// Whether another name may follow it.
    #[must_use]
    pub fn leads(self) -> bool {
        matches!(self, Self::Leads | Self::Either)
    }

    /// Whether another name may be in front of it.
    #[must_use]
    pub fn follows(self) -> bool {
        matches!(self, Self::Follows | Self::Either)
    }
}

/// The languages that have a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Languages {
    /// C, C++ and Fortran.
    All,
    /// C and C++ only.
    CFamily,
    /// Fortran only.
    Fortran,
}

impl Languages {
    /// Whether `language` is among them.
    #[must_use]
    pub fn contain(self, language: Language) -> bool {
        match self {
            Self::All => true,
            Self::CFamily => language != Language::Fortran,
            Self::Fortran => language == Language::Fortran,
        }
    }
}

use Association::{Block, Declarative, Delimited, LoopNest, Separating, Standalone, Unknown};
use Languages::{All, CFamily, Fortran};

/// A row of a directive that is never combined.
const fn row(
    name: &'static str,
    languages: Languages,
    leaf: Leaf,
    association: Association,
    since: u16,
) -> DirectiveRow {
    DirectiveRow {
        name,
        languages,
        leaf,
        association,
        since,
        combination: Combination::Never,
    }
}

const fn leads(row: DirectiveRow) -> DirectiveRow {
    DirectiveRow {
        combination: Combination::Leads,
        ..row
    }
}

const fn follows(row: DirectiveRow) -> DirectiveRow {
    DirectiveRow {
        combination: Combination::Follows,
        ..row
    }
}

const fn either(row: DirectiveRow) -> DirectiveRow {
    DirectiveRow {
        combination: Combination::Either,
        ..row
    }
}

/// The table.
#[rustfmt::skip]
pub const DIRECTIVES: &[DirectiveRow] = &[
    // Teams of threads and worksharing.
    either(row("parallel", All, Leaf::Parallel, Block, 25)),
    either(row("for", CFamily, Leaf::Loop, LoopNest, 25)),
    either(row("do", Fortran, Leaf::Loop, LoopNest, 25)),
    follows(row("sections", All, Leaf::Sections, Block, 25)),
    row("section", All, Leaf::Section, Separating, 25),
    follows(row("single", All, Leaf::Single, Block, 25)),
    follows(row("workshare", Fortran, Leaf::Workshare, Block, 25)),
    row("scope", All, Leaf::Scope, Block, 51),
    follows(row("loop", All, Leaf::GenericLoop, LoopNest, 50)),
    // Synchronisation.
    row("critical", All, Leaf::Critical, Block, 25),
    row("ordered", All, Leaf::Ordered, Block, 25),
    row("atomic", All, Leaf::Atomic, Block, 25),
    row("barrier", All, Leaf::Barrier, Standalone, 25),
    row("flush", All, Leaf::Flush, Standalone, 25),
    either(row("master", All, Leaf::Master, Block, 25)),
    either(row("masked", All, Leaf::Masked, Block, 51)),
    // Tasks.
    row("task", All, Leaf::Task, Block, 30),
    either(row("taskloop", All, Leaf::Taskloop, LoopNest, 45)),
    row("task iteration", All, Leaf::TaskIteration, Standalone, 60),
    row("taskgraph", All, Leaf::Taskgraph, Block, 60),
    row("taskgroup", All, Leaf::Taskgroup, Block, 40),
    row("taskwait", All, Leaf::Taskwait, Standalone, 30),
    row("taskyield", All, Leaf::Taskyield, Standalone, 31),
    // Devices and leagues.
    leads(row("target", All, Leaf::Target, Block, 40)),
    row("target data", All, Leaf::TargetData, Block, 40),
    row("target enter data", All, Leaf::TargetEnterData, Standalone, 45),
    row("target exit data", All, Leaf::TargetExitData, Standalone, 45),
    row("target update", All, Leaf::TargetUpdate, Standalone, 40),
    either(row("teams", All, Leaf::Teams, Block, 40)),
    either(row("distribute", All, Leaf::Distribute, LoopNest, 40)),
    follows(row("workdistribute", Fortran, Leaf::Workdistribute, Block, 60)),
    row("interop", All, Leaf::Interop, Standalone, 51),
    row("dispatch", All, Leaf::Dispatch, Block, 51),
    // Cancellation.
    row("cancel", All, Leaf::Cancel, Standalone, 40),
    row("cancellation point", All, Leaf::CancellationPoint, Standalone, 40),
    // Loops that no probe may enter.
    follows(row("simd", All, Leaf::Simd, LoopNest, 40)),
    row("scan", All, Leaf::Scan, Separating, 50),
    row("tile", All, Leaf::Transformation, LoopNest, 51),
    row("unroll", All, Leaf::Transformation, LoopNest, 51),
    row("interchange", All, Leaf::Transformation, LoopNest, 60),
    row("reverse", All, Leaf::Transformation, LoopNest, 60),
    row("fuse", All, Leaf::Transformation, LoopNest, 60),
    row("split", All, Leaf::Transformation, LoopNest, 60),
    row("stripe", All, Leaf::Transformation, LoopNest, 60),
    // Chosen when the program is compiled.
    row("metadirective", All, Leaf::Metadirective, Unknown, 50),
    row("begin metadirective", All, Leaf::Metadirective, Delimited, 50),
    row("end metadirective", All, Leaf::Metadirective, Declarative, 50),
    row("declare variant", All, Leaf::Variant, Declarative, 50),
    row("begin declare variant", CFamily, Leaf::Variant, Delimited, 51),
    row("end declare variant", CFamily, Leaf::Variant, Declarative, 51),
    // Device code.
    row("declare target", All, Leaf::DeclareTarget, Declarative, 40),
    row("begin declare target", CFamily, Leaf::BeginDeclareTarget, Delimited, 51),
    row("end declare target", CFamily, Leaf::EndDeclareTarget, Declarative, 40),
    // Declarations and information.
    row("threadprivate", All, Leaf::Declarative, Declarative, 25),
    row("declare simd", All, Leaf::Declarative, Declarative, 40),
    row("declare reduction", All, Leaf::Declarative, Declarative, 40),
    row("declare mapper", All, Leaf::Declarative, Declarative, 50),
    row("declare induction", All, Leaf::Declarative, Declarative, 60),
    row("groupprivate", All, Leaf::Declarative, Declarative, 60),
    row("allocate", All, Leaf::Declarative, Declarative, 50),
    row("allocators", Fortran, Leaf::Allocators, Block, 52),
    row("requires", All, Leaf::Informational, Declarative, 50),
    row("assumes", All, Leaf::Informational, Declarative, 51),
    row("begin assumes", CFamily, Leaf::Informational, Delimited, 51),
    row("end assumes", CFamily, Leaf::Informational, Declarative, 51),
    row("assume", All, Leaf::Informational, Block, 51),
    row("error", All, Leaf::Informational, Standalone, 51),
    row("nothing", All, Leaf::Informational, Standalone, 51),
    row("depobj", All, Leaf::Depobj, Standalone, 50),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_normal() {
        for (index, row) in DIRECTIVES.iter().enumerate() {
            assert_eq!(
                row.name,
                row.name.split_whitespace().collect::<Vec<_>>().join(" ")
            );
            assert!(
                DIRECTIVES[..index]
                    .iter()
                    .all(|other| other.name != row.name),
                "{}",
                row.name
            );
        }
    }
}
