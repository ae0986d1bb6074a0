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
        absent: instrumenter::source::Absent::new(),
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
