//! Sources that are made from a grammar. They are mostly right, so that readers get far, but
//! full of things that are rare in programs: directives in every place, conditionals that
//! overlap constructs, labels, continuations.

use instrumenter::openmp::Language;
use instrumenter::openmp::clauses::CLAUSES;
use instrumenter::openmp::directives::DIRECTIVES;

use crate::generate::fortran::Layout;
use crate::generate::{self, Dialect};
use crate::random::Random;

/// The texts that each symbol may stand for. In a text, `@` and a letter is a symbol; the first
/// text of each symbol contains none.
type Grammar = &'static [(u8, &'static [&'static str])];

/// `F` a part of a file, `S` a statement, `B` a body, `C` a condition of the preprocessor,
/// `E` an expression; `D` and `N` are made of the tables.
#[rustfmt::skip]
const C: Grammar = &[
    (b'F', &[
        "int a;\n", "void f(void) {\n@S@S@S}\n", "int main(void) {\n@S@S@S@S}\n", "@C\nvoid f(void) {\n@S@S}\n#endif\n", "#define M(x) do { x; } while (0)\n",
        "template <class T> void g(T t) {\n@S@S}\n", "struct s { void f() {@S@S} };\n", "namespace n {\n@F@F}\n", "inline int h(int a) { @S return a; }\n",
        "@C\nvoid f(int a) {\n#else\nvoid f(long a) {\n#endif\n@S@S}\n", "#pragma omp declare target\n@F#pragma omp end declare target\n",
        "auto l = [](int a) { @S@S };\n", "int k(a) int a; {\n@S}\n", "#include \"a.h\"\n", "#pragma omp threadprivate(a)\n", "@F@F@F",
    ]),
    (b'S', &[
        "x++;\n", ";\n", "@D@B", "@D@B", "@D@B", "@D@B", "@D@B", "@D@B", "{ @S@S@S}\n", "if (@E)\n@S", "if (@E)\n@S else\n@S", "while (@E)\n@S", "do\n@S while (@E);\n",
        "for (i = 0; i < @E; i++)\n@S", "switch (@E) { case 1: @S case 2:\n@S default: @S }\n", "l1:\n@S", "@C\n@S#endif\n", "@C\n@S#else\n@S#endif\n",
        "@C\n@D#endif\n@B", "@D@C\nfor (i = 0; i < 9; i++) {\n#else\nfor (i = 9; i; i--) {\n#endif\n@S}\n", "@C\n{\n#endif\n@S@C\n}\n#endif\n", "@C\nif (@E)\n#else\nif (a)\n#endif\n@S",
        "omp_set_lock(&l); @S omp_unset_lock(&l);\n", "while (!omp_test_lock(&l))\n@S", "[[omp::directive(@N)]] @B", "[[omp::sequence(directive(@N), omp::directive(@N))]] @B",
        "_Pragma(\"omp @N\") @B", "int a[] = { @E, @E };\n", "auto g = [&](int a) { @S@S };\n", "try { @S } catch (...) { @S }\n", "/* c */ @S // d\n", "x = R\"(}{)\"; @S", "struct s { int a; } b;\n",
        "asm volatile (\"\" ::: \"memory\");\n", "return @E;\n", "goto l1;\n", "break;\n", "@D@D@B", "#pragma pomp inst begin(a)\n@S#pragma pomp inst end(a)\n", "#pragma pomp inst off\n",
        "#line 7 \"b.c\"\n@S", "# 8 \"c.c\"\n@S", "#pragma omp sections\n{\n@S#pragma omp section\n@S#pragma omp section\n@S}\n", "#pragma GCC unroll 4\n@S", "({ @S 1; });\n",
    ]),
    (b'B', &[
        "x++;\n", "{ @S@S}\n", "{ @S@S}\n", "for (int i = 0; i < 9; i++)\n@S", "for (i = 0; i < 9; i++) { @S@S}\n", "for (int i = 0; i < @E; i += 2)\n for (int j = i; j < 9; j++) { @S }\n",
        "for (auto &e : v) { @S }\n", "@S", "@D@B", "{ @C\n@S}\n#else\n@S}\n#endif\n", "v = x; x += @E;\n", "{ v = x; x = @E; }\n", "if (x == a) { x = b; }\n", "",
    ]),
    (b'C', &["#ifdef A", "#if 1", "#if 0", "#ifndef B", "#ifdef _OPENMP", "#if defined(A) && B > 2", "#  if A"]),
    (b'E', &["1", "a < b", "f(@E, @E)", "(@E)", "a[@E]", "a ? @E : @E", "'{'", "\"}\"", "sizeof(int)", "[&]{ @S return 1; }()", "a\n", "omp_test_lock(&l)", "x->y", "T<int>::v", "1'000", "a /* ) */"]),
];

/// As [`C`], with `T` what stands in front of a statement in its line.
#[rustfmt::skip]
const FORTRAN: Grammar = &[
    (b'F', &[
        "      end\n", "      program p\n@S@S@S@S      end program\n", "      subroutine s(a)\n@S@S@S      end subroutine s\n", "      module m\n      contains\n@F@F      end module\n",
        "      function f(a)\n      implicit none\n      integer :: a\n@S@S      end\n", "      pure subroutine q\n@S      end\n", "      interface\n@F      end interface\n", "      block data\n      end\n", "@S@S      contains\n@F      end\n",
        "@C\n      subroutine s(a)\n#else\n      subroutine s(b)\n#endif\n@S@S      end\n", "@F@F",
    ]),
    (b'S', &[
        "      x = x + 1\n", "@D@B", "@D@B", "@D@B", "@D@B", "@D@B", "      if (@E) then\n@S@S      endif\n", "      if (@E) then\n@S      else if (@E) then\n@S      else\n@S      end if\n", "      if (@E) x = 1\n",
        "      do i = 1, @E\n@S      end do\n", "      do 10 i = 1, 9\n@S   10 continue\n", "      do 20 i = 1, 9\n      do 20 j = 1, 9\n@S   20 x = x + 1\n", "      do while (@E)\n@S      enddo\n", "      do concurrent (i = 1:9)\n@S      end do\n",
        "      select case (@E)\n      case (1)\n@S      case default\n@S      end select\n", "      block\n@S      end block\n", "      associate (a => b)\n@S      end associate\n", "      where (a > 1)\n      a = 1\n      elsewhere\n      a = 2\n      end where\n",
        "      forall (i = 1:9) a(i) = 1\n", "      n: do i = 1, 9\n@S      end do n\n", "@C\n@S#endif\n", "@C\n@S#else\n@S#endif\n", "@C\n@D#endif\n@B", "@C\n      do i = 1, 9\n#else\n      do i = 9, 1, -1\n#endif\n@S      end do\n",
        "      call omp_set_lock(l)\n@S      call omp_unset_lock(l)\n", "      call f(@E, @E)\n", "   30 x = 1\n", "      x = 1; y = 2; z = @E\n", "!$    x = 1\n", "! comment\n@S", "c comment\n", "\n@S", "      goto 10\n", "      return\n", "      stop\n", "      exit\n", "      cycle\n",
        "!$pomp inst begin(a)\n@S!$pomp inst end(a)\n", "!$omp sections\n@S!$omp section\n@S!$omp end sections\n", "      include 'a.h'\n", "      write (*, '(a)') 'a;b', \"!$omp\"\n", "      x = 5habc'd\n", "   40 format (a, '!')\n", "# 8 \"c.f90\"\n", "      if (@E) then; x = 1; endif\n",
        "      x = &\n      & 1\n", "      x =\n     & 1\n", "      integer :: a(9)\n", "      critical\n@S      end critical\n", "!$omp end @N\n", "!$omp atomic capture\n      v = x\n      x = 1\n!$omp end atomic\n",
    ]),
    (b'B', &[
        "      x = x + 1\n", "      do i = 1, 9\n@S      end do\n", "      do 50 i = 1, 9\n@S   50 continue\n", "@S@S!$omp end @N\n", "      do i = 1, 9\n@S      end do\n!$omp end @N\n", "@S!$omp end @N nowait\n", "      block\n@S      end block\n", "@S", "@D@B", "      if (x == a) x = b\n",
    ]),
    (b'C', &["#ifdef A", "#if 1", "#if 0", "#ifndef B", "#ifdef _OPENMP"]),
    (b'E', &["1", "a < b", "f(@E, @E)", "(@E)", "a(@E)", "'it''s'", "\"x\"", "omp_test_lock(l)", ".true.", "a%b", "[1, 2]", "(/ 1, 2 /)", "4hab;c"]),
];

/// A source in C or C++.
pub fn c(random: &mut Random) -> Vec<u8> {
    if random.once_in(40) {
        let dialect = *random.one_of(&[Dialect::C, Dialect::Cxx]);
        return generate::program(random.number(), dialect).into_bytes();
    }
    Maker::made(random, Language::C, C)
}

/// A source in Fortran, in columns that are right in either form.
pub fn fortran(random: &mut Random) -> Vec<u8> {
    if random.once_in(40) {
        let layout = *random.one_of(&Layout::ALL);
        return generate::fortran::program(random.number(), layout).into_bytes();
    }
    Maker::made(random, Language::Fortran, FORTRAN)
}

struct Maker<'r> {
    random: &'r mut Random,
    language: Language,
    grammar: Grammar,
    /// How many symbols may still be replaced by texts that contain symbols.
    left: usize,
    text: Vec<u8>,
}

