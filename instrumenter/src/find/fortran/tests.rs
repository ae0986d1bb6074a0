//! Tests of whole sources, in both forms.

use super::FortranFrontEnd;
use crate::find::{Body, Closing, Extent, Found, FoundDirective, FrontEnd, Position};
use crate::openmp::Language;
use crate::source::{Layout, Source};

pub(super) const FREE: Layout = Layout::FREE;
const FIXED: Layout = Layout::FIXED;
const PREPROCESSED: Layout = Layout {
    preprocessed_by_compiler: true,
    ..Layout::FREE
};

pub(super) fn find(text: &str, layout: Layout) -> Found {
    FortranFrontEnd.find(&Source {
        name: "t.f90".into(),
        language: Language::Fortran,
        text: text.as_bytes().to_vec(),
        layout,
        undefined: crate::source::UndefinedMacros::new(),
    })
}

/// Every directive as its name, its clauses if it has any, and `begin-end`, with `!outside` if
/// it has an end directive. Positions are lines; `+` marks a position inside a line.
pub(super) fn outline(text: &str, layout: Layout) -> String {
    let found = find(text, layout);
    let show = |directive| one(&found, directive);
    found
        .directives
        .iter()
        .map(show)
        .collect::<Vec<_>>()
        .join("; ")
}

fn one(found: &Found, directive: &FoundDirective) -> String {
    let parsed = match &directive.directive {
        Ok(parsed) => parsed,
        Err(reason) => return format!("{}: {reason}", directive.text),
    };
    let clauses: String = parsed
        .clauses
        .iter()
        .map(|clause| format!(" {}", clause.text()))
        .collect();
    let extent = match &directive.extent {
        Extent::None => String::new(),
        Extent::Unclear(reason) => format!(": {reason}"),
        Extent::Body(body) => lines(found, body),
    };
    format!("{}{clauses}{extent}", parsed.name())
}

fn lines(found: &Found, body: &Body) -> String {
    let line = |position: Position| {
        let mid = if position.line_start { "" } else { "+" };
        format!("{}{mid}", found.lines.physical(position.at))
    };
    let closing = match &body.closing {
        Closing::Directive(_) => format!("!{}", line(body.outside)),
        Closing::Omitted => String::new(),
        Closing::Block => "?".into(),
    };
    format!(" {}-{}{closing}", line(body.begin), line(body.end))
}

fn check(layout: Layout, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let text = format!("{text}\n");
        assert_eq!(outline(&text, layout), *expected, "{text}");
    }
}

#[test]
fn loops_end_with_or_without_a_directive() {
    check(
        FREE,
        &[
            ("!$omp do\ndo i = 1, n\nend do\nend", "do 2-4"),
            (
                "!$omp do\ndo i = 1, n\nend do\n!$omp end do nowait\nend",
                "do nowait 2-4!5",
            ),
            (
                "!$omp do\n\n! c\ndo i = 1, n\nend do\n! c\n\n!$omp end do\nend",
                "do 2-8!9",
            ),
            (
                "!$omp do\no: do i = 1, n\ndo\nend do\nend do o\nend do\nend",
                "do 2-6",
            ),
            (
                "!$omp do\ndo i = 1, n; x = 1; end do; y = 2\nend",
                "do 2-2+",
            ),
            ("!$omp do\ndo 10 i = 1, n\n10 x = 1\nend", "do 2-4"),
            (
                "!$omp do\ndo 10 i = 1, n\ndo 10 j = 1, n\n10 continue\nend",
                "do 2-5",
            ),
            (
                "!$omp do\ndo 10 i = 1, n\n10 end do\n!$omp end do\nend",
                "do 2-4!5",
            ),
            (
                "!$omp do\ndo 10 i = 1, n\ndo 10 j = 1, n\n10 end do\n!$omp barrier\nend",
                "do 2-5; barrier",
            ),
            (
                "!$omp parallel do\n!$omp tile sizes(2)\ndo i = 1, n\nend do\nend",
                "parallel do 2-5; tile sizes(2) 3-5",
            ),
            (
                "!$omp parallel do\n!$omp tile sizes(2)\ndo i = 1, n\nend do\n!$omp end tile\n!$omp end parallel do\nend",
                "parallel do 2-6!7; tile sizes(2) 3-5!6",
            ),
            ("!$omp do\ndo concurrent (i = 1:n)\nend do\nend", "do 2-4"),
            (
                "!$omp do\nx = 1\ndo i = 1, n\nend do\nend",
                "do: no loop follows it",
            ),
            ("!$omp do\nend", "do: no loop follows it"),
            (
                "do 10 i = 1, n\n!$omp do\ndo 10 j = 1, n\n10 continue\nend",
                "do: its last statement also ends a loop that begins outside of it",
            ),
        ],
    );
}

