//! Which `atomic` constructs certainly write one variable. Their descriptors name it.

use instrumenter::openmp::Language;
use instrumenter::source::{Layout, UndefinedMacros};
use instrumenter::{Options, Source, instrument};

/// The variables in the descriptors of a source; `-` for a construct without one.
fn variables(language: Language, text: &str) -> String {
    let source = Source {
        name: "a".into(),
        language,
        text: text.into(),
        layout: Layout::FREE,
        undefined: UndefinedMacros::new(),
    };
    let plan = instrument(&source, &Options::default()).plan;
    let atomics = plan
        .regions
        .iter()
        .map(|region| &region.descriptor)
        .filter(|descriptor| descriptor.region_type == "atomic");
    let words = atomics.map(|it| it.variable.as_deref().unwrap_or("-"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn in_c() {
    for (statement, expected) in [
        ("s++;", "s"),
        ("--s;", "s"),
        ("(s) += 1;", "s"),
        ("s = 1 + s;", "s"),
        ("s <<= 1;", "s"),
        ("o.n += i;", "o.n"),
        ("a[3] += i;", "a[3]"),
        ("*q += i;", "*q"),
        ("q->n += i;", "q->n"),
        ("{ v = s; s += 2; }", "s"),
        ("v = s += 2;", "s"),
        ("v = s++;", "s"),
        ("a[i] = s++;", "s"),
        ("(a[i]) = s++;", "s"),
        ("a[i == v] = s += 2;", "s"),
        ("{ a[i] = s; s++; }", "s"),
        ("a[i] = a[i] + 1;", "-"),
        ("a[i] = v == 3;", "-"),
        ("if (s < v) { s = v; }", "s"),
        ("a[i] += 1;", "-"),
        ("*r += 1;", "-"),
        ("*mine += 1;", "-"),
        ("*f(i) += 1;", "-"),
    ] {
        let text = format!(
            "void g(int *a, int *q, int *mine) {{\n\
             #pragma omp parallel for firstprivate(mine)\n\
             for (int i = 0; i < 9; i++) {{ int v, *r = a + i;\n\
             #pragma omp atomic\n{statement}\n}} }}\n"
        );
        assert_eq!(variables(Language::C, &text), expected, "{statement}");
    }
}

#[test]
fn outside_of_a_parallel_construct() {
    for (text, expected) in [
        ("long s; void g(void) {", "s"),
        ("static double t, s = 0; void g(void) {", "-"),
        ("long s[9]; void g(void) {", "s"),
        ("void g(int s) {", "-"),
        ("long s; void g(long *s) {", "-"),
        ("struct c { long s; void g() {", "-"),
    ] {
        let text = format!("{text}\n#pragma omp atomic\ns += 1;\n}}\n");
        assert_eq!(variables(Language::C, &text), expected, "{text}");
    }
}

#[test]
fn in_cxx() {
    for (statement, expected) in [
        ("n::s += 1;", "n::s"),
        ("this->s += 1;", "this->s"),
        ("double &r = a[i];\n#pragma omp atomic\nr += 1;", "- -"),
    ] {
        let text = format!(
            "void c::g() {{\n#pragma omp parallel for\nfor (int i = 0; i < 9; i++) {{\n\
             #pragma omp atomic\n{statement}\n}} }}\n"
        );
        assert_eq!(variables(Language::Cxx, &text), expected, "{statement}");
    }
}

#[test]
fn in_fortran() {
    for (statements, expected) in [
        ("!$omp atomic\ns = s + 1", "s"),
        ("!$omp atomic\nS = max(s, i)", "S"),
        ("!$omp atomic\no%n = o%n + 1", "o%n"),
        ("!$omp atomic\na(3) = a(3) + 1", "a(3)"),
        (
            "!$omp atomic capture\nv = s\ns = s + 1\n!$omp end atomic",
            "s",
        ),
        ("!$omp atomic write\ns = 1", "s"),
        ("!$omp atomic read\nv = s", "-"),
        ("!$omp atomic\na(i) = a(i) + 1", "-"),
        ("!$omp atomic\n= 1", "-"),
        ("!$omp atomic\np%n = p%n + 1", "-"),
        (
            "associate (e => a(i))\n!$omp atomic\ne = e + 1\nend associate",
            "-",
        ),
    ] {
        let text = format!(
            "subroutine g(s, a, o, p)\n!$omp parallel do private(p)\ndo i = 1, 9\n\
             {statements}\nend do\nend subroutine\n"
        );
        assert_eq!(
            variables(Language::Fortran, &text),
            expected,
            "{statements}"
        );
    }
    for (argument, expected) in [("x", "s"), ("s", "-")] {
        let text = format!("subroutine g({argument})\n!$omp atomic\ns = s + 1\nend subroutine\n");
        assert_eq!(variables(Language::Fortran, &text), expected, "{text}");
    }
}
