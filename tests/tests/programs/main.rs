//! Every program in `fixtures/programs`: a known fault must show, with the share
//! that the comment at the top of the program works out. Shares are quotients of
//! wall-clock times of one run, so they don't depend on the machine's speed; a
//! tolerance of 0.1 leaves room for late wake-ups, and tells the fault from its
//! absence in every program.

mod figures;
mod properties;

use std::collections::BTreeMap;
use std::sync::RwLock;

use profile::model::{Profile, Span};
use profile::region_kind::PseudoRegion::{Body, Enter, Ibarr, Main};
use profile::region_kind::RegionKind::{
    Atomic, Barrier, Critical, Lock, Loop, Master, Ordered, Parallel, ParallelLoop, Section,
    Sections, Single,
};
use tests::fixture::Fixture;
use tests::run::{Build, Program, Ran, build, run};
use tests::shares::{Expected, Fault, Rows, ratio};
use tests::toolchain::{Compiler, romp_bin_dir};
use tests::{Outcome, invariants, retries};

const MS: u64 = 1_000_000;

/// A share that is worked out in the program's comment.
const fn about(share: f64) -> Expected {
    Expected { share, within: 0.1 }
}

/// A share of waiting where there must be next to none.
const NONE: Expected = about(0.0);

/// Measurements of one program before a wrong share fails the test: sleeping threads wake up
/// late if the machine has other work.
const ATTEMPTS: usize = 3;

/// Held for writing by a measured run and for reading by builds: no compiler of
/// another test runs beside a measured program.
static MACHINE: RwLock<()> = RwLock::new(());

/// One measured run of a program.
struct Measured<'a> {
    fixture: &'a Fixture,
    ran: Ran,
    profile: Profile,
}

/// Builds a program with each compiler, plain and measured, compares what both
/// print, and hands the measured run to a check.
fn each_compiler(name: &str, check: impl Fn(&Measured) -> Result<(), Fault>) {
    for compiler in ["gcc", "clang"] {
        let checked = checked(name, compiler, &check);
        checked.unwrap_or_else(|message| panic!("{name} with {compiler}: {message}"));
    }
}

/// The result of a check for a measured run of a program built with a compiler.
fn checked<T>(
    name: &str,
    compiler: &str,
    check: impl Fn(&Measured) -> Result<T, Fault>,
) -> Outcome<T> {
    let fixture = Fixture::read(&format!("programs/{name}.c"))?;
    let (program, printed) = build_both(&fixture, compiler)?;
    retries::measured(&format!("{name} with {compiler}"), ATTEMPTS, || {
        let measured = measure(&fixture, &program, &printed)?;
        check(&measured)
    })
}

/// Builds both; returns the measured program and the output of the plain one.
fn build_both(fixture: &Fixture, compiler: &str) -> Outcome<(Program, String)> {
    let _machine = MACHINE.read().map_err(|e| e.to_string())?;
    let bin = romp_bin_dir()?;
    let compiler = Compiler::find(compiler)?;
    let plain = run(
        fixture,
        &build(fixture, &compiler, "c99", Build::Plain)?,
        &[],
    )?;
    plain.must_be_right()?;
    let program = build(fixture, &compiler, "c99", Build::Instrumented(&bin))?;
    Ok((program, plain.stdout()))
}

fn measure<'a>(fixture: &'a Fixture, program: &Program, printed: &str) -> Outcome<Measured<'a>> {
    let _machine = MACHINE.write().map_err(|e| e.to_string())?;
    let ran = run(fixture, program, &[])?;
    ran.must_be_right()?;
    if ran.stdout() != printed {
        return Err(format!(
            "printed '{}' and without measurement '{printed}'",
            ran.stdout()
        ));
    }
    let profile = ran.profile()?;
    let mut problems = invariants::contradictions(&profile);
    problems.extend(invariants::missing(&profile, &fixture.header));
    if problems.is_empty() {
        return Ok(Measured {
            fixture,
            ran,
            profile,
        });
    }
    Err(problems.join("\n"))
}

impl Measured<'_> {
    /// The one line on stderr.
    fn headline(&self) -> Outcome<String> {
        let stderr = self.ran.stderr();
        require(stderr.lines().count() == 1, || {
            format!("not one line on stderr: '{stderr}'")
        })?;
        Ok(stderr)
    }

    /// The headline must name this place as the one where most time was lost.
    fn blames(&self, rows: &Rows<'_>) -> Result<(), Fault> {
        let place = format!(" at {}:", rows.place());
        let headline = self.headline()?;
        if headline.contains(&place) {
            return Ok(());
        }
        Err(Fault::Share(format!("not{place} in '{headline}'")))
    }
}

