//! Texts that repeat one shape many times: in a row, nested, never closed; alone and inside
//! a construct. Instrumenting any of them must take time in proportion to its length.

use std::fmt;

use instrumenter::openmp::Language;
use instrumenter::source::{Form, Layout};
use instrumenter::{Options, Source, instrument};

/// How a language's sources are laid out.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// A word for it.
    pub name: &'static str,
    language: Language,
    layout: Layout,
    pieces: &'static [Piece],
    contexts: &'static [Context],
}

/// The repeated text: an opening and its closing, if there is one. `%` stands for a number
/// that differs each time.
type Piece = (&'static str, &'static str);

/// The texts in front of the repeated shape and behind it.
type Context = (&'static str, &'static str, &'static str);

/// How a piece is repeated.
#[derive(Clone, Copy, Debug)]
enum Repetition {
    /// Openings alone.
    Openings,
    /// Closings alone.
    Closings,
    /// Each opening is closed at once.
    Row,
    /// All openings, then all closings.
    Nested,
}

/// A text of any length.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The language and form.
    pub dialect: &'static Dialect,
    context: &'static Context,
    piece: &'static Piece,
    repetition: Repetition,
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dialect, context) = (self.dialect.name, self.context.0);
        write!(
            out,
            "{dialect}, {context}, {:?}: {:?}",
            self.repetition, self.piece
        )
    }
}

impl Shape {
    /// The text that repeats the piece so many times.
    #[must_use]
    pub fn text(&self, times: usize) -> Vec<u8> {
        let mut text = self.context.1.as_bytes().to_vec();
        let mut put = |part: &str, number: usize| {
            // Labels of Fortran have up to five digits.
            let number = (number % 90_000 + 10_000).to_string();
            text.extend_from_slice(part.replace('%', &number).as_bytes());
        };
        let (opening, closing) = self.piece;
        match self.repetition {
            Repetition::Openings => (0..times).for_each(|n| put(opening, n)),
            Repetition::Closings => (0..times).for_each(|n| put(closing, n)),
            Repetition::Row => (0..times).for_each(|n| {
                put(opening, n);
                put(closing, n);
            }),
            Repetition::Nested => {
                (0..times).for_each(|n| put(opening, n));
                (0..times).rev().for_each(|n| put(closing, n));
            }
        }
        text.extend_from_slice(self.context.2.as_bytes());
        text
    }

    /// Instruments a text; how many constructs and calls were instrumented.
    ///
    /// # Panics
    /// If the result does not give the text back.
    pub fn work(&self, text: Vec<u8>) -> usize {
        let source = Source {
            name: "input".into(),
            language: self.dialect.language,
            text,
            layout: self.dialect.layout,
            undefined: instrumenter::source::UndefinedMacros::new(),
        };
        let options = Options {
            unique: "u".into(),
            chunks: true,
            ..Options::default()
        };
        let result = instrument(&source, &options);
        assert!(result.applied.strip_back() == source.text, "{self}");
        result.instrumented
    }
}

/// All shapes.
pub fn shapes() -> impl Iterator<Item = Shape> {
    DIALECTS.iter().flat_map(|dialect| {
        let contexts = dialect.contexts.iter();
        contexts.flat_map(move |context| {
            let pieces = dialect.pieces.iter();
            pieces.flat_map(move |piece| {
                let all: &[Repetition] = match piece.1 {
                    "" => &[Repetition::Openings],
                    _ => &[
                        Repetition::Openings,
                        Repetition::Closings,
                        Repetition::Row,
                        Repetition::Nested,
                    ],
                };
                all.iter().map(move |repetition| Shape {
                    dialect,
                    context,
                    piece,
                    repetition: *repetition,
                })
            })
        })
    })
}

const PREPROCESSED_BY_COMPILER: Layout = Layout {
    preprocessed_by_compiler: true,
    ..Layout::FREE
};

