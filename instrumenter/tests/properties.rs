//! Properties of the whole pipeline for arbitrary texts: nothing panics, no text of the user is
//! lost, and constructs that are found are instrumented correctly.

use instrumenter::source::Layout;
use instrumenter::verify::verify;
use instrumenter::{Options, Source, instrument};
use proptest::prelude::*;

fn source(text: impl Into<Vec<u8>>) -> Source {
    Source {
        name: "t.c".into(),
        language: instrumenter::openmp::Language::C,
        text: text.into(),
        layout: Layout::FREE,
        undefined: instrumenter::source::UndefinedMacros::new(),
    }
}

fn options() -> Options {
    Options {
        unique: "t".into(),
        ..Options::default()
    }
}

/// Fragments of C from which random texts are made, most of them invalid.
const FRAGMENTS: &[&str] = &[
    "#pragma omp parallel\n",
    "#pragma omp parallel for reduction(+:s)\n",
    "#pragma omp for\n",
    "#pragma omp sections\n",
    "#pragma omp section\n",
    "#pragma omp single\n",
    "#pragma omp critical (x)\n",
    "#pragma omp atomic\n",
    "#pragma omp barrier\n",
    "#pragma omp ordered\n",
    "#pragma omp master\n",
    "#pragma omp simd\n",
    "#pragma omp nonsense\n",
    "#pragma omp parallel for schedule(\n",
    "_Pragma(\"omp critical\") ",
    "_Pragma(\"omp",
    "#if A\n",
    "#ifdef _OPENMP\n",
    "#else\n",
    "#elif B\n",
    "#endif\n",
    "#define X {\n",
    "#line 7 \"y.c\"\n",
    "#line X\n",
    "{ ",
    "} ",
    "( ",
    ") ",
    "; ",
    "for (;;) ",
    "if (a) ",
    "else ",
    "do ",
    "while (a); ",
    "case 1: ",
    "l: ",
    "x = y; ",
    "omp_set_lock(&l); ",
    "\"str\\\n",
    "'",
    "/* c */ ",
    "// l\n",
    "/*",
    "\\\n",
    "\n",
    "int f(void) ",
    "<% ",
    "%> ",
    "\u{e9}",
    "R\"(",
    ")\" ",
    "X ",
];

fn thrown_together() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(FRAGMENTS), 0..40)
        .prop_map(|parts| parts.concat())
}

/// A well-formed statement with constructs nested at random, within the rules.
fn statement() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x += 1;\n".to_owned()),
        Just("{ x += 2; }\n".to_owned()),
        Just("if (x) x -= 1; else x += 3;\n".to_owned()),
        Just("\n#pragma omp critical (name)\nx += 1;\n".to_owned()),
        Just("\n#pragma omp atomic\nx += 1;\n".to_owned()),
        Just("{\n#pragma omp flush\n}\n".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|s| format!("\n#pragma omp parallel num_threads(2)\n{s}")),
            inner
                .clone()
                .prop_map(|s| format!("\n#pragma omp parallel for\nfor (i = 0; i < 2; i++)\n{s}")),
            inner
                .clone()
                .prop_map(|s| format!("\n#pragma omp single\n{{ {s} }}\n")),
            inner
                .clone()
                .prop_map(|s| format!("\n#ifdef _OPENMP\n#pragma omp master\n#endif\n{s}")),
            inner.clone().prop_map(|s| format!("if (x)\n{s}else\n{s}")),
            inner.clone().prop_map(|s| format!("while (x)\n{s}")),
            inner
                .clone()
                .prop_map(|s| format!("_Pragma(\"omp single\") {s}")),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|all| {
                let sections: String = all
                    .iter()
                    .map(|s| format!("#pragma omp section\n{s}"))
                    .collect();
                format!("\n#pragma omp sections\n{{\n{sections}}}\n")
            }),
            proptest::collection::vec(inner, 1..3)
                .prop_map(|all| format!("{{\n{}}}\n", all.concat())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_survived(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let source = source(text);
        let result = instrument(&source, &options());
        prop_assert_eq!(result.applied.strip_back(), source.text);
    }

    #[test]
    fn fragments_are_survived_and_verified(text in thrown_together()) {
        let source = source(text);
        let result = instrument(&source, &options());
        // Random fragments are rarely valid C, so syntax errors are allowed; all other checks
        // must pass.
        match verify(&source, &result) {
            Ok(()) | Err(instrumenter::verify::Defect::Syntax) => {}
            Err(defect) => prop_assert!(false, "{}\n{}", defect, String::from_utf8_lossy(result.text())),
        }
    }

    #[test]
    fn without_a_directive_there_is_no_edit(text in "[a-z{}();\n\"'/*# ]{0,120}") {
        let source = source(text);
        let result = instrument(&source, &options());
        prop_assert!(result.applied.edits.is_empty());
        prop_assert_eq!(result.text(), &source.text);
    }

    #[test]
    fn well_formed_programs_are_instrumented_completely(body in statement()) {
        let source = source(format!("int x, i;\nvoid f(void)\n{{\n{body}}}\n"));
        let result = instrument(&source, &options());
        let shown = String::from_utf8_lossy(result.text()).into_owned();
        prop_assert_eq!(verify(&source, &result), Ok(()), "{}", shown);
        prop_assert!(result.warnings.is_empty(), "{}", result.warnings.join("\n"));
        let directives = String::from_utf8_lossy(&source.text).matches("omp ").count();
        prop_assert_eq!(result.plan.listing.len(), directives);
    }
}