/// Returns the sentence as an error if the condition does not hold.
fn require(holds: bool, sentence: impl FnOnce() -> String) -> Outcome<()> {
    if holds { Ok(()) } else { Err(sentence()) }
}

fn counts(spans: &BTreeMap<Vec<u32>, Span>) -> Vec<u64> {
    spans.values().map(|span| span.count).collect()
}

#[test]
fn imbalance_in_parallel_loop() {
    each_compiler("imbalance_in_parallel_loop", |measured| {
        let rows = Rows::of_kind(&measured.profile, Loop)?;
        measured.blames(&rows)?;
        about(1.0 / 6.0).compare("waiting at the loop's end", rows.exit_wait())?;
        let main = rows.by_thread(Main);
        require(counts(&main) == [3; 4], || format!("executions {main:?}"))?;
        let waits = rows.by_thread(Ibarr);
        for (thread, wait) in &waits {
            let expected = if thread.last() < Some(&2) {
                about(1.0 / 3.0)
            } else {
                NONE
            };
            expected.compare(
                &format!("wait of {thread:?}"),
                ratio(wait.ns, main[thread].ns),
            )?;
        }
        require(waits.len() == 4, || format!("waits of {waits:?}"))?;
        Ok(())
    });
}

#[test]
fn triangular() {
    each_compiler("triangular", |measured| {
        let of = |function: &str| {
            let line = measured.fixture.line_of(function)?;
            Rows::from_line(&measured.profile, ParallelLoop, line)
        };
        let fixed = of("static void triangle_static(void)")?;
        let dynamic = of("static void triangle_dynamic(void)")?;
        measured.blames(&fixed)?;
        about(96.0 / 232.0).compare("wait, static", fixed.exit_wait())?;
        // One iteration that goes to another thread than in the comment's sums costs 0.03.
        Expected {
            share: 0.0,
            within: 0.15,
        }
        .compare("wait, dynamic", dynamic.exit_wait())?;
        // POMPROF's load imbalance is about work, so about the body.
        let body = fixed.by_thread(Body);
        for ((thread, work), units) in body.iter().zip([58.0, 42.0, 26.0, 10.0]) {
            about(units / 136.0).compare(
                &format!("work of {thread:?}"),
                ratio(work.ns, fixed.sum(Body).ns),
            )?;
        }
        require(body.len() == 4, || format!("work of {body:?}"))?;
        let faster = ratio(dynamic.sum(Main).ns, fixed.sum(Main).ns);
        about(34.0 / 58.0).compare("time of dynamic to static", faster)
    });
}

#[test]
fn nested() {
    each_compiler("nested", |measured| {
        let region = |function: &str| {
            let line = measured.fixture.line_of(function)?;
            Rows::from_line(&measured.profile, Parallel, line)
        };
        let inner = region("static void inner_team")?;
        let outer = region("int main(void)")?;
        // Without the waits of either, the run would take 300 ms of 400.
        measured
            .blames(&inner)
            .or_else(|_| measured.blames(&outer))?;
        let body = inner.by_thread(Body);
        let paths: Vec<_> = body.keys().cloned().collect();
        require(
            paths == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]],
            || format!("threads {paths:?}"),
        )?;
        require(counts(&body) == [1, 1, 2, 2], || {
            format!("executions {body:?}")
        })?;
        for ((thread, work), ms) in body.iter().zip([100.0, 200.0, 200.0, 400.0]) {
            about(ms / 900.0).compare(
                &format!("work of {thread:?}"),
                ratio(work.ns, inner.sum(Body).ns),
            )?;
        }
        about(0.25).compare("wait of the inner teams", inner.exit_wait())?;
        about(0.25).compare("wait of the outer team", outer.exit_wait())
    });
}

#[test]
fn lock_convoy() {
    each_compiler("lock_convoy", |measured| {
        let line = measured.fixture.line_of("omp_set_lock(&lock)")?;
        measured.blames(&Rows::from_line(&measured.profile, Lock, line)?)?;
        let locks = Rows::of_kind(&measured.profile, Lock)?;
        about(0.6).compare(
            "waiting for the lock",
            locks.share(&[Enter], &[Enter, Body]),
        )?;
        let held = locks.sum(Body);
        require(held.count == 24, || format!("held {} times", held.count))?;
        let region = Rows::of_kind(&measured.profile, Parallel)?.sum(Main).ns;
        about(0.375).compare("part of the region", ratio(locks.sum(Enter).ns, region))?;
        let barrier = Rows::of_kind(&measured.profile, Barrier)?.sum(Main).ns;
        NONE.compare("barrier", ratio(barrier, region))
    });
}