/// The languages and forms.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "C",
        language: Language::C,
        layout: Layout::FREE,
        pieces: C_PIECES,
        contexts: C_CONTEXTS,
    },
    Dialect {
        name: "C++",
        language: Language::Cxx,
        layout: Layout::FREE,
        pieces: C_PIECES,
        contexts: C_CONTEXTS,
    },
    Dialect {
        name: "Fortran",
        language: Language::Fortran,
        layout: PREPROCESSED_BY_COMPILER,
        pieces: FORTRAN_PIECES,
        contexts: FORTRAN_CONTEXTS,
    },
    Dialect {
        name: "fixed form",
        language: Language::Fortran,
        layout: Layout {
            form: Form::Fixed,
            line_length: Some(72),
            ..PREPROCESSED_BY_COMPILER
        },
        pieces: FORTRAN_PIECES,
        contexts: FORTRAN_CONTEXTS,
    },
];

const C_CONTEXTS: &[Context] = &[
    ("alone", "#pragma omp barrier\n", "\n"),
    (
        "in a function",
        "void f(void) {\n#pragma omp barrier\n",
        "\n}\n",
    ),
    (
        "in a construct",
        "void f(void) {\n#pragma omp parallel\n{\n",
        "\n}\n}\n",
    ),
    (
        "in front of a body",
        "void f(void) {\n#pragma omp parallel for\n",
        "\nfor (;;) { x++; }\n}\n",
    ),
    (
        "in a directive",
        "void f(void) {\n#pragma omp parallel private(",
        ")\n{ x++; }\n}\n",
    ),
    (
        "preprocessed",
        "# 1 \"a.c\"\nvoid f(void) {\n#pragma omp parallel\n{\n",
        "\n}\n}\n",
    ),
];

