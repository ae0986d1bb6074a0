//! Property tests of what is found in arbitrary texts, most of which are not valid Fortran.

use std::ops::Range;

use proptest::prelude::*;

use super::FortranFrontEnd;
use super::tests::outline;
use crate::find::{Closing, Extent, Found, FrontEnd, Placement, Position};
use crate::openmp::Language;
use crate::source::{Form, Layout, Source};

/// Fragments from which random texts are made.
const FRAGMENTS: &[&str] = &[
    "!$omp parallel\n",
    "!$omp parallel do private(a)\n",
    "!$omp do\n",
    "!$omp sections\n",
    "!$omp section\n",
    "!$omp atomic\n",
    "!$omp atomic capture\n",
    "!$omp tile sizes(2)\n",
    "!$omp end parallel\n",
    "!$omp end do nowait\n",
    "!$omp end sections\n",
    "!$omp end atomic\n",
    "!$omp barrier\n",
    "!$omp single &\n",
    "!$omp&copyprivate(x)\n",
    "c$omp+private(x)\n",
    "!$omp end single\n",
    "!$omp nonsense(\n",
    "!$pomp inst begin(a)\n",
    "!$ x = 1\n",
    "      do 10 i = 1, n\n",
    "      do i = 1, n\n",
    "      end do\n",
    " 10   continue\n",
    "      if (a) then\n",
    "      end if\n",
    "      block\n",
    "      end block\n",
    "      pure subroutine s\n",
    "      contains\n",
    "      end\n",
    "      call omp_set_lock(l)\n",
    "      x = 'a &\n",
    "     & b'; ",
    "x = 1; ",
    "end do; ",
    "#ifdef A\n",
    "#ifndef A\n",
    "#else\n",
    "#elif B\n",
    "#endif\n",
    "# 7 \"x.f90\"\n",
    "#define X \\\n",
    "/* ",
    "*/\n",
    "! c\n",
    "\t1 x\r\n",
    "\n",
    "&\n",
    "\u{e9}",
    "'",
    "(",
];

fn thrown_together() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(FRAGMENTS), 0..40)
        .prop_map(|parts| parts.concat().into_bytes())
}

fn layouts() -> impl Strategy<Value = Layout> {
    (
        any::<bool>(),
        any::<bool>(),
        proptest::option::of(0usize..140),
    )
        .prop_map(|(fixed, preprocessed_by_compiler, line_length)| Layout {
            form: if fixed { Form::Fixed } else { Form::Free },
            line_length,
            preprocessed_by_compiler,
        })
}

/// Checks that all offsets are within the text and in the right order.
fn check(text: Vec<u8>, layout: Layout) -> Result<(), TestCaseError> {
    let source = Source {
        name: "t.f90".into(),
        language: Language::Fortran,
        text,
        layout,
        undefined: crate::source::UndefinedMacros::new(),
    };
    let found = FortranFrontEnd.find(&source);
    let text = &source.text;
    let mut last = 0;
    for directive in &found.directives {
        prop_assert!(directive.range.start >= last && directive.range.end <= text.len());
        last = directive.range.start;
        let Placement::Lines { before, after } = directive.placement else {
            return Err(TestCaseError::fail("a directive without lines"));
        };
        prop_assert!(before <= directive.range.start && directive.range.end <= after);
        prop_assert!(is_line_start(text, before) && is_line_start(text, after));
        in_order(
            directive.words.iter().map(|word| word.range.clone()),
            &directive.range,
        )?;
        check_extent(&found, &directive.extent, text, after)?;
    }
    for call in &found.calls {
        prop_assert!(call.name.end < call.arguments && call.arguments <= text.len());
    }
    // A token that is split at a continuation includes the next sentinel.
    let tokens = FortranFrontEnd.token_ranges(&source);
    prop_assert!(tokens.is_sorted_by_key(|token| token.start));
    prop_assert!(
        tokens
            .iter()
            .all(|token| token.start < token.end && token.end <= text.len())
    );
    Ok(())
}

fn check_extent(
    found: &Found,
    extent: &Extent,
    text: &[u8],
    after: usize,
) -> Result<(), TestCaseError> {
    let Extent::Body(body) = extent else {
        return Ok(());
    };
    prop_assert!(after <= body.begin.at && body.begin.at <= body.range.start);
    prop_assert!(body.range.start <= body.range.end && body.range.end <= body.end.at);
    prop_assert!(body.end.at <= body.outside.at && body.outside.at <= text.len());
    for position in [body.begin, body.end, body.outside] {
        check_position(text, position)?;
    }
    if let Closing::Directive(end) = &body.closing {
        prop_assert!(body.end.at <= end.range.start && end.range.end <= body.outside.at);
    }
    let mut from = body.begin.at;
    for section in &body.sections {
        prop_assert!(from <= section.begin.at && section.end.at <= body.end.at);
        prop_assert!(
            section
                .directive
                .is_none_or(|index| index < found.directives.len())
        );
        from = section.end.at;
    }
    Ok(())
}

fn check_position(text: &[u8], position: Position) -> Result<(), TestCaseError> {
    prop_assert!(!position.line_start || is_line_start(text, position.at));
    Ok(())
}

