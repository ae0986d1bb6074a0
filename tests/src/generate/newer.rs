//! Constructs and clauses of OpenMP 4.5 and newer, as far as all compilers of the
//! tests have them. If one compiler lacks a construct, a conditional chooses another.

use super::words::Writer;
use super::{Allowed, Dialect};

impl Writer {
    /// A worksharing construct; every member of the team comes here.
    pub(super) fn newer_workshare(&mut self, place: Allowed) -> String {
        let alone = place.parallel == 1;
        match self.below(6) {
            0 if alone => self.doacross(),
            1 if alone => self.array_reduction(),
            2 => self.loop_or_for(),
            3 => self.either("master", "masked", place),
            4 => self.either("single", "scope", place),
            _ if self.dialect == Dialect::Cxx => self.objects("for"),
            _ => self.foreign_pragma("for", place),
        }
    }

    /// A combined construct with a team of its own.
    pub(super) fn newer_team(&mut self, place: Allowed) -> String {
        let alone = place.parallel == 1;
        match self.below(6) {
            0 if alone => self.scan(),
            1 if alone => self.team_of_tasks(),
            2 => self.evaluated_once(),
            3 if self.dialect == Dialect::Cxx => self.objects("parallel for"),
            4 => {
                let text = self.foreign_pragma("for", place);
                let teams = self.one_of(&["parallel", "parallel num_threads(2)"]);
                self.directive(teams) + &text
            }
            _ => self.foreign_pragma("parallel for", place),
        }
    }

    /// Tasks that take part in a reduction. (Detached ones are in a fixture: LLVM's
    /// runtime 14 fails an assertion where they meet teams of one thread.)
    pub(super) fn newer_tasks(&mut self) -> String {
        let k = self.number();
        let group = self.directive(&format!("taskgroup task_reduction(+ : r{k})"));
        let task = self.directive(&format!("task in_reduction(+ : r{k})"));
        format!(
            "{{ long r{k} = 0;{group}{{ LOOP(i{k}, 3) {{{task}r{k} += i{k} + 1; }} }}\nadd({k}, r{k}); }}\n"
        )
    }

    /// Leagues, and device constructs that run on the host.
    pub(super) fn league(&mut self) -> String {
        let i = self.number();
        let name = self.one_of(&[
            "teams distribute parallel for",
            "teams distribute",
            "target teams distribute parallel for",
            "target parallel for",
            "target teams\n#pragma omp distribute",
            "target",
        ]);
        // LLVM's runtime 14 confuses its teams of tasks after a league. Of 30 such programs
        // 3 hung without us and others with our barriers; with runtime 19 none did.
        let head = format!(
            "\n#if defined __clang__ && __clang_major__ < 19\n#pragma omp target parallel for\n#else\n#pragma omp {name}\n#endif\n"
        );
        let (one, other) = (self.plain_tick(), self.plain_tick());
        format!("{head}LOOP(i{i}, 9) {{\n{one}{other}}}\n")
    }

    /// Iterations that wait for each other.
    fn doacross(&mut self) -> String {
        let (i, h) = (self.number(), self.global(1));
        let directive = self.directive("for ordered(1)");
        format!(
            "{directive}LOOP(i{i}, 6) {{\n#pragma omp ordered depend(sink : i{i} - 1)\n\
             {h} = ({h} * 31 + i{i}) % 1000003;\n#pragma omp ordered depend(source)\n}}\n"
        )
    }

    /// The array is static, so that it is shared. It stands outside the region, because gcc takes
    /// a static array in a region for private. Clang 14's program loses an update of it in one of a
    /// thousand loops, so the sum is not printed there.
    fn array_reduction(&mut self) -> String {
        let (i, k) = (self.number(), self.number());
        let nowait = self.one_of(&["", "", " schedule(dynamic)"]);
        self.declare(&format!("static long a{i}[4];\n"));
        let directive = self.directive(&format!("for reduction(+ : a{i}[0 : 3]){nowait}"));
        format!(
            "{{{directive}LOOP(i{i}, 7) a{i}[i{i} % 3] += i{i};\n\
             \n#pragma omp master\n{{\n#if !defined __clang__ || __clang_major__ >= 19\nadd({k}, a{i}[1]);\n#endif\n}}\n\
             \n#pragma omp barrier\n}}\n"
        )
    }

