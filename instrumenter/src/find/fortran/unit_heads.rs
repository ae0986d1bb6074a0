//! The first statements of program units and subprograms.

use super::squeezed::Squeezed;

/// Program units and subprograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Each is its keyword.
pub(super) enum UnitKind {
    Program,
    Module,
    Submodule,
    BlockData,
    Subroutine,
    Function,
    /// `module procedure`: in an interface block it only gives a name.
    ModuleProcedure,
}

impl UnitKind {
    pub(super) fn is_procedure(self) -> bool {
        matches!(
            self,
            Self::Subroutine | Self::Function | Self::ModuleProcedure
        )
    }
}

/// The first statement of a program unit or subprogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnitHead {
    pub(super) kind: UnitKind,
    /// Its name in lower case; `block data` may have none.
    pub(super) name: Option<String>,
    /// Whether only pure procedures may be called in it.
    pub(super) pure: bool,
}

/// Reads the head of a program unit or subprogram.
pub(super) fn unit_head(statement: &mut Squeezed) -> Option<UnitHead> {
    let start = statement.position();
    if let Some(head) = subprogram(statement) {
        return Some(head);
    }
    statement.back_to(start);
    let kind = program_unit(statement)?;
    let name = statement.name();
    let complete = statement.at_end() && (name.is_some() || kind == UnitKind::BlockData);
    complete.then_some(UnitHead {
        kind,
        name,
        pure: false,
    })
}

fn program_unit(statement: &mut Squeezed) -> Option<UnitKind> {
    const KEYWORDS: [(&str, UnitKind); 4] = [
        ("program", UnitKind::Program),
        ("blockdata", UnitKind::BlockData),
        ("submodule", UnitKind::Submodule),
        ("module", UnitKind::Module),
    ];
    let (_, kind) = KEYWORDS
        .into_iter()
        .find(|(word, _)| statement.keyword(word))?;
    let complete = kind != UnitKind::Submodule || statement.parenthesised();
    complete.then_some(kind)
}

/// `pure subroutine s(...)`, `integer(8) function f(...)`, `module procedure p`
fn subprogram(statement: &mut Squeezed) -> Option<UnitHead> {
    let mut prefix = Prefix::default();
    loop {
        let start = statement.position();
        if statement.keyword("subroutine") {
            return prefix.head(UnitKind::Subroutine, statement);
        }
        if statement.keyword("function") {
            let head = prefix.head(UnitKind::Function, statement);
            return head.filter(|_| statement.rest().starts_with(b"("));
        }
        if prefix.module && statement.keyword("procedure") {
            let head = prefix.head(UnitKind::ModuleProcedure, statement);
            return head.filter(|_| statement.at_end());
        }
        statement.back_to(start);
        if !prefix.step(statement) {
            return None;
        }
    }
}

/// The words in front of `subroutine` and `function`.
#[derive(Default)]
struct Prefix {
    pure: bool,
    impure: bool,
    module: bool,
}

impl Prefix {
    /// Steps over one of these words.
    fn step(&mut self, statement: &mut Squeezed) -> bool {
        if statement.any_keyword(&["pure", "elemental", "simple"]) {
            self.pure = true;
        } else if statement.keyword("impure") {
            self.impure = true;
        } else if statement.keyword("module") {
            self.module = true;
        } else if !statement.any_keyword(&["recursive", "non_recursive"]) {
            return type_prefix(statement);
        }
        true
    }

    fn head(&self, kind: UnitKind, statement: &mut Squeezed) -> Option<UnitHead> {
        let name = statement.name()?;
        Some(UnitHead {
            kind,
            name: Some(name),
            pure: self.pure && !self.impure,
        })
    }
}

/// `integer`, `real*8`, `character(len=*)`, `type(t)`, `attributes(device)`
fn type_prefix(statement: &mut Squeezed) -> bool {
    const TYPES: [&str; 9] = [
        "integer",
        "real",
        "doubleprecision",
        "doublecomplex",
        "complex",
        "logical",
        "character",
        "byte",
        "double",
    ];
    if statement.any_keyword(&["type", "class", "attributes"]) {
        return statement.parenthesised();
    }
    if !TYPES.iter().any(|word| statement.eat(word)) {
        return false;
    }
    if statement.eat("*") && statement.digits().is_some() {
        return true;
    }
    statement.parenthesised();
    true
}
