//! Words with a meaning for the readers of sources: names in the tables of OpenMP, and
//! words of the languages that decide where something ends.

use instrumenter::openmp::api::ROUTINES;
use instrumenter::openmp::clauses::CLAUSES;
use instrumenter::openmp::directives::DIRECTIVES;
use instrumenter::openmp::pomp::POMP_DIRECTIVES;

/// Words of C and C++.
#[rustfmt::skip]
const C: &[&str] = &[
    "#", "#if 1\n", "#if 0\n", "#ifdef A\n", "#ifdef _OPENMP\n", "#ifndef A\n", "#elif B\n", "#elifdef B\n", "#else\n",
    "#endif\n", "#define A\n", "#define M(x) x {\n", "#undef A\n", "#include \"a.h\"\n", "#line 7 \"b.c\"\n", "# 7 \"b.c\" 1\n",
    "# 1 \"/usr/include/a.h\" 1 3 4\n", "#pragma ", "#pragma once\n", "#line 4294967295\n", "%:", "<%", "%>", "<:", ":>", "??=", "\\\n", "\\\r\n",
    "//", "/*", "*/", "\"", "'", "R\"(", ")\"", "R\"x(", ")x\"", "u8R\"(", "L'", "1'000", "[[", "]]", "[[omp::directive(",
    "[[omp::sequence(directive(", "[[using omp: directive(", "_Pragma(\"", "_Pragma(\"omp ", "\")", "__pragma(", "{", "}", "(", ")", ";", ",",
    "if (a)\n", "else\n", "for (int i = 0; i < 9; i++)\n", "for (auto &x : v)\n", "while (a)\n", "do ", "while (a);", "switch (a) {\n",
    "case 1:", "default:", "label:", "goto label;", "return 1;", "break;", "continue;", "try {", "catch (...) {", "[&](int a) {",
    "template <class T>\n", "operator()", "asm(\"\")", "__asm__", "__attribute__((", "static inline ", "extern \"C\" {", "namespace a {", "struct s {",
    "void f(void) {\n", "int a = 1;", "int", "x++;", "<", ">", "=", "->", "::", "?", ":", "__extension__", "constexpr", "co_await", "requires",
];

/// Words of Fortran.
#[rustfmt::skip]
const FORTRAN: &[&str] = &[
    "!$omp ", "!$omp&", "!$omp end ", "c$omp ", "*$omp ", "!$ ", "c$ ", "!$pomp ", "!dir$ ", "&\n", "&\n&", "&\n!$omp& ", "     &", "     1", "      ",
    "!", "'", "\"", ";", "10 ", "do i = 1, 9\n", "do 10 i = 1, 9\n", "10 continue\n", "do while (a)\n", "do concurrent (i = 1:9)\n", "enddo\n",
    "end do\n", "a: do i = 1, 9\n", "end do a\n", "if (a) then\n", "else if (b) then\n", "else\n", "endif\n", "end if\n", "if (a) ", "where (a)\n", "elsewhere\n",
    "end where\n", "forall (i = 1:9)\n", "end forall\n", "select case (a)\n", "case (1)\n", "case default\n", "end select\n", "select type (a)\n",
    "associate (a => b)\n", "end associate\n", "block\n", "end block\n", "critical\n", "end critical\n", "program a\n", "end program\n", "end\n",
    "subroutine s(a)\n", "end subroutine\n", "function f(a)\n", "contains\n", "module m\n", "interface\n", "end interface\n", "implicit none\n", "use m\n",
    "include 'a.h'\n", "integer :: a\n", "real x(9)\n", "x = x + 1\n", "call f(a)\n", "return\n", "stop\n", "exit\n", "cycle\n", "goto 10\n", "go to 10\n",
    "1 format (a)\n", "5hab'cd", "4h!$om", "block data\n", "procedure", "type t\n", "end type\n", "pure ", "elemental ", "#if 1\n", "#ifdef A\n", "#else\n", "#endif\n",
    "#define A\n", "# 7 \"a.f90\"\n", "#line 7 \"a.f90\"\n", "/*", "*/", "\t", "(", ")", "=", "::", "%", "(/", "/)", "\r\n",
];

/// Names of directives, clauses and routines, as they are put into any language.
fn openmp() -> impl Iterator<Item = String> {
    let rows = DIRECTIVES.iter();
    let directives = rows.flat_map(|row| [format!("{} ", row.name), format!("end {} ", row.name)]);
    let rows = CLAUSES.iter();
    let clauses = rows.flat_map(|row| [format!(" {}", row.name), format!(" {}(a)", row.name)]);
    let more = [
        "schedule(dynamic, 4)",
        "reduction(+: a)",
        "if(parallel: a)",
        "default(none)",
    ];
    let more = more.into_iter().map(String::from);
    directives.chain(clauses).chain(more)
}

fn bytes(words: impl Iterator<Item = String>) -> Vec<Vec<u8>> {
    words.map(String::into_bytes).collect()
}

/// Words of C and C++.
#[must_use]
pub fn c() -> Vec<Vec<u8>> {
    let pragmas = DIRECTIVES.iter();
    let pragmas = pragmas.map(|row| format!("\n#pragma omp {}\n", row.name));
    let marks = POMP_DIRECTIVES.iter();
    let marks = marks.map(|row| format!("\n#pragma pomp {}(a)\n", row.name));
    let calls = ROUTINES.iter().map(|row| format!("{}(&l);", row.name));
    let words = C.iter().map(|word| (*word).to_owned());
    bytes(
        words
            .chain(openmp())
            .chain(pragmas)
            .chain(marks)
            .chain(calls),
    )
}

/// Words of Fortran.
#[must_use]
pub fn fortran() -> Vec<Vec<u8>> {
    let lines = DIRECTIVES.iter();
    let lines = lines.flat_map(|row| {
        let begin = format!("\n!$omp {}\n", row.name);
        [begin, format!("\n!$omp end {}\n", row.name)]
    });
    let marks = POMP_DIRECTIVES.iter();
    let marks = marks.map(|row| format!("\n!$pomp {}(a)\n", row.name));
    let calls = ROUTINES.iter().map(|row| format!("call {}(l)\n", row.name));
    let words = FORTRAN.iter().map(|word| (*word).to_owned());
    bytes(words.chain(openmp()).chain(lines).chain(marks).chain(calls))
}
