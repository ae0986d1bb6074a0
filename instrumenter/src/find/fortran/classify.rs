//! Classifies statements by the construct that they open or close. Fortran has no reserved
//! keywords. So a statement is classified first by the marks outside its parentheses, then by
//! its first letters (Sale's algorithm).

use super::squeezed::Squeezed;
use super::unit_heads::{UnitHead, UnitKind, unit_head};

/// The effect of a statement on the nesting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    /// Begins a loop, which may end at a label.
    Do {
        /// The label of its last statement.
        label: Option<u64>,
        /// Whether it is a `do concurrent`.
        concurrent: bool,
    },
    /// `end do`
    EndDo,
    /// Begins another construct, an interface block or a type.
    Open(Compound),
    /// Ends it.
    Close(Compound),
    /// `else`, perhaps with the name of its construct.
    Else,
    /// Begins a program unit or a subprogram.
    Unit(UnitHead),
    /// `end`, perhaps followed by the kind of unit that it ends.
    EndUnit(Option<UnitKind>),
    /// No effect.
    Other,
}

/// Constructs that close with a statement of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Each is its keyword.
pub(super) enum Compound {
    If,
    Select,
    Where,
    Forall,
    Associate,
    Block,
    Critical,
    Team,
    Interface,
    Type,
}

/// The keywords of end statements. Of two that begin alike, the longer one comes first.
const CLOSERS: [(&str, Compound); 10] = [
    ("if", Compound::If),
    ("select", Compound::Select),
    ("where", Compound::Where),
    ("forall", Compound::Forall),
    ("associate", Compound::Associate),
    ("block", Compound::Block),
    ("critical", Compound::Critical),
    ("team", Compound::Team),
    ("interface", Compound::Interface),
    ("type", Compound::Type),
];

const UNIT_CLOSERS: [(&str, UnitKind); 7] = [
    ("program", UnitKind::Program),
    ("module", UnitKind::Module),
    ("submodule", UnitKind::Submodule),
    ("blockdata", UnitKind::BlockData),
    ("subroutine", UnitKind::Subroutine),
    ("function", UnitKind::Function),
    ("procedure", UnitKind::ModuleProcedure),
];

/// Classifies a statement.
pub(super) fn classify(statement: &mut Squeezed) -> StatementKind {
    let marks = Marks::of(statement.rest());
    if marks.assigns && !marks.comma_behind {
        return StatementKind::Other;
    }
    let start = statement.position();
    let readers: [fn(&mut Squeezed, &Marks) -> Option<StatementKind>; 5] =
        [loop_head, end, otherwise, block_head, unit];
    for reader in readers {
        statement.back_to(start);
        if let Some(kind) = reader(statement, &marks) {
            return kind;
        }
    }
    StatementKind::Other
}

/// Words that begin declarations. Of executable statements, only assignments begin with such a
/// word, if the name of the variable does. `data`, `format` and `entry` are left out, since
/// they may be among executable statements.
const DECLARING: [&str; 21] = [
    "allocatable",
    "character",
    "common",
    "complex",
    "dimension",
    "doublecomplex",
    "doubleprecision",
    "equivalence",
    "external",
    "implicit",
    "import",
    "integer",
    "intrinsic",
    "logical",
    "namelist",
    "parameter(",
    "pointer",
    "real",
    "save",
    "target",
    "use",
];

/// Whether a statement declares something.
pub(super) fn declares(statement: &mut Squeezed) -> bool {
    let marks = Marks::of(statement.rest());
    if marks.declares {
        return true;
    }
    let start = statement.position();
    let is_declaring = !marks.assigns && DECLARING.iter().any(|word| statement.eat(word));
    statement.back_to(start);
    let rest = statement.rest();
    let points = rest.windows(2).any(|pair| pair == b"=>") && !marks.lists;
    is_declaring && !points
}

/// The head of a program unit or subprogram.
fn unit(statement: &mut Squeezed, marks: &Marks) -> Option<StatementKind> {
    let declares = marks.declares || marks.assigns;
    let head = (!declares).then(|| unit_head(statement)).flatten()?;
    Some(StatementKind::Unit(head))
}

