//! A generator of valid OpenMP programs in Fortran, by the same rules as the one
//! for C. A program is made of logical lines, which are written in either source
//! form.
//!
//! `lines` lays lines out, `statements` makes statements, `constructs` those with
//! directives.

mod constructs;
mod lines;
mod statements;

use std::fmt::Write as _;

pub use lines::Layout;

use super::words::Writer;
use super::{Allowed, Dialect};
use lines::{Line, code, directive};

/// The parts of the program that are written so far.
struct Fortran {
    words: Writer,
    /// Names of module variables, with their initial values.
    globals: Vec<(String, i64)>,
    /// Names of module arrays.
    arrays: Vec<String>,
    /// Subroutines of the module.
    subroutines: Vec<Line>,
    /// The loop variables that the unit that is being written needs.
    indices: Vec<String>,
    /// The last label.
    label: u32,
    preprocessed: bool,
}

/// The text of the program that a seed stands for. The same seed stands for the
/// same program in every layout.
#[must_use]
pub fn program(seed: u64, layout: Layout) -> String {
    let mut writer = Fortran {
        words: Writer::new(seed, Dialect::C),
        globals: Vec::new(),
        arrays: Vec::new(),
        subroutines: Vec::new(),
        indices: Vec::new(),
        label: 10,
        preprocessed: layout.preprocessed,
    };
    let serial = Allowed {
        depth: 4,
        parallel: 0,
        shared: false,
        free: true,
        cancel: None,
    };
    let mut body = Vec::new();
    for _ in 0..3 {
        body.extend(writer.team(serial));
        body.extend(writer.statement(serial));
    }
    lines::text(&writer.finish(body), layout, seed)
}

impl Fortran {
    fn below(&mut self, end: u64) -> u64 {
        self.words.below(end)
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.words.once_in(times)
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        self.words.one_of(texts)
    }

    fn number(&mut self) -> usize {
        self.words.number()
    }

    /// A new variable that constructs share.
    fn global(&mut self, value: i64) -> String {
        let name = format!("g{}", self.number());
        self.globals.push((name.clone(), value));
        name
    }

    /// A new loop variable of the unit that is being written.
    fn index(&mut self) -> String {
        let name = format!("i{}", self.number());
        self.indices.push(name.clone());
        name
    }

    fn new_label(&mut self) -> u32 {
        self.label += 10;
        self.label
    }

    /// A program unit of its own around what `body` writes.
    fn unit<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> (T, Vec<Line>) {
        let outer = std::mem::take(&mut self.indices);
        let made = body(self);
        let indices = std::mem::replace(&mut self.indices, outer);
        let declared = indices
            .chunks(6)
            .map(|names| code(format!("integer :: {}", names.join(", "))));
        (made, declared.collect())
    }

    /// The clauses `default(none)` and `shared` for the variables that lines refer to.
    fn default_none(&self, lines: &[Line]) -> String {
        // The variable of a simd loop would have to be listed; that of any other loop must not be.
        if lines.iter().any(|line| line.text.contains("simd")) {
            return String::new();
        }
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{}", line.text);
        }
        let used: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let globals = self.globals.iter().map(|(name, _)| name.as_str());
        let arrays = self.arrays.iter().map(String::as_str);
        let shared: Vec<&str> = globals
            .chain(arrays)
            .chain(["total", "yes", "no", "lock"])
            .filter(|name| used.contains(name))
            .collect();
        match shared.is_empty() {
            true => " default(none)".into(),
            false => format!(" default(none) shared({})", shared.join(", ")),
        }
    }

    /// The whole program.
    fn finish(mut self, body: Vec<Line>) -> Vec<Line> {
        let mut lines = vec![
            code("module generated"),
            code("use omp_lib"),
            code("implicit none"),
            code(format!("integer(8) :: total(0:{}) = 0", self.number())),
            code("logical, volatile :: yes = .true., no = .false."),
            code("integer(omp_lock_kind) :: lock"),
        ];
        for (name, value) in &self.globals {
            lines.push(code(format!("integer(8) :: {name} = {value}")));
        }
        for name in &self.arrays {
            lines.push(code(format!("integer(8) :: {name}(8) = 0")));
        }
        lines.push(code("contains"));
        lines.extend([
            code("subroutine add(k, v)"),
            code("integer, intent(in) :: k"),
            code("integer(8), intent(in) :: v"),
            directive("atomic"),
            code("total(k) = total(k) + v"),
            code("end subroutine add"),
        ]);
        lines.append(&mut self.subroutines);
        lines.push(code("end module generated"));
        lines.push(code("program main"));
        lines.push(code("use generated"));
        lines.push(code("implicit none"));
        for names in self.indices.chunks(6) {
            lines.push(code(format!("integer :: {}", names.join(", "))));
        }
        lines.push(code("call omp_init_lock(lock)"));
        lines.extend(body);
        lines.push(code("print '(i0)', total"));
        for (name, _) in &self.globals {
            lines.push(code(format!("print '(a,1x,i0)', '{name}', {name}")));
        }
        for name in &self.arrays {
            lines.push(code(format!("print '(a,8(1x,i0))', '{name}', {name}")));
        }
        lines.push(code("end program main"));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program_that_fits_its_lines() {
        for seed in 0..100 {
            for layout in Layout::ALL {
                let text = program(seed, layout);
                assert_eq!(text, program(seed, layout));
                let limit = if layout.fixed { 72 } else { 132 };
                assert!(text.lines().all(|line| line.len() <= limit), "{text}");
            }
        }
    }

    /// Every kind of construct is generated by some seed, or the comparison of
    /// runs would show nothing of it.
    #[test]
    fn every_construct_is_generated() {
        let all: String = (0..300)
            .map(|seed| program(seed, Layout::ALL[0]).to_lowercase())
            .collect();
        for words in [
            "parallel num_threads(2)",
            "parallel do simd",
            "parallel sections",
            "parallel workshare",
            "parallel master",
            "default(none)",
            "lastprivate(",
            "firstprivate(",
            "collapse(2)",
            "$omp ordered",
            "reduction(+",
            "copyprivate(",
            "end do nowait",
            "critical (",
            "task untied",
            "final(",
            "depend(out",
            "taskloop",
            "taskgroup",
            "atomic capture",
            "cancel do",
            "cancellation point",
            "omp_test_lock",
            "!$ ",
            "#ifdef _openmp",
            "continue",
            "select case",
            "associate",
        ] {
            assert!(all.contains(words), "{words}");
        }
    }
}