    fn loop_or_for(&mut self) -> String {
        let (i, k) = (self.number(), self.number());
        format!(
            "\n#ifdef __clang__\n#pragma omp for nowait\n#else\n#pragma omp loop bind(parallel)\n#endif\n\
             LOOP(i{i}, 9) __atomic_fetch_add(&sum[{k}], i{i}, __ATOMIC_RELAXED);\n"
        )
    }

    /// A conditional with a directive in each branch: each compiler finds one that it knows.
    fn either(&mut self, old: &str, new: &str, place: Allowed) -> String {
        let text = self.statement(Allowed {
            shared: false,
            cancel: None,
            ..place
        });
        format!("\n#ifdef __clang__\n#pragma omp {old}\n#else\n#pragma omp {new}\n#endif\n{text}")
    }

    /// A pragma of a compiler between a directive and its loop.
    fn foreign_pragma(&mut self, directive: &str, place: Allowed) -> String {
        let (i, n) = (self.number(), 1 + self.below(7));
        let text = self.statement(Allowed {
            shared: false,
            cancel: None,
            ..place
        });
        format!(
            "\n#pragma omp {directive}\n#ifdef __clang__\n#pragma clang loop unroll(disable)\n#endif\n\
             LOOP(i{i}, {n}) {{\n{text}}}\n"
        )
    }

    fn scan(&mut self) -> String {
        let (i, k, r) = (self.number(), self.number(), self.global(0));
        let kind = self.one_of(&["inclusive", "exclusive"]);
        let directive = self.directive(&format!("parallel for reduction(inscan, + : {r})"));
        let (input, scan) = (
            format!("{r} += i{i};\n"),
            format!("\n#pragma omp scan {kind}({r})\n"),
        );
        let output = format!("add({k}, {r});\n");
        let body = match kind {
            "inclusive" => input + &scan + &output,
            _ => output + &scan + &input,
        };
        format!("{directive}LOOP(i{i}, 8) {{\n{body}}}\n")
    }

    fn team_of_tasks(&mut self) -> String {
        let (i, k, r) = (self.number(), self.number(), self.global(2));
        let clause = match self.below(3) {
            0 => format!(" reduction(+ : {r})"),
            1 => format!(" lastprivate({r}) num_threads(2)"),
            _ => format!(" firstprivate({r}) default(none) shared(sum) grainsize(2)"),
        };
        let name = self.one_of(&["parallel master taskloop", "parallel master taskloop simd"]);
        let body = match &clause[..6] {
            " first" => format!("__atomic_fetch_add(&sum[{k}], {r}, __ATOMIC_RELAXED);\n"),
            " reduc" => format!("{r} += 5 * i{i};\n"),
            _ => format!("{r} = 5 * i{i};\n"),
        };
        // The loop variable of simd falls under default(none).
        let name = match clause.contains("default") {
            true => "parallel master taskloop",
            false => name,
        };
        self.directive(&format!("{name}{clause}")) + &format!("LOOP(i{i}, 7) {body}")
    }

    /// Expressions that count how often they are evaluated.
    fn evaluated_once(&mut self) -> String {
        let (i, k) = (self.number(), self.number());
        let counted = |value: &str| format!("counted({k}, {value})");
        let clause = match self.below(3) {
            0 => format!(" num_threads({})", counted("2")),
            1 => format!(" if(parallel : {})", counted("1")),
            _ => format!(" schedule(dynamic, {})", counted("2")),
        };
        let tick = self.plain_tick();
        self.directive(&format!("parallel for{clause}")) + &format!("LOOP(i{i}, 6) {{\n{tick}}}\n")
    }

    /// Objects that count their copies.
    fn objects(&mut self, name: &str) -> String {
        let (i, k) = (self.number(), self.number());
        let clause = self.one_of(&["firstprivate", "private", "lastprivate"]);
        // Outside the region, because gcc takes it for private inside.
        self.functions
            .push(format!("static Counted c{i}(&sum[{k}]);\n"));
        self.declared("Counted", &format!("c{i}"));
        let directive = self.directive(&format!("{name} {clause}(c{i})"));
        format!("{{{directive}LOOP(i{i}, 5) c{i}.touch();\n}}\n")
    }

    /// A tick without a directive.
    fn plain_tick(&mut self) -> String {
        let (k, v) = (self.number(), 1 + self.below(9));
        format!("add({k}, {v});\n")
    }
}