/// The marks outside parentheses that distinguish statements.
struct Marks {
    /// `=`
    assigns: bool,
    /// `,` behind it.
    comma_behind: bool,
    /// `::`
    declares: bool,
    /// `,`
    lists: bool,
}

impl Marks {
    fn of(statement: &[u8]) -> Self {
        let mut marks = Self {
            assigns: false,
            comma_behind: false,
            declares: false,
            lists: false,
        };
        let mut depth = 0i32;
        for (at, byte) in statement.iter().enumerate() {
            let before = at.checked_sub(1).map_or(0, |before| statement[before]);
            let behind = statement.get(at + 1).copied().unwrap_or(0);
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'=' if depth == 0 => {
                    let compares = b"=<>/".contains(&before) || b"=>".contains(&behind);
                    marks.assigns |= !compares;
                }
                b',' if depth == 0 => {
                    marks.lists = true;
                    marks.comma_behind |= marks.assigns;
                }
                b':' if depth == 0 => marks.declares |= behind == b':',
                _ => {}
            }
        }
        marks
    }
}

/// `do`, with a label, `while`, `concurrent` or a variable.
fn loop_head(statement: &mut Squeezed, marks: &Marks) -> Option<StatementKind> {
    if !statement.eat("do") || marks.declares {
        return None;
    }
    let label = statement.digits();
    let head = StatementKind::Do {
        label,
        concurrent: false,
    };
    if statement.at_end() {
        return Some(head);
    }
    statement.eat(",");
    if marks.assigns {
        return Some(head);
    }
    if statement.eat("while") {
        return statement.only_parenthesised().then_some(head);
    }
    let concurrent = statement.eat("concurrent") && statement.parenthesised();
    concurrent.then_some(StatementKind::Do { label, concurrent })
}

/// `end`, `end do`, `end if`, ..., perhaps with a name.
fn end(statement: &mut Squeezed, marks: &Marks) -> Option<StatementKind> {
    if !statement.eat("end") || marks.assigns || marks.declares {
        return None;
    }
    if statement.at_end() {
        return Some(StatementKind::EndUnit(None));
    }
    let start = statement.position();
    let closers = CLOSERS.map(|(word, block)| (word, StatementKind::Close(block)));
    let units = UNIT_CLOSERS.map(|(word, unit)| (word, StatementKind::EndUnit(Some(unit))));
    // `end block data` before `end block`.
    for (word, kind) in units
        .into_iter()
        .chain(closers)
        .chain([("do", StatementKind::EndDo)])
    {
        statement.back_to(start);
        if statement.keyword(word) && is_end(statement) {
            return Some(kind);
        }
    }
    None
}

/// `else`, perhaps with a name; not `else if (...) then`.
fn otherwise(statement: &mut Squeezed, marks: &Marks) -> Option<StatementKind> {
    let is_else = statement.keyword("else") && !marks.assigns && !marks.declares;
    let named = is_else && (statement.at_end() || statement.name().is_some());
    (named && statement.at_end()).then_some(StatementKind::Else)
}

/// Whether the rest may follow the keyword of an end statement: a name, the name of an operator
/// behind `end interface`, or the list of `end team (...)`.
fn is_end(statement: &mut Squeezed) -> bool {
    if statement.at_end() || statement.only_parenthesised() {
        return true;
    }
    let named = statement.name().is_some();
    named && (statement.at_end() || statement.only_parenthesised())
}

/// The heads of other constructs.
fn block_head(statement: &mut Squeezed, marks: &Marks) -> Option<StatementKind> {
    if let Some(kind) = type_head(statement, marks) {
        return Some(kind);
    }
    if marks.declares {
        return None;
    }
    let start = statement.position();
    if statement.eat("if") && statement.parenthesised() {
        return (statement.rest() == b"then").then_some(StatementKind::Open(Compound::If));
    }
    const WITH_PARENTHESES: [(&str, Compound); 9] = [
        ("selectcase", Compound::Select),
        ("selecttype", Compound::Select),
        ("selectrank", Compound::Select),
        ("where", Compound::Where),
        ("forall", Compound::Forall),
        ("associate", Compound::Associate),
        ("critical", Compound::Critical),
        ("changeteam", Compound::Team),
        ("select", Compound::Select),
    ];
    for (word, block) in WITH_PARENTHESES {
        statement.back_to(start);
        if statement.eat(word) && statement.only_parenthesised() {
            return Some(StatementKind::Open(block));
        }
    }
    statement.back_to(start);
    match statement.rest() {
        b"block" => return Some(StatementKind::Open(Compound::Block)),
        b"critical" => return Some(StatementKind::Open(Compound::Critical)),
        _ => {}
    }
    let interface = statement.eat("abstract") && statement.keyword("interface")
        || statement.keyword("interface");
    let rest = statement.rest();
    let named = rest.first().is_none_or(|b| b.is_ascii_alphabetic()) && !rest.contains(&b',');
    (interface && named).then_some(StatementKind::Open(Compound::Interface))
}

