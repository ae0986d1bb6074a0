//! Programs of one directive each, many in a text, and which of them a compiler refuses.
//!
//! Every case is a procedure of its own on lines of its own, so that an error tells by its
//! line which case it is about, also in instrumented text. A compiler that finds an error
//! does not go on to its later stages: it is asked again without the refused cases.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use instrumenter::openmp::directives::DIRECTIVES;
use instrumenter::openmp::{Association, Language, Leaf, parse};

use crate::Outcome;

/// How many lines a case has.
const LINES: usize = 10;

/// A directive with its clauses, and with those of the directive that ends it in Fortran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The name of the directive.
    pub name: String,
    /// Its clauses.
    pub clauses: String,
    /// The text after the name in the directive that ends it, if there is to be such a directive.
    pub end: Option<String>,
}

impl Case {
    /// A directive with these clauses.
    #[must_use]
    pub fn new(name: &str, clauses: &str) -> Self {
        Self {
            name: name.to_owned(),
            clauses: clauses.to_owned(),
            end: None,
        }
    }

    /// The lines of its directives.
    #[must_use]
    pub fn lines(&self, language: Language) -> Vec<String> {
        let Self { name, clauses, end } = self;
        match language {
            Language::Fortran => {
                let own = format!("!$omp {name} {clauses}");
                let end = end.as_ref().map(|end| format!("!$omp end {name} {end}"));
                std::iter::once(own).chain(end).collect()
            }
            _ => vec![format!("#pragma omp {name} {clauses}")],
        }
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> String {
        let end = self.end.as_ref();
        let end = end.map_or(String::new(), |end| format!(" ... end {} {end}", self.name));
        format!("{} {}{end}", self.name, self.clauses)
            .trim()
            .to_owned()
    }
}

/// A text with some of the cases, each on the lines that it always has.
#[must_use]
pub fn source(language: Language, cases: &[Case], chosen: &BTreeSet<usize>) -> String {
    // The first line belongs to no case.
    let mut text = match language {
        Language::Fortran => "\n".to_owned(),
        _ => "int tp; _Pragma(\"omp threadprivate(tp)\")\n".to_owned(),
    };
    for (number, case) in cases.iter().enumerate() {
        let own = match (chosen.contains(&number), language) {
            (false, _) => String::new(),
            (true, Language::Fortran) => in_fortran(number, case),
            (true, _) => in_c(number, case),
        };
        let missing = LINES - own.matches('\n').count();
        text.push_str(&own);
        text.push_str(&"\n".repeat(missing));
    }
    text
}

/// The code that a directive governs, by its last row.
fn governs(case: &Case, language: Language) -> (Association, Option<Leaf>) {
    let words: Vec<parse::DirectiveToken> = case
        .name
        .split(' ')
        .map(|word| parse::DirectiveToken {
            text: word.to_owned(),
            range: 0..0,
        })
        .collect();
    match parse::parse(&words, DIRECTIVES, language) {
        Ok(directive) => (directive.association(), directive.leaves().next_back()),
        Err(_) => (Association::LoopNest, None),
    }
}

fn in_c(number: usize, case: &Case) -> String {
    let body = match governs(case, Language::C) {
        (Association::LoopNest, _) => {
            "for (i = 0; i < n; i++)\nfor (j = 0; j < n; j++) { a[j] += x; }"
        }
        (_, Some(Leaf::Sections)) => "{\n#pragma omp section\na[0] += x; }",
        (_, Some(Leaf::Atomic)) => "a[0] += x;",
        (Association::Block, _) => "{ a[0] += x; }",
        _ => ";",
    };
    format!(
        "void f{number}(int n, int *a, int x, int y, int *p) {{ int i, j; {{\n\
         #pragma omp {} {}\n{body}\n}} }}\n",
        case.name, case.clauses
    )
}

fn in_fortran(number: usize, case: &Case) -> String {
    let (association, leaf) = governs(case, Language::Fortran);
    let body = match (association, leaf) {
        (Association::LoopNest, _) => "do i = 1, n\ndo j = 1, n; a(j) = a(j) + x; end do; end do\n",
        (_, Some(Leaf::Sections)) => "!$omp section\na(1) = a(1) + x\n",
        (Association::Block, _) => "a(1) = a(1) + x\n",
        _ => "continue\n",
    };
    let mut text = format!(
        "subroutine f{number}(n, a, x, y, p)\nimplicit none\n\
         integer :: n, a(n), x, y, p(n), i, j, tp\ncommon /cb/ tp\n!$omp threadprivate(/cb/)\n\
         !$omp {} {}\n{body}",
        case.name, case.clauses
    );
    let wants_end = association == Association::Block && leaf != Some(Leaf::Atomic);
    if wants_end || case.end.is_some() {
        let clauses = case.end.as_deref().unwrap_or_default();
        let _ = writeln!(text, "!$omp end {} {clauses}", case.name);
    }
    text + "end subroutine\n"
}

/// The numbers of the cases that a compiler refuses. `text_of` makes a text of some.
///
/// # Errors
/// If it refuses a text and says nothing about any of its cases.
pub fn refused(
    compiler: &str,
    language: Language,
    number: usize,
    text_of: impl Fn(&BTreeSet<usize>) -> Vec<u8>,
) -> Outcome<BTreeSet<usize>> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let source = folder.path().join(match language {
        Language::C => "cases.c",
        Language::Cxx => "cases.cpp",
        Language::Fortran => "cases.f90",
    });
    let mut chosen: BTreeSet<usize> = (0..number).collect();
    let mut refused = BTreeSet::new();
    loop {
        std::fs::write(&source, text_of(&chosen)).map_err(|error| error.to_string())?;
        let Err(said) = accepts(compiler, &source)? else {
            return Ok(refused);
        };
        let found: BTreeSet<usize> = cases_in(&said)
            .filter(|case| chosen.contains(case))
            .collect();
        let found = match found.is_empty() {
            true => culprits(compiler, &source, &chosen, &text_of)?,
            false => found,
        };
        if found.is_empty() {
            return Err(format!("{compiler} refuses, of no case:\n{said}"));
        }
        chosen.retain(|case| !found.contains(case));
        refused.extend(found);
    }
}

