//! Texts that repeat one shape are instrumented however often it is repeated.
//!
//! `examples/growth.rs` measures how time grows. This test asserts no time: work that grew
//! with the square of the text would not end within the deadline.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::sync::mpsc;
use std::time::Duration;

use tests::growth::{DIALECTS, shapes};

/// Far longer than the work takes.
const DEADLINE: Duration = Duration::from_secs(600);

/// The stack of a thread on systems with small stacks.
const STACK: usize = 2 << 20;

/// Runs something on a small stack; fails if it does not end.
fn within_deadline(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let run = move || {
        work();
        done.send(()).unwrap();
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    let waited = wait.recv_timeout(DEADLINE);
    assert_ne!(
        waited,
        Err(mpsc::RecvTimeoutError::Timeout),
        "it does not end"
    );
    thread.unwrap().join().unwrap();
}

#[test]
fn every_shape_is_survived() {
    for dialect in DIALECTS {
        within_deadline(|| {
            for shape in shapes().filter(|shape| shape.dialect.name == dialect.name) {
                // If the test crashes, its output names the shape.
                println!("{shape}");
                shape.work(shape.text(12));
            }
        });
    }
}

/// Shapes whose time once grew with the square of their number, or whose stack grew with it.
#[rustfmt::skip]
const MANY: &[(&str, &str)] = &[
    ("C, in a construct, Openings: (\"[[\"", "unclosed brackets"),
    ("C++, in a construct, Openings: (\"R\\\"(\"", "raw strings"),
    ("C++, in a construct, Openings: (\"R\\\"%(\"", "raw strings, each with another delimiter"),
    ("C, in a construct, Row: (\"#ifdef A\\nx;\\n#else", "alternatives"),
    ("C, in a construct, Openings: (\"#ifdef A\\nfor (;;) {\\n#else", "alternative braces"),
    ("C, in a construct, Row: (\"#ifdef A\\nfor (;;) {\\n#else", "alternative braces"),
    ("C, in a construct, Openings: (\"\\n#pragma omp section\\n", "sections"),
    ("C, in a construct, Openings: (\"\\n#pragma omp sections\\n{ x;", "sections"),
    ("C, in a construct, Nested: (\"\\n#pragma pomp inst begin(a%)", "user regions"),
    ("C, in a construct, Nested: (\"{\"", "blocks"),
    ("C, in a construct, Nested: (\"(\"", "parentheses"),
    ("C, in a construct, Nested: (\"\\n#pragma omp parallel\\n{", "constructs"),
    ("C, in a construct, Nested: (\"#ifdef A\\n\"", "conditionals"),
    ("C, in a construct, Openings: (\"if (a) \"", "conditions"),
    ("fixed form, in a construct, Nested: (\"      do i = 1, 9\\n\"", "loops"),
    ("Fortran, in a construct, Nested: (\"!$omp parallel\\n\"", "constructs"),
    ("Fortran, in a construct, Row: (\"\\n#ifdef A\\n      x = 1\\n#else", "alternatives"),
    ("Fortran, in a construct, Nested: (\"      if (a) then\\n\"", "conditions"),
];

#[test]
fn many_of_a_shape_are_looked_at_in_time() {
    within_deadline(|| {
        for (name, what) in MANY {
            let mut wanted = shapes().filter(|shape| shape.to_string().starts_with(name));
            let shape = wanted
                .next()
                .unwrap_or_else(|| panic!("no shape is {name}"));
            println!("{what}: {shape}");
            shape.work(shape.text(8_000));
        }
    });
}

/// The contents of brackets, conditions and constructs are followed without recursion.
#[test]
fn no_depth_exhausts_the_stack() {
    within_deadline(|| {
        for name in [
            "C++, in a construct, Nested: (\"{\"",
            "C, in a construct, Nested: (\"(\"",
            "Fortran, in a statement, Nested: (\"(\"",
        ] {
            let shape = shapes()
                .find(|shape| shape.to_string().starts_with(name))
                .unwrap();
            shape.work(shape.text(100_000));
        }
    });
}