#[test]
fn blocks_end_with_a_directive() {
    check(
        FREE,
        &[
            (
                "!$omp parallel\nx = 1\n!$omp end parallel\nend",
                "parallel 2-3!4",
            ),
            ("!$omp parallel\n!$omp end parallel\nend", "parallel 2-2!3"),
            (
                "!$omp parallel\n!$omp parallel\n!$omp end parallel\n!$omp end parallel\nend",
                "parallel 2-4!5; parallel 3-3!4",
            ),
            (
                "!$omp single\nx = 1\n!$omp end single copyprivate(x) nowait\nend",
                "single copyprivate(x) nowait 2-3!4",
            ),
            (
                "!$omp critical (c)\nx = 1\n!$omp end critical (c)\nend",
                "critical 2-3!4",
            ),
            (
                "!$omp parallel\nif (a) then\n!$omp barrier\nend if\n!$omp end parallel\nend",
                "parallel 2-5!6; barrier",
            ),
            (
                "!$omp parallel\nx = 1\nend",
                "parallel: no directive ends it",
            ),
            (
                "!$omp end parallel\nend",
                "!$omp end parallel: it ends no construct",
            ),
            (
                "!$omp parallel\n!$omp do\ndo i = 1, n\nend do\n!$omp end parallel\nend",
                "parallel 2-5!6; do 3-5",
            ),
            (
                "!$omp ordered depend(source)\nend",
                "ordered depend(source)",
            ),
            (
                "!$omp workshare\na = b\n!$omp end workshare\nend",
                "workshare 2-3!4",
            ),
        ],
    );
}

#[test]
fn a_block_construct_needs_no_directive_at_its_end() {
    check(
        FREE,
        &[
            (
                "!$omp parallel\nblock\nx = 1\nend block\ny = 1\nend",
                "parallel 2-5",
            ),
            (
                "!$omp parallel\nblock\nend block\n!$omp end parallel\nend",
                "parallel 2-4!5",
            ),
            (
                "!$omp parallel\n!$omp single\nblock\nend block\n!$omp end single\ny = 1\n!$omp end parallel\nend",
                "parallel 2-7!8; single 3-5!6",
            ),
            (
                "!$omp parallel\n!$omp barrier\nblock\nend block\n!$omp end parallel\nend",
                "parallel 2-5!6; barrier",
            ),
            (
                "!$omp parallel\nblock\nend block\ny = 1\n!$omp end parallel\nend",
                "parallel: it may end with its block construct or with a directive later; \
             !$omp end parallel: it ends no construct",
            ),
        ],
    );
}

#[test]
fn atomic_ends_after_its_statements() {
    check(
        FREE,
        &[
            ("!$omp atomic\nx = x + 1\ny = 1\nend", "atomic 2-3"),
            (
                "!$omp atomic\nx = x + 1\n!$omp end atomic\nend",
                "atomic 2-3!4",
            ),
            (
                "!$omp atomic capture\nv = x\nx = x + 1\ny = 1\nend",
                "atomic capture 2-4",
            ),
            (
                "!$omp atomic capture\nv = x\nx = x + 1\n!$omp end atomic\nend",
                "atomic capture 2-4!5",
            ),
            (
                "!$omp atomic compare\nif (x == e) then\nx = d\nend if\ny = 1\nend",
                "atomic compare 2-5",
            ),
            (
                "!$omp atomic compare capture\nif (x == e) then\nx = d\nend if\nv = x\ny = 1\nend",
                "atomic compare capture 2-6",
            ),
            (
                "!$omp atomic compare capture\nif (x == e) then\nx = d\nelse\nv = x\nend if\n\
                 !$omp atomic\ny = y + 1\nend",
                "atomic compare capture 2-7; atomic 8-9",
            ),
            (
                "!$omp atomic compare capture\nif (x == e) then; x = d; else; v = x; endif\n\
                 !$omp atomic\ny = y + 1\nend",
                "atomic compare capture 2-3; atomic 4-5",
            ),
            ("!$omp atomic\nx = 1; y = 2\nend", "atomic 2-2+"),
            (
                "do 10 i = 1, n\n!$omp atomic\n10 x = x + 1\nend",
                "atomic: its last statement also ends a loop that begins outside of it",
            ),
            (
                "!$omp critical\n!$omp atomic\nx = x + 1\n!$omp end critical\nend",
                "critical 2-4!5; atomic 3-4",
            ),
        ],
    );
}