#[rustfmt::skip]
const C_PIECES: &[Piece] = &[
    ("{", "}"), ("(", ")"), ("[", "]"), ("[[", "]]"), ("<", ">"), ("<%", "%>"), ("<:", ":>"), ("[[omp::directive(parallel)]] {", "}"),
    ("[[omp::directive(", ")]]"), ("[[omp::sequence(directive(parallel),", ")]]"), ("[[omp::directive(barrier)]];", ""), ("[[a, ", "b]]"), ("sequence(", ")"),
    ("#ifdef A\n", "\n#endif\n"), ("#ifdef A\nx;\n#else\ny;\n", "\n#endif\n"), ("#ifdef A\nfor (;;) {\n#else\nwhile (1) {\n#endif\n", "\n}\n"),
    ("\n#ifdef A\n{\n#endif\n", "\n#ifdef A\n}\n#endif\n"), ("\n#if A\n}\n#else\n{\n#endif\n", ""), ("\n#ifdef A%\n#pragma omp barrier\n#else\n#pragma omp flush\n#endif\n", ""),
    ("\n#ifdef A\nx;\n#elif B\ny;\n#else\n#pragma omp parallel\n{ z; }\n", "\n#endif\n"), ("\n#ifdef A\n#pragma omp parallel\n#endif\n{\n", "\n}\n"), ("\n#elif B\nx;\n", ""), ("\n#else\n", ""),
    ("\n#ifdef A\n#pragma omp parallel\n#endif\n{ x; }\n", ""), ("\n#if 0\n", "\n#endif\n"), ("\n#ifdef A\nvoid g%(void) {\n#else\nvoid h%(void) {\n#endif\n#pragma omp barrier\n", "}\n"),
    ("if (a) ", ";"), ("if (a) x; else ", ";"), ("for (;;) ", ";"), ("while (a) ", ";"), ("do ", " while (a);"), ("do x; while (a) ", ""), ("switch (a) { case 1: ", "}"), ("try {", "} catch (...) {}"),
    ("l%: ", ""), ("case %: ", ""), ("default: ", ""), ("/*", "*/"), ("\"", "\""), ("\"\n", ""), ("'", "'"), ("\\\"", ""), ("R\"(", ")\""), ("R\"x(", ")x\""), ("R\"%(", ")%\""), ("R", ""),
    ("//\n", ""), ("\\\n", ""), ("// \\\n", ""), ("a\\\n", ""), ("/", ""), ("*", ""), ("_Pragma(\"omp barrier\")", ""), ("_Pragma(\"omp parallel\") {", "}"), ("_Pragma(", ")"), ("_Pragma(\"omp ", "\")"),
    ("\n#pragma omp parallel\n{\n", "\n}\n"), ("\n#pragma omp parallel\n", ""), ("\n#pragma omp parallel for\nfor (int i = 0; i < 9; i++)\n", ";"), ("\n#pragma omp sections\n{\n", "\n}\n"),
    ("\n#pragma omp section\nx;\n", ""), ("\n#pragma omp sections\n{ x;\n#pragma omp section\n", "\n}\n"), ("\n#pragma omp atomic\nx++;\n", ""), ("\n#pragma omp barrier\n", ""), ("\n#pragma omp cancel for\n", ""), ("\n#pragma omp for\n", ""),
    ("\n#pragma omp for collapse(2)\nfor (i = 0; i < 9; i++)\n", ";"), ("\n#pragma omp parallel for collapse(%)\n", ""), ("\n#pragma omp task\n{", "}"), ("\n#pragma omp task\nif (a) ", ";"), ("\n#pragma omp target\n{", "}"),
    ("\n#pragma pomp inst begin(a%)\n", "\n#pragma pomp inst end(a%)\n"), ("\n#pragma pomp inst begin(a)\n", "\n#pragma pomp inst altend(a)\n"), ("\n#pragma pomp inst off\n", "\n#pragma pomp inst on\n"),
    ("\n#pragma pomp noinstrument\n", "\n#pragma pomp instrument\n"), ("\n#pragma omp declare target\n", "\n#pragma omp end declare target\n"), ("\n#pragma omp declare target(a%)\n", ""), ("\n#pragma omp begin declare variant match(a)\n", "\n#pragma omp end declare variant\n"),
    ("\n#pragma omp begin metadirective\n", "\n#pragma omp end metadirective\n"), ("\n#pragma omp critical(a%)\n{", "}"), ("\n#pragma omp threadprivate(a%)\n", ""), ("\n#pragma omp unknown\n", ""), ("\n#pragma omp parallel private(a%)\nx;\n", ""),
    ("\n#pragma omp parallel reduction(+: a%) \\\n", "\nx;\n"), ("\n#line % \"b.c\"\n", ""), ("\n# % \"b.h\" 1\n", "\n# % \"a.c\" 2\n"), ("\n# % \"/usr/include/b.h\" 1 3\n#pragma omp barrier\n", "\n# % \"a.c\" 2\n"), ("\n#define M% x\n", ""),
    ("\n#define M%(a) { a\n", ""), ("\n#define F%(i) for (i = 0; i < 9; i++)\n", "F%(j) x;\n"), ("\n#undef M%\n", ""), ("\n#include \"a.h\"\n", ""), ("\n#", ""), ("# ", ""), ("omp_set_lock(&l);\n", ""), ("omp_test_lock(", ")"), ("omp_set_lock", ""),
    ("\n#define omp_set_lock(a) b%\n", ""), ("M%(", ")"), ("M(\n#pragma omp barrier\n", ")"), ("F(a)\n", ""), ("F(a) {", "}"), ("f(", ")"), ("[&]{", "}"), ("({", "})"), ("template <", ">"), ("T<", ">"), ("struct s% {", "};"), ("class s% : a {", "};"),
    ("void f%(void) {\n#pragma omp barrier\n", "\n}\n"), ("inline void f%(void) {\n#pragma omp barrier\n", "\n}\n"), ("bool operator==(A b) {\n#pragma omp barrier\n", "\n}\n"), ("struct s { void f%(void) {\n#pragma omp barrier\n", "\n} };\n"),
    ("int f%(a) int a; {\n#pragma omp barrier\n", "\n}\n"), ("namespace n% {", "}"), ("extern \"C\" {", "}"), ("a ? ", ": b"), ("x = ", ""), ("a, ", ""), ("a.", ""), ("a->", ""), ("a::", ""), ("::", ""), ("int a[] = {1, ", "}"), ("asm(\"\"", ")"), ("__attribute__((a)) ", ""),
    ("__extension__ ", ""), ("return ", ""), ("goto l;", ""), ("x++;", ""), (";", ""), (",", ""), ("a ", ""), ("a", ""), ("0", ""), ("1'", ""), ("1e+", ""), (" ", ""), ("\t", ""), ("\n", ""), ("\r\n", ""), ("\0", ""), ("\u{e9}", ""), ("@", ""), ("constexpr ", ""), ("!", ""),
    ("operator", ""), ("else ", ""), ("while (!omp_test_lock(&l)) ;", ""), ("int a%;\n", ""), ("-", ""), ("&", ""), (":", ""), ("?", ""), ("%:pragma omp barrier\n", ""), ("??=", ""), ("requires ", ""), ("co_await ", ""), ("typename ", ""), ("auto ", ""), ("int ", ""), ("(int) ", ""),
];