impl<'r> Maker<'r> {
    fn made(random: &'r mut Random, language: Language, grammar: Grammar) -> Vec<u8> {
        let most = if random.once_in(20) { 7 } else { 4 };
        let left = 4 << random.below(most);
        let mut maker = Maker {
            random,
            language,
            grammar,
            left,
            text: Vec::new(),
        };
        for _ in 0..=maker.random.below(3) {
            maker.symbol(b'F', 0);
        }
        maker.text
    }

    fn symbol(&mut self, symbol: u8, depth: usize) {
        let rule = self.grammar.iter().find(|(name, _)| *name == symbol);
        match (symbol, rule) {
            (_, Some((_, choices))) => {
                let last = self.left == 0 || depth > 60;
                self.left = self.left.saturating_sub(1);
                let choice = if last {
                    choices[0]
                } else {
                    *self.random.one_of(choices)
                };
                self.text(choice, depth + 1);
            }
            (b'D', None) => self.directive(),
            _ => self.name(),
        }
    }

    fn text(&mut self, text: &str, depth: usize) {
        let mut parts = text.split('@');
        self.text.extend(parts.next().unwrap_or_default().bytes());
        for part in parts {
            let (symbol, rest) = part.split_at(1);
            self.symbol(symbol.as_bytes()[0], depth);
            self.text.extend(rest.bytes());
        }
    }