#[test]
fn sections() {
    let show = |text: &str| {
        let found = find(&format!("{text}\n"), FREE);
        let Extent::Body(body) = &found.directives[0].extent else {
            return "none".to_owned();
        };
        let line = |at| found.lines.physical(at);
        let sections = body.sections.iter().map(|section| {
            let directive = section
                .directive
                .map_or("-".into(), |index| index.to_string());
            format!(
                "{directive} {}-{}",
                line(section.begin.at),
                line(section.end.at)
            )
        });
        sections.collect::<Vec<_>>().join("; ")
    };
    let implied =
        "!$omp sections\nx = 1\n!$omp section\n!$omp barrier\ny = 1\n!$omp end sections\nend";
    assert_eq!(show(implied), "- 2-3; 1 4-6");
    let nested = "!$omp parallel sections\n!$omp section\n!$omp sections\n!$omp section\nx = 1\n\
                  !$omp end sections\n!$omp section\nx = 2\n!$omp end parallel sections\nend";
    assert_eq!(show(nested), "1 3-7; 4 8-9");
    let of_blocks = "!$omp sections\n!$omp section\nblock\nend block\n!$omp section\nblock\n\
                     end block\n!$omp end sections\nend";
    assert_eq!(show(of_blocks), "1 3-5; 2 6-8");
}

#[test]
fn names_without_blanks_and_continuations() {
    check(
        FREE,
        &[
            (
                "!$OMP PARALLELDO PRIVATE(I)\ndo i = 1, n\nenddo\n!$omp endparalleldo\nend",
                "parallel do PRIVATE(I) 2-4!5",
            ),
            (
                "  !$omp parallel do & ! c\n! c\n\n!$omp & private(a, &\n  !$omp&b)\ndo i = 1, n\nend do\nend",
                "parallel do private(a, b) 6-8",
            ),
            (
                "!$omp para&\n!$omp&llel\n!$omp end parallel\nend",
                "parallel 3-3!4",
            ),
            (
                "!$omp parallel private(a) first&\n!$ompprivate(b)\n!$omp end parallel\nend",
                "parallel private(a) firstprivate(b) 3-3!4",
            ),
            ("!$omp threadprivate(/a/, b)\nend", "threadprivate"),
            (
                "!$omp parallel copyin(/a/)\n!$omp end parallel\nend",
                "parallel copyin(/a/) 2-2!3",
            ),
            (
                "!$ompx foo\n!$acc loop\n!$ompparallel\n!omp barrier\nend",
                "",
            ),
            (
                "!$pomp inst begin(a)\n!$POMP INST END(a)\nend",
                "inst begin; inst end",
            ),
            (
                "!$omp nonsense\nend",
                "!$omp nonsense: 'nonsense' is no directive that is known",
            ),
            (
                "x = 'a &\n!$omp barrier\n& b'\nend",
                "!$omp barrier: it stands between the lines of a statement",
            ),
        ],
    );
}