const FORTRAN_CONTEXTS: &[Context] = &[
    ("alone", "!$omp barrier\n", "\n"),
    (
        "in a program",
        "      program p\n!$omp barrier\n",
        "\n      end program\n",
    ),
    (
        "in a construct",
        "      program p\n!$omp parallel\n",
        "\n!$omp end parallel\n      end program\n",
    ),
    (
        "in front of a body",
        "      program p\n!$omp parallel do\n",
        "\n      do i = 1, 9\n      end do\n      end program\n",
    ),
    (
        "in a directive",
        "      program p\n!$omp parallel private(",
        ")\n      x = 1\n!$omp end parallel\n      end program\n",
    ),
    (
        "in a statement",
        "      program p\n!$omp parallel\n      x = f(",
        ")\n!$omp end parallel\n      end program\n",
    ),
    (
        "preprocessed",
        "# 1 \"a.F90\"\n      program p\n!$omp parallel\n",
        "\n!$omp end parallel\n      end program\n",
    ),
];

#[rustfmt::skip]
const FORTRAN_PIECES: &[Piece] = &[
    ("      do i = 1, 9\n", "      end do\n"), ("      do % i = 1, 9\n", "% continue\n"), ("      do 10 i = 1, 9\n", ""), ("      do 10 i = 1, 9\n", "   10 continue\n"), ("      do while (a)\n", "      enddo\n"), ("      do concurrent (i = 1:9)\n", "      end do\n"),
    ("      n%: do i = 1, 9\n", "      end do n%\n"), ("      if (a) then\n", "      endif\n"), ("      if (a) then\n      else if (b) then\n", "      end if\n"), ("      else\n", ""), ("      else if (a) then\n", ""), ("      if (a) ", "x = 1\n"),
    ("      select case (a)\n      case (1)\n", "      end select\n"), ("      case (%)\n", ""), ("      where (a)\n", "      end where\n"), ("      forall (i = 1:9)\n", "      end forall\n"), ("      associate (a => b)\n", "      end associate\n"), ("      block\n", "      end block\n"),
    ("      critical\n", "      end critical\n"), ("      program p%\n", "      end program\n"), ("      subroutine s%\n", "      end subroutine\n"), ("      subroutine s%\n!$omp barrier\n", "      end\n"), ("      subroutine s%\n      contains\n", "      end\n"), ("      function f%(a)\n", "      end\n"),
    ("      contains\n", ""), ("      interface\n", "      end interface\n"), ("      module m%\n", "      end module\n"), ("      type t%\n", "      end type\n"), ("      block data\n", "      end\n"), ("      end\n", ""), ("      pure subroutine s%\n!$omp barrier\n", "      end\n"),
    ("      implicit none (external)\n", ""), ("      subroutine s%\n      implicit none (external)\n!$omp barrier\n", "      end\n"), ("!$omp parallel\n", "!$omp end parallel\n"), ("!$omp parallel\n      block\n", "      end block\n"), ("!$omp parallel do\n      do i = 1, 9\n", "      end do\n"),
    ("!$omp parallel do\n      do i = 1, 9\n", "      end do\n!$omp end parallel do\n"), ("!$omp do collapse(2)\n      do i = 1, 9\n", "      end do\n"), ("!$omp do collapse(%)\n", ""), ("!$omp atomic\n      x = x + 1\n", ""), ("!$omp atomic capture\n      v = x\n      x = 1\n", "!$omp end atomic\n"), ("!$omp atomic\n", ""),
    ("!$omp sections\n", "!$omp end sections\n"), ("!$omp section\n      x = 1\n", ""), ("!$omp single\n", "!$omp end single nowait\n"), ("!$omp workshare\n      a = b\n", "!$omp end workshare\n"), ("!$omp critical(a%)\n", "!$omp end critical(a%)\n"), ("!$omp task\n", "!$omp end task\n"), ("!$omp target\n", "!$omp end target\n"),
    ("!$omp barrier\n", ""), ("!$omp cancel do\n", ""), ("!$omp unknown\n", ""), ("!$omp declare target\n", ""), ("!$omp declare target(a%)\n", ""), ("!$omp begin metadirective\n", "!$omp end metadirective\n"), ("!$omp threadprivate(a%)\n", ""), ("!$omp parallel private(a%)\n", ""), ("!$omp parallel if(omp_test_lock(l))\n", "!$omp end parallel\n"),
    ("!$pomp inst begin(a%)\n", "!$pomp inst end(a%)\n"), ("!$pomp inst off\n", "!$pomp inst on\n"), ("!$pomp noinstrument\n", "!$pomp instrument\n"), ("&\n", ""), ("&\n&", ""), ("     &", "\n"), ("     1 a", "\n"), ("!$omp& a, &\n", ""), ("c$omp+\n", ""), ("!$omp&\n", ""), ("!$omp ", "\n"), ("!$ x = 1\n", ""), ("!$    do i = 1, 9\n", "!$    end do\n"), ("!$ &\n", ""),
    ("!\n", ""), ("! ", ""), ("c comment\n", ""), ("'", "'"), ("\"", "\""), ("'\n", ""), ("(", ")"), ("(/", "/)"), ("[", "]"), ("a(", ")"), ("a%", ""), ("a, ", ""), ("x = 1; ", ""), (";", ""), ("      x = 1\n", ""), ("      x = a &\n", ""), ("      x = (1\n", ""), (" % continue\n", ""), (" % format (a)\n", ""), ("      goto %\n", ""), ("5habcde", ""), ("99999h", ""), ("      x = 5h", "\n"),
    ("\n#ifdef A\n", "\n#endif\n"), ("\n#ifdef A\n      x = 1\n#else\n      y = 1\n", "\n#endif\n"), ("\n#ifdef A\n      do i = 1, 9\n#else\n      do j = 1, 9\n#endif\n", "      end do\n"), ("\n#ifdef A\n!$omp parallel\n#endif\n", "\n#ifdef A\n!$omp end parallel\n#endif\n"), ("\n#ifdef A%\n!$omp parallel\n#endif\n", "\n#ifdef A%\n!$omp end parallel\n#endif\n"),
    ("\n#ifdef A%\n!$omp barrier\n#else\n!$omp flush\n#endif\n", ""), ("\n#ifdef A\n      subroutine s%\n#else\n      subroutine t%\n#endif\n!$omp barrier\n", "      end\n"), ("\n#ifdef A\n      if (a) then\n#endif\n", "\n#ifdef A\n      endif\n#endif\n"), ("\n#if 0\n", "\n#endif\n"), ("\n#else\n", ""), ("\n#elif B\n", ""),
    ("\n#if A\n!$omp do\n      do i = 1, 9\n      end do\n#elif B\n!$omp barrier\n", "\n#endif\n"), ("\n#define M% x\n", ""), ("\n# % \"b.f90\"\n", ""), ("\n#line % \"b.f90\"\n", ""), ("\n#include \"a.h\"\n", ""), ("      include 'a.h'\n", ""), ("      use m%\n", ""), ("      call omp_set_lock(l)\n", ""), ("      if (omp_test_lock(l)) x = 1\n", ""), ("omp_test_lock(", ")"),
    ("      if (a) then\n      else if (omp_test_lock(l)) then\n", "      endif\n"), ("      else if (omp_test_lock(l)) then\n", ""), ("      call ", ""), ("      integer :: a%\n", ""), ("      real a%(9)\n", ""), ("      return\n", ""), ("      exit\n", ""), ("      cycle\n", ""), ("      entry e%\n", ""), ("\n", ""), ("\r\n", ""), (" ", ""), ("\t", ""), ("\t1 a\n", ""), ("a", ""), ("0", ""), ("\0", ""), ("\u{e9}", ""), ("/*", "*/"), ("!dir$ a\n", ""), ("*", ""), ("=", ""), (":", ""), ("e", ""), ("do", ""), ("end", ""), ("if(", ")"), ("if(a)", ""), ("      elsewhere\n", ""), ("      procedure ", ""), ("      end do\n", ""), ("      do ", "\n"),
];