/// `type t`, `type :: t`, `type, extends(u) :: t`
fn type_head(statement: &mut Squeezed, marks: &Marks) -> Option<StatementKind> {
    let start = statement.position();
    let defines = statement.keyword("type")
        && match statement.rest().first() {
            Some(b',' | b':') => marks.declares,
            Some(byte) if byte.is_ascii_alphabetic() => {
                statement.name().is_some() && statement.at_end()
            }
            _ => false,
        };
    statement.back_to(start);
    defines.then_some(StatementKind::Open(Compound::Type))
}

#[cfg(test)]
mod tests {
    use super::super::logical::logical_lines;
    use super::super::physical;
    use super::*;
    use crate::source::{Form, Layout};

    fn kind(text: &str, form: Form) -> StatementKind {
        let layout = Layout {
            form,
            ..Layout::FREE
        };
        let text = match form {
            Form::Free => text.to_owned(),
            Form::Fixed => format!("      {text}"),
        };
        let lines = physical::lines(text.as_bytes(), layout);
        let logical = logical_lines(text.as_bytes(), lines.iter(), form);
        classify(&mut Squeezed::new(&logical[0], &logical[0].tokens, form))
    }

    fn both(text: &str) -> StatementKind {
        let free = kind(text, Form::Free);
        assert_eq!(kind(text, Form::Fixed), free, "{text}");
        free
    }

    fn a_loop(label: Option<u64>) -> StatementKind {
        StatementKind::Do {
            label,
            concurrent: false,
        }
    }

    #[test]
    fn loops() {
        for text in [
            "do",
            "do i = 1, n",
            "do, i = 1, n",
            "DO WHILE (x < 3)",
            "do,while(a==b)",
        ] {
            assert_eq!(both(text), a_loop(None), "{text}");
        }
        for text in [
            "do 10 i = 1, 5",
            "do 10, i = f(1), 5",
            "do 10",
            "do 10 while (x)",
        ] {
            assert_eq!(both(text), a_loop(Some(10)), "{text}");
        }
        assert_eq!(kind("DO10I=1,10", Form::Fixed), a_loop(Some(10)));
        assert_eq!(kind("D O 1 0 I = 1, 10", Form::Fixed), a_loop(Some(10)));
        let concurrent = StatementKind::Do {
            label: None,
            concurrent: true,
        };
        assert_eq!(both("do concurrent (i = 1:n) local(x)"), concurrent);
    }

    #[test]
    fn assignments_are_nothing_else() {
        for text in [
            "do 10 k = 1.5",
            "do10i = 1.10",
            "end = 3",
            "enddo = 3",
            "if (x) y = 3",
            "do(3) = 4",
            "dowhile(3) = 4",
            "where (m) a = 1",
            "forall (i = 1:3) a(i) = 1",
            "block = 1",
            "type = 1",
            "p => q",
            "if (a == b) call f(x, y = 3)",
            "function = 3",
        ] {
            assert_eq!(both(text), StatementKind::Other, "{text}");
        }
    }