#[test]
fn critical_contention() {
    each_compiler("critical_contention", |measured| {
        let critical = Rows::of_kind(&measured.profile, Critical)?;
        measured.blames(&critical)?;
        about(0.6).compare("enterT of execT", critical.share(&[Enter], &[Main]))?;
        about(0.4).compare("bodyT of execT", critical.share(&[Body], &[Main]))?;
        let main = critical.by_thread(Main);
        require(counts(&main) == [6; 4], || format!("executions {main:?}"))?;
        let name = measured
            .profile
            .regions
            .iter()
            .find_map(|region| region.name.as_deref());
        require(name == Some("accumulate"), || format!("the name {name:?}"))?;
        let parallel = Rows::of_kind(&measured.profile, ParallelLoop)?;
        let part = ratio(critical.sum(Enter).ns, parallel.sum(Main).ns);
        about(0.375).compare("part of the loop", part)?;
        NONE.compare("waiting at the loop's end", parallel.exit_wait())
    });
}

#[test]
fn unbalanced_sections() {
    each_compiler("unbalanced_sections", |measured| {
        let cases: [(&str, f64, &[u64]); 3] = [
            ("static void not_enough(void)", 0.5, &[1, 1]),
            (
                "static void uneven_distribution(void)",
                0.375,
                &[1, 1, 1, 2],
            ),
            ("static void uneven_work(void)", 0.5, &[1, 1, 1, 1]),
        ];
        for (function, share, executed) in cases {
            let line = measured.fixture.line_of(function)?;
            let rows = Rows::from_line(&measured.profile, Sections, line)?;
            about(share).compare(function, rows.exit_wait())?;
            let mut sections = counts(&rows.inside(Section)?.by_thread(Main));
            sections.sort_unstable();
            require(sections == executed, || {
                format!("{function}: {sections:?} sections")
            })?;
            let threads = rows.by_thread(Main);
            require(counts(&threads) == [1; 4], || {
                format!("{function}: {threads:?}")
            })?;
        }
        let line = measured.fixture.line_of("static void uneven_work(void)")?;
        measured.blames(&Rows::from_line(&measured.profile, Sections, line)?)
    });
}

#[test]
fn serial_single() {
    each_compiler("serial_single", |measured| {
        let single = Rows::of_kind(&measured.profile, Single)?;
        measured.blames(&single)?;
        about(0.75).compare("waiting for the single", single.exit_wait())?;
        require(single.sum(Body).count == 2, || {
            format!("{:?} singles", single.sum(Body))
        })?;
        let balanced = Rows::of_kind(&measured.profile, Loop)?;
        NONE.compare("the balanced loop", balanced.exit_wait())?;
        let region = Rows::of_kind(&measured.profile, Parallel)?.sum(Main).ns;
        about(0.5625).compare("part of the region", ratio(single.sum(Ibarr).ns, region))
    });
}

#[test]
fn serial_master() {
    each_compiler("serial_master", |measured| {
        let master = Rows::of_kind(&measured.profile, Master)?.by_thread(Main);
        let executed: Vec<_> = master
            .iter()
            .map(|(thread, span)| (thread.as_slice(), span.count))
            .collect();
        require(executed == [(&[0, 0][..], 3)], || {
            format!("executions {executed:?}")
        })?;
        measured.blames(&Rows::from_line(&measured.profile, Barrier, 0)?)?;
        let waits = Rows::of_kind(&measured.profile, Barrier)?.by_thread(Main);
        let region = Rows::of_kind(&measured.profile, Parallel)?.by_thread(Main);
        for (thread, wait) in &waits {
            let expected = if thread.ends_with(&[0]) {
                NONE
            } else {
                about(1.0)
            };
            expected.compare(
                &format!("barriers of {thread:?}"),
                ratio(wait.ns, region[thread].ns),
            )?;
        }
        require(waits.len() == 4, || format!("waits of {waits:?}"))?;
        Ok(())
    });
}

