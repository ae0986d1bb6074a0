//! Directives of POMP in a file that has nothing else to measure.

use instrumenter::openmp::Language;
use instrumenter::source::Layout;
use instrumenter::verify::verify;
use instrumenter::{Options, Source, instrument};

#[test]
fn a_switch_alone_is_declared() {
    let source = Source {
        name: "t.c".into(),
        language: Language::C,
        text: b"void f(void)\n{\n#pragma pomp inst off\n}\n".to_vec(),
        layout: Layout::FREE,
        undefined: instrumenter::source::UndefinedMacros::new(),
    };
    let options = Options {
        unique: "t".into(),
        ..Options::default()
    };
    let result = instrument(&source, &options);
    let text = String::from_utf8_lossy(result.text());
    assert!(
        text.contains("extern void POMP_Off(void) __attribute__((__nothrow__));"),
        "{text}"
    );
    assert!(text.contains("\nPOMP_Off();\n#line 4 \"t.c\"\n"), "{text}");
    assert!(!text.contains("romp_table"), "{text}");
    assert_eq!(verify(&source, &result), Ok(()));
}

/// Instruments C and verifies the result. Returns the text and the warnings.
fn instrumented(text: &str) -> (String, String) {
    let source = Source {
        name: "t.c".into(),
        language: Language::C,
        text: text.into(),
        layout: Layout::FREE,
        undefined: instrumenter::source::UndefinedMacros::new(),
    };
    let result = instrument(&source, &Options::default());
    assert_eq!(verify(&source, &result), Ok(()), "{text}");
    let text = String::from_utf8_lossy(result.text()).into_owned();
    let warnings = result.warnings.iter().map(ToString::to_string);
    (text, warnings.collect())
}

/// With a call in front of `x++`, the call would be governed instead, and `x++` would always
/// run.
#[test]
fn no_call_takes_the_place_of_what_is_governed() {
    let heads = [
        "if (x)",
        "if (x) ; else",
        "while (x)",
        "for (;;)",
        "switch (x)",
        "if (x) l: k:",
        "#pragma omp parallel\n",
        "#pragma omp critical\n#pragma GCC unroll 2\n",
    ];
    let marks = ["off", "begin(a)", "begin(a)\n#pragma pomp inst end(a)"];
    for head in heads {
        for mark in marks {
            let (text, warnings) = instrumented(&format!(
                "void f(int x)\n{{\n{head}\n#pragma pomp inst {mark}\nx++;\n}}\n"
            ));
            let called =
                ["POMP_Off", "POMP_Begin"].map(|name| text.contains(&format!("\n{name}(")));
            assert_eq!(called, [false, false], "{head}\n{text}");
            assert!(warnings.contains("not instrumented"), "{head}: {warnings}");
        }
    }
}

#[test]
fn calls_stand_between_statements() {
    let heads = [
        "",
        "x--;",
        "l:",
        "case 1:",
        "default:",
        "{ }",
        "if (x) { }",
        "MACRO(x)",
        "#pragma omp barrier\n",
        "#pragma omp parallel\nx--;\n",
    ];
    for head in heads {
        let (text, warnings) = instrumented(&format!(
            "void f(int x)\n{{\nswitch (x) {{\n{head}\n#pragma pomp inst begin(a)\nx++;\n\
             #pragma pomp inst end(a)\n}}\n}}\n"
        ));
        assert!(text.contains("\nPOMP_Begin("), "{head}\n{text}\n{warnings}");
    }
}

/// Compilers reject these, so they get them unchanged.
#[test]
fn what_is_no_c_is_left_to_the_compiler() {
    for text in [
        "void f(int x)\n{\nx +\n#pragma omp parallel\nx++;\n}\n",
        "void f(int x)\n{\nx = x ?\n#pragma omp barrier\nx++;\n}\n",
        "void f(int x)\n{\n#pragma omp parallel\nx++;\n}\\",
        "void f(void)\n{\nomp_set_lock(&l);\n}\\ ",
    ] {
        assert_eq!(instrumented(text).0, text);
    }
    let text = "void f(int x)\n{\n#pragma omp parallel\nx++;\n}\\\n";
    assert!(instrumented(text).0.contains("\nPOMP_Parallel_end("));
}

/// Attributes that are not OpenMP's stay in their places.
#[test]
fn directives_in_a_sequence_may_have_other_attributes_beside_them() {
    for (written, expected) in [
        (
            "[[gnu::unused, omp::sequence(directive(parallel), directive(critical))]]",
            [
                "[[gnu::unused, omp::directive(parallel ",
                "[[omp::directive(critical)]]",
            ],
        ),
        (
            "[[omp::sequence(directive(parallel), omp::directive(critical)), a::b, c::d]]",
            [
                "[[omp::directive(parallel ",
                "[[omp::directive(critical), a::b, c::d]]",
            ],
        ),
        (
            "[[a::b, omp::directive(parallel), omp::directive(critical), c::d]]",
            [
                "[[a::b, omp::directive(parallel ",
                "[[omp::directive(critical), c::d]]",
            ],
        ),
    ] {
        let (text, warnings) =
            instrumented(&format!("void f(int x)\n{{\n{written} {{ x++; }}\n}}\n"));
        assert_eq!(warnings, "", "{written}");
        for part in expected {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
    let (text, warnings) = instrumented(
        "void f(int x)\n{\n[[omp::directive(parallel), a::b, omp::directive(critical)]] { x++; }\n}\n",
    );
    assert!(warnings.contains("another attribute"), "{warnings}\n{text}");
}