    #[test]
    fn blocks() {
        for (text, block) in [
            ("if (a .and. (b)) then", Compound::If),
            ("IF(A)THEN", Compound::If),
            ("select case (x)", Compound::Select),
            ("selectcase(x)", Compound::Select),
            ("select type (x => y)", Compound::Select),
            ("select rank (x)", Compound::Select),
            ("where (a > b)", Compound::Where),
            ("forall (i = 1:3)", Compound::Forall),
            ("associate (a => b, c => d)", Compound::Associate),
            ("block", Compound::Block),
            ("critical", Compound::Critical),
            ("critical (stat = i)", Compound::Critical),
            ("change team (t)", Compound::Team),
            ("interface", Compound::Interface),
            ("abstract interface", Compound::Interface),
            ("interface operator (==)", Compound::Interface),
            ("interface assignment (=)", Compound::Interface),
            ("type t", Compound::Type),
            ("type :: t", Compound::Type),
            ("type, extends(u) :: t", Compound::Type),
        ] {
            assert_eq!(both(text), StatementKind::Open(block), "{text}");
        }
        for text in [
            "if (a) goto 3",
            "type(t) :: x",
            "type is (integer)",
            "type *, x",
            "else if (a) then",
        ] {
            assert_eq!(both(text), StatementKind::Other, "{text}");
        }
    }

    #[test]
    fn alternatives() {
        for text in ["else", "ELSE", "else outer"] {
            assert_eq!(both(text), StatementKind::Else, "{text}");
        }
        for text in [
            "else = 1",
            "else if (a) then",
            "else(3) = 4",
            "else % x = 1",
        ] {
            assert_eq!(both(text), StatementKind::Other, "{text}");
        }
    }

    #[test]
    fn ends() {
        for (text, block) in [
            ("end if", Compound::If),
            ("endif", Compound::If),
            ("end if outer", Compound::If),
            ("end block", Compound::Block),
            ("end select x", Compound::Select),
            ("end interface operator (==)", Compound::Interface),
            ("end type t", Compound::Type),
            ("end critical", Compound::Critical),
        ] {
            assert_eq!(both(text), StatementKind::Close(block), "{text}");
        }
        assert_eq!(both("END DO outer"), StatementKind::EndDo);
        assert_eq!(kind("E N D D O", Form::Fixed), StatementKind::EndDo);
        assert_eq!(both("end"), StatementKind::EndUnit(None));
        for (text, unit) in [
            ("end program", UnitKind::Program),
            ("endprogram x", UnitKind::Program),
            ("end block data", UnitKind::BlockData),
            ("end subroutine s", UnitKind::Subroutine),
            ("end procedure", UnitKind::ModuleProcedure),
            ("end submodule s", UnitKind::Submodule),
        ] {
            assert_eq!(both(text), StatementKind::EndUnit(Some(unit)), "{text}");
        }
        assert_eq!(both("endfile (10)"), StatementKind::Other);
        assert_eq!(both("endfile 10"), StatementKind::Other);
    }

    #[test]
    fn units() {
        let unit = |text: &str| match both(text) {
            StatementKind::Unit(head) => {
                format!(
                    "{:?} {} {}",
                    head.kind,
                    head.name.unwrap_or_default(),
                    head.pure
                )
            }
            other => format!("{other:?}"),
        };
        for (text, expected) in [
            ("program p", "Program p false"),
            ("module m", "Module m false"),
            ("submodule (m:n) s", "Submodule s false"),
            ("block data", "BlockData  false"),
            ("block data b", "BlockData b false"),
            ("subroutine s", "Subroutine s false"),
            ("SUBROUTINE S(A, B)", "Subroutine s false"),
            ("subroutine s() bind(c, name=\"x\")", "Subroutine s false"),
            ("pure subroutine s(a)", "Subroutine s true"),
            ("impure elemental subroutine s(a)", "Subroutine s false"),
            ("elemental real function f(x)", "Function f true"),
            ("real*8 function f(x)", "Function f false"),
            ("double precision function f(x)", "Function f false"),
            (
                "character(len=*) function f(x) result(y)",
                "Function f false",
            ),
            ("character*(*) function f(x)", "Function f false"),
            ("type(t) function f(x)", "Function f false"),
            (
                "integer(kind=8) recursive function f(x)",
                "Function f false",
            ),
            ("module subroutine s(a)", "Subroutine s false"),
            ("module procedure p", "ModuleProcedure p false"),
        ] {
            assert_eq!(unit(text), expected, "{text}");
        }
        for text in [
            "integer function_value",
            "real :: function",
            "procedure (f), pointer :: p",
            "module procedure a, b",
            "external subroutine_x",
            "call subroutine_x(a)",
            "contains",
        ] {
            assert_eq!(both(text), StatementKind::Other, "{text}");
        }
    }
}