#[test]
fn fixed_form() {
    check(
        FIXED,
        &[
            (
                "C$OMP PARALLEL DO\nc$omp+private(i)\nC comment\n\n*$omp&shared(a)\n      DO 10 I=1,N\n 10   CONTINUE\n      END",
                "parallel do private(i) shared(a) 6-8",
            ),
            (
                "!$OMP P A R A L L E L  D O\n      DO10I=1,N\n   10 CONTINUE\n!$OMP E N D PARALLEL DO\n      END",
                "parallel do 2-4!5",
            ),
            (
                "!$omp do\n      do i = 1,\n     & n\n      e n d d o\n      end",
                "do 2-5",
            ),
            (
                "!$omp do\n!$    do i = 1, n\nc$    end do\n      end",
                "do 2-4",
            ),
            (
                "!$omp do\nc$ 10 do i = 1, n\n!     end do\nd     end do\n      end do\n      end",
                "do 2-6",
            ),
            (
                "!$omp do                                                               d then\n      do i = 1, n                                                       then\n      end do\n      end",
                "do d 2-4",
            ),
            (
                "!$omp\tparallel\n\tx = 1\n\t1 + 2\n!$omp end parallel\n\tend",
                "parallel 2-4!5",
            ),
            (
                "      x = 'a ! b'; if (a) then ! c\n!$omp barrier\n      endif\n      end",
                "barrier",
            ),
            (
                "!$omp parallel\nc$omp&unknown\n!$omp end parallel\n      end",
                "parallel unknown 3-3!4",
            ),
            (" !$omp barrier\nc$omp&nowait\n      end", ""),
            ("c$pomp inst begin(a)\n      end", "inst begin"),
            (
                "!$omp critical\n      x = 'a\n     !b'\n!$omp end critical\n      end",
                "critical 2-4!5",
            ),
            (
                "!$omp do\n      do 1 0 i = 1, n\n 1 0  continue\n      end",
                "do 2-4",
            ),
            (
                "!$omp parallel\n      x = 1\n!$omp end parallel\n     &x = 2\n!$omp do\n      do i = 1, n\n      end do\nc\n!$omp&nowait\n      end",
                "parallel: the directive that ends it can't be used: a line behind it continues something else; do 6-8",
            ),
            (
                "!$omp master\n      block\n      end block\n!$ompdo\n      end",
                "master: a line behind it continues something else",
            ),
        ],
    );
}

#[test]
fn the_column_limit_is_that_of_the_layout() {
    let text = format!(
        "!$omp parallel{}nowait\n!$omp end parallel\n      end\n",
        " ".repeat(60)
    );
    assert_eq!(outline(&text, FIXED), "parallel 2-2!3");
    let wide = Layout {
        line_length: Some(132),
        ..FIXED
    };
    assert_eq!(outline(&text, wide), "parallel nowait 2-2!3");
}

#[test]
fn conditionals() {
    check(
        PREPROCESSED,
        &[
            // Only one of the two directives is compiled; both have the same loop.
            (
                "#ifdef A\n!$omp do\n#else\n!$omp do schedule(static)\n#endif\ndo i = 1, n\nend do\nend",
                "do 3-8; do schedule(static) 5-8",
            ),
            // The end directive is compiled whenever the directive is.
            (
                "#ifdef _OPENMP\n!$omp do\n#endif\ndo i = 1, n\nend do\n#ifdef _OPENMP\n!$omp end do\n#endif\nend",
                "do 3-7!8",
            ),
            (
                "#ifdef A\n!$omp do\n#endif\ndo i = 1, n\nend do\n#if defined(A)\n!$omp end do\n#endif\nend",
                "do 3-7!8",
            ),
            (
                "!$omp do\n#ifdef A\ndo i = 1, n\n#else\ndo i = 1, m\n#endif\nend do\nend",
                "do 2-8",
            ),
            (
                "!$omp do\ndo i = 1, n\n#ifdef A\nend do\n#endif\nx = 1\n#ifndef A\nend do\n#endif\nend",
                "do: it ends in different places in the branches of the conditional at line 3; preprocess the file first",
            ),
            (
                "!$omp do\ndo i = 1, n\nend do\n#ifdef A\n!$omp end do nowait\n#endif\nend",
                "do nowait: it ends in different places in the branches of the conditional at line 4; preprocess the file first",
            ),
            (
                "!$omp parallel &\n#ifdef A\n!$omp private(a)\n#endif\n!$omp end parallel\nend",
                "!$omp parallel private(a): preprocessor lines stand inside of it",
            ),
            (
                "#if 0\n!$omp barrier\n#endif\n#define X \\\n!$omp barrier\n/* c\n!$omp barrier\n*/\nend",
                "barrier",
            ),
        ],
    );
    let guarded = |text: &str| match &find(text, PREPROCESSED).directives[0].extent {
        Extent::Body(body) => body.guarded,
        _ => false,
    };
    assert!(guarded(
        "#ifdef A\n!$omp do\n#endif\ndo i = 1, n\nend do\nend\n"
    ));
    assert!(!guarded(
        "#ifdef A\n!$omp do\ndo i = 1, n\nend do\n#endif\nend\n"
    ));
}