    /// A directive with lines of its own.
    fn directive(&mut self) {
        let fortran = self.language == Language::Fortran;
        let sentinels: &[&str] = match fortran {
            true => &["!$omp ", "!$omp ", "!$OMP ", "c$omp ", "!$omp&"],
            false => &["#pragma omp ", "# pragma omp ", "\n#pragma\\\n omp "],
        };
        let sentinel = *self.random.one_of::<&str>(sentinels);
        self.text.extend(sentinel.bytes());
        self.name();
        for _ in 0..self.random.below(4) {
            self.clause();
            if self.random.once_in(12) {
                let more = if fortran { " &\n!$omp& " } else { " \\\n " };
                self.text.extend(more.bytes());
            }
        }
        let end = ["\n", "\n", "\n", "\r\n", " // a {\n", " ! a\n"];
        self.text.extend(self.random.one_of(&end).bytes());
    }

    /// One to four names of directives that may make a combined one.
    fn name(&mut self) {
        let of_language =
            |row: &&instrumenter::openmp::DirectiveRow| row.languages.contain(self.language);
        let rows: Vec<_> = DIRECTIVES.iter().filter(of_language).collect();
        // The rows of the most usual constructs come first.
        let first = if self.random.once_in(3) {
            rows.len()
        } else {
            20
        };
        let mut row = rows[self.random.index(first)];
        self.text.extend(row.name.bytes());
        while row.combination.leads() && self.random.once_in(2) {
            row = rows[self.random.index(rows.len())];
            if !row.combination.follows() {
                break;
            }
            self.text.push(b' ');
            self.text.extend(row.name.bytes());
        }
    }

    fn clause(&mut self) {
        let row = self.random.one_of(CLAUSES);
        self.text.push(b' ');
        self.text.extend(row.name.bytes());
        let arguments = [
            "",
            "(a)",
            "(a, b)",
            "(+: a)",
            "(a: b)",
            "(f(1, (2)))",
            "(none)",
            "(static, 4)",
            "(parallel: a)",
            "(",
            "(\"a)\")",
        ];
        let usual = if self.random.once_in(6) {
            arguments.len()
        } else {
            5
        };
        let argument = arguments[self.random.index(usual)];
        self.text.extend(argument.bytes());
    }
}