#[test]
fn ordered_loop() {
    each_compiler("ordered_loop", |measured| {
        let ordered = Rows::of_kind(&measured.profile, Ordered)?;
        measured.blames(&ordered)?;
        about(30.0 / 46.0).compare("waiting for the turn", ordered.share(&[Enter], &[Main]))?;
        require(ordered.sum(Main).count == 16, || {
            format!("{:?} turns", ordered.sum(Main))
        })?;
        let parallel = Rows::of_kind(&measured.profile, ParallelLoop)?;
        Expected {
            share: 6.0 / 68.0,
            within: 0.05,
        }
        .compare("waiting at the loop's end", parallel.exit_wait())
    });
}

#[test]
fn frequent_atomic() {
    each_compiler("frequent_atomic", |measured| {
        let atomic = Rows::of_kind(&measured.profile, Atomic)?.sum(Main);
        require(atomic.count == 1_000_000, || {
            format!("{} atomics", atomic.count)
        })?;
        let region = Rows::of_kind(&measured.profile, ParallelLoop)?.sum(Main);
        let each_second = atomic.count * 1_000 * MS / region.ns;
        require(each_second > 1_000, || {
            format!("{each_second} atomics a second")
        })?;
        Ok(())
    });
}

/// The two versions of quicksort are compared with each other.
#[test]
fn quicksort() {
    for compiler in ["gcc", "clang"] {
        let global = checked("quicksort_global_stack", compiler, global_stack);
        let local = global.and_then(|entries| {
            checked("quicksort_local_stacks", compiler, |measured| {
                local_stacks(measured, entries)
            })
        });
        local.unwrap_or_else(|message| panic!("quicksort with {compiler}: {message}"));
    }
}

/// Returns how often the critical sections were executed.
fn global_stack(measured: &Measured) -> Result<u64, Fault> {
    let printed = measured.ran.stdout();
    let pushes: Option<u64> = printed.split(' ').find_map(|word| word.parse().ok());
    let line = measured.fixture.line_of("static void push")?;
    let push = Rows::from_line(&measured.profile, Critical, line)?
        .sum(Main)
        .count;
    require(Some(push) == pushes, || {
        format!("{push} executions for {pushes:?} pushes")
    })?;
    let line = measured.fixture.line_of("static int pop")?;
    let pop = Rows::from_line(&measured.profile, Critical, line)?
        .sum(Main)
        .count;
    require(pop >= push, || format!("{pop} executions for {push} pops"))?;
    // About half by the times that the program asks for. On a loaded machine the threads
    // that hold the stack sleep longer, and all others queue longer.
    Expected {
        share: 0.65,
        within: 0.25,
    }
    .compare(
        "getting into the critical sections",
        part_of_entering(measured)?,
    )?;
    Ok(push + pop)
}

fn local_stacks(measured: &Measured, before: u64) -> Result<(), Fault> {
    let critical = Rows::of_kind(&measured.profile, Critical)?.sum(Main).count;
    require(critical * 3 < before, || {
        format!("{critical} entries of critical sections, before {before}")
    })?;
    NONE.compare(
        "getting into the critical sections",
        part_of_entering(measured)?,
    )
}

fn part_of_entering(measured: &Measured) -> Outcome<f64> {
    let region = Rows::of_kind(&measured.profile, Parallel)?.sum(Main).ns;
    Ok(ratio(
        Rows::of_kind(&measured.profile, Critical)?.sum(Enter).ns,
        region,
    ))
}

#[test]
fn clean() {
    const LITTLE: Expected = Expected {
        share: 0.0,
        within: 0.05,
    };
    each_compiler("clean", |measured| {
        let profile = &measured.profile;
        let region = Rows::of_kind(profile, Parallel)?;
        LITTLE.compare("waiting at the region's end", region.exit_wait())?;
        LITTLE.compare(
            "waiting at the loop's end",
            Rows::of_kind(profile, Loop)?.exit_wait(),
        )?;
        let barrier = Rows::of_kind(profile, Barrier)?.sum(Main);
        LITTLE.compare("barrier", ratio(barrier.ns, region.sum(Main).ns))?;
        let headline = measured.headline()?;
        if headline.contains("clean.c:") {
            return Err(Fault::Share(format!("complains: '{headline}'")));
        }
        let critical = Rows::of_kind(profile, Critical)?;
        require(critical.sum(Main).count == 8, || {
            format!("{:?}", critical.sum(Main))
        })?;
        LITTLE.compare(
            "critical",
            ratio(critical.sum(Main).ns, region.sum(Main).ns),
        )
    });
}