/// The cases that a compiler refuses without naming a place: halves are tried.
fn culprits(
    compiler: &str,
    source: &Path,
    chosen: &BTreeSet<usize>,
    text_of: &impl Fn(&BTreeSet<usize>) -> Vec<u8>,
) -> Outcome<BTreeSet<usize>> {
    std::fs::write(source, text_of(chosen)).map_err(|error| error.to_string())?;
    if chosen.is_empty() || accepts(compiler, source)?.is_ok() {
        return Ok(BTreeSet::new());
    }
    let Some(middle) = chosen.iter().nth(chosen.len() / 2) else {
        return Ok(BTreeSet::new());
    };
    if chosen.len() == 1 {
        return Ok(chosen.clone());
    }
    let mut low = chosen.clone();
    let high = low.split_off(middle);
    let mut found = culprits(compiler, source, &low, text_of)?;
    found.extend(culprits(compiler, source, &high, text_of)?);
    Ok(found)
}

/// Seconds after which a compiler is ended: clang 14 never ends with a clause that belongs
/// to another directive (`parallel adjust_args`). What it refused until then is known.
const MOST_SECONDS: &str = "10";

/// What a compiler says if it refuses a text.
fn accepts(compiler: &str, source: &Path) -> Outcome<Result<(), String>> {
    let flags: &[&str] = match () {
        () if compiler.contains("clang") => &[
            "-ferror-limit=2000",
            "-fno-caret-diagnostics",
            "-fsyntax-only",
        ],
        () if compiler.contains("flang") => &["-fsyntax-only"],
        // GCC looks for some errors only when it makes code.
        () => &[
            "-fmax-errors=0",
            "-fno-diagnostics-show-caret",
            "-S",
            "-o",
            "/dev/null",
        ],
    };
    let mut command = Command::new("timeout");
    command.args([MOST_SECONDS, compiler]);
    command.env("LC_ALL", "C").arg("-fopenmp").args(flags);
    // A compiler may ignore things that it does not know; these flags make them errors.
    command.args(match () {
        () if compiler.contains("flang") => [].as_slice(),
        () if compiler.contains("gfortran") => &["-ffree-line-length-none"],
        () if compiler.contains("clang") => &["-Werror=extra-tokens"],
        () => &["-Werror=unknown-pragmas"],
    });
    let output = command.arg(source).output();
    let output = output.map_err(|error| format!("{compiler}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(match output.status.success() {
        true => Ok(()),
        false => Err(said),
    })
}

/// The cases that errors name: `cases.c:12:3: error: ...`.
fn cases_in(said: &str) -> impl Iterator<Item = usize> {
    const WORDS: [&str; 4] = ["error:", "Error:", "internal compiler error", "Internal"];
    let errors = said
        .lines()
        .filter(|line| WORDS.iter().any(|word| line.contains(word)));
    errors.filter_map(|line| {
        let (_, place) = line.split_once("cases.")?;
        let number: usize = place.split(':').nth(1)?.parse().ok()?;
        number.checked_sub(2).map(|line| line / LINES)
    })
}
