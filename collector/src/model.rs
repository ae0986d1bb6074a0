//! The user's model of a call stack: functions as they stand in the source.
//!
//! - The frames of the callback, up to the probe of the measurement library, are removed.
//! - Frames of the OpenMP runtime and the system are removed.
//! - A function that a compiler made from a region's body becomes the function that contains the
//!   region. If that function follows on the stack, the two become one.

use crate::places::SourceLine;

/// A function of the user's, with the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) function: String,
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// Parts of names that compilers give to the bodies of regions. The text in front of the part is
/// the function's name, if there is any.
const OUTLINED: &[&str] = &["._omp_fn.", ".omp_outlined", "__nv_", "..omp_par"];

/// The beginnings of the names of probes, of the measurement library and of runtimes.
const PROBES: &[&str] = &[
    "POMP_",
    "POMP2_",
    "pomp_",
    "pompf_",
    "pomp2_",
    "__omp_collector_api",
];
const RUNTIME: &[&str] = &[
    "GOMP_",
    "gomp_",
    "__kmp",
    "__kmpc",
    "start_thread",
    "clone",
    "__clone",
    "__libc_start",
    "_start",
    "__GI_",
    "romp_",
];
/// Parts of the names of files that hold runtimes.
const LIBRARIES: &[&str] = &[
    "libgomp",
    "libomp",
    "libiomp",
    "libc.so",
    "libpthread",
    "libpomp",
];

fn begins(name: &str, with: &[&str]) -> bool {
    with.iter().any(|begin| name.starts_with(begin))
}

/// The name of the function whose region has this function as its body; empty if the compiler does
/// not say.
fn outlined(name: &str) -> Option<&str> {
    OUTLINED
        .iter()
        .find_map(|mark| name.find(mark))
        .map(|at| &name[..at])
}

/// Whether the place is in the measurement library, which may be part of the program, or in this
/// library.
fn is_ours(place: &SourceLine) -> bool {
    let is_in = |part: &&str| place.function.contains(part);
    begins(&place.function, PROBES)
        || is_short_name(&place.function)
        || ["4pomp", "romp_collector"].iter().any(is_in)
        || place.module.contains("libromp")
        || place.module.contains("libpomp")
}

/// Whether `packaging/archive` gives this name to a function within the library. An entry point
/// may have jumped to it, and then it is the first of our functions on the stack.
fn is_short_name(function: &str) -> bool {
    let digits = function.strip_prefix("romp").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The model of a stack of one thread, innermost first, and whether it ends in the
/// body of a region.
fn of_thread(places: &[SourceLine]) -> (Vec<Step>, bool) {
    let probe = places.iter().rposition(is_ours);
    let mut steps: Vec<Step> = Vec::new();
    let mut is_body = false;
    for place in &places[probe.map_or(0, |probe| probe + 1)..] {
        let is_library = LIBRARIES
            .iter()
            .any(|library| place.module.contains(library));
        if is_library || begins(&place.function, RUNTIME) || place.function.is_empty() {
            continue;
        }
        let body_of = outlined(&place.function);
        let function = body_of.unwrap_or(&place.function).to_owned();
        let is_same = |last: &Step| last.function.is_empty() || last.function == function;
        match steps.last_mut().filter(|last| is_body && is_same(last)) {
            // The place within the region says more than the place where the region is begun.
            Some(last) => last.function = function,
            None => steps.push(Step {
                function,
                file: place.file.clone(),
                line: place.line,
            }),
        }
        is_body = body_of.is_some();
    }
    (steps, is_body)
}

/// The model of a stack across teams, outermost first.
pub(crate) fn model(threads: &[Vec<SourceLine>]) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    let mut ended_in_body = false;
    for places in threads {
        let (steps, is_body) = of_thread(places);
        let mut steps = steps.into_iter().peekable();
        // The thread that forked is in the function to which the region of this thread belongs.
        if let (Some(last), Some(next)) = (all.last_mut().filter(|_| ended_in_body), steps.peek())
            && (last.function.is_empty() || last.function == next.function)
        {
            last.function.clone_from(&next.function);
            steps.next();
        }
        all.extend(steps);
        ended_in_body = is_body;
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> SourceLine {
        let (function, line) = text.split_once(':').unwrap_or((text, "0"));
        let module = if function.starts_with("GOMP") {
            "libgomp.so.1"
        } else {
            "app"
        };
        SourceLine {
            function: function.to_owned(),
            file: "a.c".to_owned(),
            line: line.parse().unwrap_or(0),
            module: module.to_owned(),
        }
    }

    fn shown(threads: &[&[&str]]) -> String {
        let threads: Vec<Vec<SourceLine>> = threads
            .iter()
            .map(|thread| thread.iter().map(|text| place(text)).collect())
            .collect();
        let steps = model(&threads).into_iter();
        let steps = steps.map(|step| format!("{}:{}", step.function, step.line));
        steps.collect::<Vec<_>>().join(" > ")
    }

    #[test]
    fn a_join_has_the_stack_of_the_function() {
        let stack = [
            "on_event",
            "tell",
            "POMP_Parallel_join",
            "solve:12",
            "main:30",
            "_start",
        ];
        assert_eq!(shown(&[&stack]), "main:30 > solve:12");
    }

    #[test]
    fn bodies_of_regions_are_folded_into_their_functions() {
        let master = [
            "on_event",
            "POMP_Barrier_exit",
            "inner:7",
            "solve._omp_fn.0:14",
            "GOMP_parallel",
            "solve:12",
            "main:30",
        ];
        assert_eq!(shown(&[&master]), "main:30 > solve:14 > inner:7");
        let nameless = [
            "POMP_Barrier_exit",
            ".omp_outlined.:14",
            "__kmp_invoke",
            "solve:12",
            "main:3",
        ];
        assert_eq!(shown(&[&nameless]), "main:3 > solve:14");
    }

    #[test]
    fn a_worker_goes_on_in_the_thread_that_forked() {
        let worker = [
            "POMP_Barrier_exit",
            "solve._omp_fn.0:14",
            "gomp_thread_start",
            "start_thread",
        ];
        let join = ["POMP_Parallel_join", "solve:12", "main:30"];
        assert_eq!(shown(&[&worker, &join]), "main:30 > solve:14");
        // The probe may be missing on the stack: it has jumped into the library.
        let jumped = [
            "_ZN14romp_collector8on_event",
            "_ZN4pomp8recorded",
            "main:30",
        ];
        assert_eq!(shown(&[&jumped]), "main:30");
        let archived = [
            "_ZN14romp_collector8on_event",
            "romp9006",
            "romp9612",
            "main:30",
        ];
        assert_eq!(shown(&[&archived]), "main:30");
        // The body belongs to another function than the stack says: both stay.
        let other = ["POMP_Parallel_join", "other:1", "main:30"];
        assert_eq!(shown(&[&worker, &other]), "main:30 > other:1 > solve:14");
    }
}