#[test]
fn units() {
    let text = "module m\ncontains\nsubroutine a\n!$omp barrier\ncontains\nfunction b()\n!$omp barrier\n\
                end function\nend subroutine\nend module\nprogram p\n!$omp barrier\nend\n\
                subroutine c\n!$omp barrier\nend\n";
    let found = find(text, FREE);
    let name =
        |directive: &FoundDirective| directive.function.as_ref().map(|unit| unit.name.clone());
    let names: Vec<_> = found.directives.iter().filter_map(name).collect();
    assert_eq!(names, ["a", "b", "p", "c"]);
}

#[test]
fn procedures_for_a_device() {
    for (text, expected) in [
        (
            "subroutine s\ncontains\nsubroutine t\n!$omp declare target\nend\nend\n",
            &[(3, 5)][..],
        ),
        ("subroutine s\n!$omp declare target(t)\nend\n", &[]),
    ] {
        let found = find(text, FREE);
        let line = |at| found.lines.physical(at);
        let device = found.device.iter();
        let lines: Vec<_> = device
            .map(|range| (line(range.start), line(range.end)))
            .collect();
        assert_eq!(lines, expected, "{text}");
    }
}

#[test]
fn calls_of_lock_routines() {
    let calls = |text: &str| {
        let text = format!("{text}\n");
        let found = find(&text, FREE);
        let show = |call: &crate::find::FoundCall| {
            format!(
                "{} {}",
                &text[call.name.clone()],
                &text[call.arguments..=call.arguments]
            )
        };
        found.calls.iter().map(show).collect::<Vec<_>>().join("; ")
    };
    for (text, expected) in [
        ("call OMP_Set_Lock (l)\nend", "OMP_Set_Lock l"),
        (
            "if (omp_test_lock(l)) call omp_unset_lock(k)\nend",
            "omp_test_lock l; omp_unset_lock k",
        ),
        ("logical omp_test_lock\nexternal omp_set_lock\nend", ""),
        (
            "x = a%omp_test_lock(l)\n! call omp_set_lock(l)\ny = 'omp_test_lock(l)'\nend",
            "",
        ),
        (
            "call omp_set_lock(l)\nend\nsubroutine omp_set_lock(l)\nend",
            "",
        ),
        (
            "interface\nsubroutine omp_set_lock(l)\nend subroutine\nend interface\ncall omp_set_lock(l)\nend",
            "omp_set_lock l",
        ),
        (
            "call omp_set_lock(l); call omp_set_nest_lock(m)\nend",
            "omp_set_lock l; omp_set_nest_lock m",
        ),
    ] {
        assert_eq!(calls(text), expected, "{text}");
    }
}

/// `|` and `^` mark the place of a statement that tells the call site.
#[test]
fn what_can_be_executed_before_a_call_in_an_expression() {
    let marked = |text: &str| {
        let mut text = format!("{text}\nend\n");
        let found = find(&text, FREE);
        let places = found.calls.iter().filter_map(|call| call.before);
        let mut places: Vec<_> = places
            .map(|before| (before.at, before.line_start))
            .collect();
        places.dedup();
        for (at, line_start) in places.into_iter().rev() {
            text.insert_str(at, if line_start { "|" } else { "^" });
        }
        text.trim_end_matches("end\n").trim_end().to_owned()
    };
    for expected in [
        "|b = omp_test_lock(l)",
        "a = 1; ^b = omp_test_lock(l)",
        "|  10 if (omp_test_lock(l)) goto 20",
        "|x: do while (.not. omp_test_lock(l))\nend do x",
        "do i = 1, omp_test_nest_lock(l)\nend do",
        "a = 1\n|if (b) then\nif (c) then\nend if\nelse if (omp_test_lock(l)) then\nend if",
        "|select case (omp_test_nest_lock(l))\nend select",
        "!$omp single\n| b = &\n ! c\n omp_test_lock(l)\n!$omp end single",
    ] {
        let text = expected.replace(['|', '^'], "");
        assert_eq!(marked(&text), expected);
    }
}

#[test]
fn a_main_program_has_its_name() {
    for (text, name) in [
        (
            "module m\nend module\nprogram Walk\nend program\n",
            Some("walk"),
        ),
        ("!$omp barrier\nend\n", None),
        ("#if A\nprogram p\n#else\nprogram q\n#endif\nend\n", None),
    ] {
        let source = Source {
            name: "t.F90".into(),
            language: Language::Fortran,
            text: text.as_bytes().to_vec(),
            layout: PREPROCESSED,
            undefined: crate::source::UndefinedMacros::new(),
        };
        assert_eq!(
            FortranFrontEnd.read(&source).main_program().as_deref(),
            name
        );
    }
}
