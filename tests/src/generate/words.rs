//! Random choices, and the parts that a program is put together from.

use std::fmt::Write as _;

use super::Dialect;
use crate::random::Random;

/// An object that counts what is done to it and its copies.
const COUNTED: &str = "\
struct Counted {
    long *count;
    explicit Counted(long *c = sum) : count(c) {}
    Counted(const Counted &o) : count(o.count) { add(100); }
    Counted &operator=(const Counted &o) { count = o.count; add(1000); return *this; }
    ~Counted() { add(10000); }
    void touch() { add(1); }
    void add(long v) { __atomic_fetch_add(count, v, __ATOMIC_RELAXED); }
};
";

/// The parts of the program that are written so far.
pub(super) struct Writer {
    random: Random,
    pub(super) dialect: Dialect,
    /// Names of global variables, with their initial values.
    globals: Vec<(String, i64)>,
    /// Functions in front of `main`.
    pub(super) functions: Vec<String>,
    /// Names and types of variables that they use.
    variables: Vec<(String, String)>,
    /// Number of the next construct.
    next: usize,
}

impl Writer {
    pub(super) fn new(seed: u64, dialect: Dialect) -> Self {
        Self {
            random: Random::new(seed),
            dialect,
            globals: Vec::new(),
            functions: Vec::new(),
            variables: Vec::new(),
            next: 0,
        }
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.random.below(end)
    }

    /// True once in `times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.random.once_in(times)
    }

    pub(super) fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        self.random.one_of::<&str>(texts)
    }

    /// A new number.
    pub(super) fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// A new global variable.
    pub(super) fn global(&mut self, value: i64) -> String {
        let name = format!("g{}", self.number());
        self.globals.push((name.clone(), value));
        name
    }

    /// Registers a variable that a function in front of `main` uses. A lock is initialised.
    pub(super) fn declared(&mut self, kind: &str, name: &str) {
        self.variables.push((name.to_owned(), kind.to_owned()));
    }

    /// A directive with lines of its own, in one of the spellings.
    pub(super) fn directive(&mut self, words: &str) -> String {
        match self.below(12) {
            0 => format!("\n_Pragma(\"omp {words}\")\n"),
            1 => format!("\n#ifdef _OPENMP\n#pragma omp {words}\n#endif\n"),
            2 => format!(
                "\n#  pragma omp {}\n",
                words.replacen(' ', " \\\n      ", 1)
            ),
            3 => format!("\n#pragma omp {words} // {words} {{\n"),
            _ => format!("\n#pragma omp {words}\n"),
        }
    }

    /// The clauses `default(none)` and `shared` for the variables that a text refers to.
    pub(super) fn default_none(&self, text: &str) -> String {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let used: Vec<&str> = words.collect();
        let globals = self.globals.iter().map(|(name, _)| name.as_str());
        let shared: Vec<&str> = globals
            .chain(self.variables.iter().map(|(name, _)| name.as_str()))
            .chain(["sum", "yes", "no", "lock"])
            .filter(|name| used.contains(name))
            .collect();
        match shared.is_empty() {
            true => " default(none)".into(),
            false => format!(" default(none) shared({})", shared.join(", ")),
        }
    }

    /// The whole program.
    pub(super) fn finish(self, body: &str) -> String {
        let mut text = String::from(
            "#include <omp.h>\n#include <stdio.h>\n\
             #define LOOP(i, n) for (int i = 0; i < (n); i++)\n\
             #define ADD(k, v) add((k), (v))\n",
        );
        let _ = writeln!(text, "static long sum[{}];", self.next + 1);
        text.push_str("static volatile int yes = 1, no = 0;\nstatic omp_lock_t lock;\n");
        for (name, value) in &self.globals {
            let _ = writeln!(text, "static long {name} = {value};");
        }
        text.push_str(
            "static void add(int k, long v)\n{\n    \
             __atomic_fetch_add(&sum[k], v, __ATOMIC_RELAXED);\n}\n",
        );
        text.push_str("static int counted(int k, int v)\n{\n    add(k, 1);\n    return v;\n}\n");
        if self.dialect == Dialect::Cxx {
            text.push_str(COUNTED);
        }
        for function in &self.functions {
            text.push_str(function);
        }
        text.push_str("int main(void)\n{\nomp_init_lock(&lock);\n");
        for (name, kind) in &self.variables {
            if let Some(lock) = kind
                .strip_prefix("omp_")
                .and_then(|kind| kind.strip_suffix("_t"))
            {
                let _ = writeln!(text, "omp_init_{lock}(&{name});");
            }
        }
        text.push_str(body);
        let _ = writeln!(
            text,
            "    LOOP(k, {}) printf(\"%ld\\n\", sum[k]);",
            self.next + 1
        );
        for (name, _) in &self.globals {
            let _ = writeln!(text, "    printf(\"{name} %ld\\n\", {name});");
        }
        text.push_str("    ADD(0, no + counted(0, 0));\n    return 0;\n}\n");
        text
    }
}