fn is_line_start(text: &[u8], at: usize) -> bool {
    at == 0 || at == text.len() || text[at - 1] == b'\n' || text[..at] == *b"\xef\xbb\xbf"
}

fn in_order(
    ranges: impl Iterator<Item = Range<usize>>,
    inside: &Range<usize>,
) -> Result<(), TestCaseError> {
    let mut end = inside.start;
    for range in ranges {
        prop_assert!(end <= range.start && range.start < range.end && range.end <= inside.end);
        end = range.end;
    }
    Ok(())
}

/// Statements and directives, one per line, with constructs nested at random.
fn program() -> impl Strategy<Value = Vec<String>> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let leaf = prop_oneof![
        Just("x = x + 1"),
        Just("!$omp barrier"),
        Just("!$omp atomic\nx = x + 1"),
        Just("!$omp atomic capture\nv = x\nx = x + 1\n!$omp end atomic"),
        Just("if (a) x = 'it''s ! not'"),
        Just("do 10 j = 1, 2\ndo 10 k = 1, 2\n10 x = 2"),
        Just("!$omp parallel\n!$omp end parallel"),
        Just("!$omp do\ndo 20 i = 1, n\nx = 4\n20 continue"),
        Just("!$ x = 3"),
    ]
    .prop_map(lines);
    let around = prop_oneof![
        Just(("!$omp parallel", "!$omp end parallel")),
        Just(("!$omp single", "!$omp end single nowait")),
        Just(("!$omp critical (c)", "!$omp end critical (c)")),
        Just((
            "!$omp parallel do private(i)\ndo i = 1, n",
            "end do\n!$omp end parallel do"
        )),
        Just(("!$omp do\n!$ do i = 1, n", "!$ end do")),
        Just(("!$omp taskloop\ndo i = 1, n; y = 1", "z = 1; enddo")),
        Just((
            "!$omp sections\n!$omp section\nx = 1\n!$omp section",
            "!$omp end sections"
        )),
        Just(("!$omp task\nblock", "end block")),
        Just(("if (a == b) then", "end if")),
        Just(("select case (x)\ncase (1)", "end select")),
        Just(("do while (a)", "end do")),
    ];
    leaf.prop_recursive(4, 30, 3, move |inner| {
        let inside = proptest::collection::vec(inner, 1..3);
        (around.clone(), inside).prop_map(move |((begin, end), inside)| {
            [lines(begin), inside.concat(), lines(end)].concat()
        })
    })
}

/// Lines of a program in fixed form. Every other line is without blanks, which have no meaning
/// there.
fn fixed_form(lines: &[String]) -> String {
    let numbered = lines.iter().enumerate();
    let line = |(number, line): (usize, &String)| {
        let code = line.strip_prefix("!$ ").unwrap_or(line);
        let sentinel = if code.len() < line.len() { "c$" } else { "" };
        let digits = code.bytes().take_while(u8::is_ascii_digit).count();
        let (label, text) = code.split_at(digits);
        let squeezed = number % 2 == 0 && !line.contains('\'');
        let text = if squeezed {
            text.replace(' ', "")
        } else {
            text.to_owned()
        };
        match line.strip_prefix("!$omp ") {
            Some(_) => format!("c$omp {}\n", text.trim_start_matches("!$omp")),
            None => format!("{:6}{text}\n", format!("{sentinel}{label:>3}")),
        }
    };
    numbered.map(line).collect::<String>() + "      end\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes(text in proptest::collection::vec(any::<u8>(), 0..300), layout in layouts()) {
        check(text, layout)?;
    }

    #[test]
    fn fragments(text in thrown_together(), layout in layouts()) {
        check(text, layout)?;
    }

    #[test]
    fn what_is_right_is_understood_and_the_same_in_both_forms(lines in program()) {
        let free = outline(&(lines.join("\n") + "\nend\n"), Layout::FREE);
        prop_assert!(!free.contains(": "), "{}", free);
        // Blanks between clauses don't matter.
        let plain = |outline: String| outline.replace(' ', "");
        prop_assert_eq!(plain(outline(&fixed_form(&lines), Layout::FIXED)), plain(free));
    }
}

/// Open frames are searched from the innermost one on. Deep nesting that never ends must not
/// take time in proportion to the square of the number of lines.
#[test]
fn long_and_deep_texts_end_in_time() {
    for line in [
        "!$omp parallel\n",
        "!$omp parallel\nblock\n",
        "do 10 i = 1, n\n",
        "!$omp do\ndo 10 i = 1, n\n10 continue\n",
        "#ifdef A\n!$omp parallel\n",
        "#ifndef A\n!$omp parallel\n#endif\n!$omp end parallel\n",
        "!$omp end parallel\n",
        "p a r a l l e l ",
        "x = (((",
    ] {
        let text = line.repeat(20_000 / line.len());
        for layout in [Layout::FREE, Layout::FIXED] {
            let layout = Layout {
                preprocessed_by_compiler: true,
                ..layout
            };
            assert!(check(text.clone().into_bytes(), layout).is_ok(), "{line}");
        }
    }
}
