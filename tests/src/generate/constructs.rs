//! Statements that begin with a directive.

use super::Allowed;
use super::words::Writer;

impl Writer {
    /// A construct that may stand here.
    pub(super) fn construct(&mut self, place: Allowed) -> String {
        let inner = Allowed {
            depth: place.depth - 1,
            ..place
        };
        if self.once_in(3) {
            return self.pattern(inner);
        }
        match self.below(10) {
            8 if place.shared => self.newer_workshare(inner),
            // After such a group in serial code, gcc 12 frees the next region's team too early.
            9 if place.free && place.parallel > 0 => self.newer_tasks(),
            0 if place.free && place.parallel < 2 => self.team(inner),
            1 if place.free => self.critical(inner),
            2 if place.free => self.task(inner),
            3 if place.free => self.group_of_tasks(inner),
            4 if place.shared => self.directive("master") + &self.statement(inner.apart()),
            5..=7 if place.shared => self.workshare(inner),
            _ => self.block(inner),
        }
    }

    /// A directive that stands alone, as a part of a block.
    pub(super) fn alone(&mut self, place: Allowed) -> String {
        let words = match self.below(6) {
            0 | 1 if place.shared => "barrier",
            2 if place.free => "taskwait",
            3 if place.free => "taskyield",
            4 | 5 => return self.cancel(place),
            _ => "flush",
        };
        format!("\n#pragma omp {words}\n")
    }

    /// Nothing is cancelled, but the compiler does not know.
    fn cancel(&mut self, place: Allowed) -> String {
        match place.cancel {
            None => String::new(),
            Some(kind) if self.once_in(2) => {
                format!("if (no) {{\n#pragma omp cancel {kind}\n}}\n")
            }
            Some(kind) => format!("\n#pragma omp cancellation point {kind}\n"),
        }
    }

    /// A `parallel` construct, combined or not.
    pub(super) fn team(&mut self, place: Allowed) -> String {
        if self.once_in(3) {
            return self.pattern(place);
        }
        let parallel = place.parallel + 1;
        let inside = Allowed {
            parallel,
            shared: true,
            cancel: None,
            ..place
        };
        let clause = self.one_of(&["", "", " num_threads(2)", " if(yes)", " if(parallel: no)"]);
        match self.below(11) {
            8..=10 => self.newer_team(inside),
            0 | 1 => self.for_loop("parallel for", clause, inside),
            2 => self.for_simd("parallel for simd", clause),
            3 => {
                let text = self.sections(inside);
                self.directive(&format!("parallel sections{clause}")) + &text
            }
            4 => {
                let text = self.statement(inside.apart());
                self.directive(&format!("parallel master{clause}")) + &text
            }
            _ => {
                let cancel = self.once_in(3).then_some("parallel");
                let text = self.block(Allowed { cancel, ..inside });
                // The variables that a lambda captures are not known here, so they can't be listed.
                let none = match self.once_in(3) && !text.contains("[&]") {
                    true => self.default_none(&text),
                    false => String::new(),
                };
                self.directive(&format!("parallel{clause}{none}")) + &text
            }
        }
    }

    fn workshare(&mut self, place: Allowed) -> String {
        match self.below(8) {
            0..3 => self.for_loop("for", "", place),
            3 => self.for_simd("for simd", ""),
            4 => {
                let text = self.sections(place);
                let nowait = self.one_of(&["", " nowait"]);
                self.directive(&format!("sections{nowait}")) + &text
            }
            5 => {
                let (c, text) = (self.number(), self.statement(place.apart()));
                let single = self.directive(&format!("single copyprivate(c{c})"));
                format!("{{ long c{c} = 0;{single}{{ c{c} = 5;\n{text}}}\nadd({c}, c{c}); }}\n")
            }
            6 if place.parallel == 1 => self.dependent_tasks(),
            _ => {
                let nowait = self.one_of(&["", " nowait"]);
                self.directive(&format!("single{nowait}")) + &self.statement(place.apart())
            }
        }
    }

    /// A worksharing loop with clauses that fit together.
    fn for_loop(&mut self, name: &str, clauses: &str, place: Allowed) -> String {
        let (i, k) = (self.number(), self.number());
        let n = 1 + self.below(7);
        let mut words = format!("{name}{clauses}");
        let mut body = String::new();
        // All executions share the global variable, so only one team may exist at a time.
        let alone = place.parallel == 1;
        if alone && self.once_in(3) {
            let r = self.global(1);
            words += &format!(" reduction(+ : {r})");
            body += &format!("{r} += i{i};\n");
        }
        if alone && self.once_in(3) {
            let l = self.global(0);
            words += &format!(" lastprivate({l})");
            body += &format!("{l} = 3 * i{i} + 1;\n");
        }
        if self.once_in(3) {
            let f = self.global(7);
            words += &format!(" firstprivate({f})");
            body += &format!("add({k}, {f});\n");
        }
        let ordered = alone && self.once_in(4);
        let collapse = !ordered && self.once_in(4);
        let mut cancel = None;
        if ordered {
            let h = self.global(1);
            words += " ordered";
            let hash = format!("{{ {h} = ({h} * 31 + i{i}) % 1000003; }}\n");
            body += &(self.directive("ordered") + &hash);
        } else if collapse {
            words += " collapse(2)";
        } else if alone && self.once_in(4) {
            let x = self.global(2);
            words += &format!(" linear({x} : 3)");
            body += &format!("add({k}, {x});\n");
        } else if name == "for" && self.once_in(3) && !words.contains("private(g") {
            words += " nowait";
        } else if name == "for" && self.once_in(2) {
            // Not in a combined construct: there gcc warns that a nowait prevents the cancel.
            cancel = Some("for");
        }
        // With any other schedule, Clang 14 computes a wrong value of a linear variable.
        words += match words.contains("linear") {
            true => " schedule(static)",
            // LLVM's runtime 14 now and then loses the last iteration if threads steal chunks.
            false if words.contains("lastprivate") => {
                self.one_of(&["", " schedule(monotonic : dynamic, 2)"])
            }
            false => self.one_of(&["", " schedule(dynamic, 2)", " schedule(guided)"]),
        };
        body += &self.statement(Allowed {
            cancel,
            ..place.apart()
        });
        let head = self.loop_head(i, n);
        let inner = if collapse {
            format!("LOOP(j{i}, 2)\n")
        } else {
            String::new()
        };
        self.directive(&words) + &format!("{head}{inner}{{\n{body}}}\n")
    }

    fn loop_head(&mut self, i: usize, n: u64) -> String {
        match self.below(3) {
            0 => format!("LOOP(i{i}, {n})\n"),
            1 => format!("for (int i{i} = 0; i{i} < {n}; ++i{i})\n"),
            _ => format!("for (long i{i} = 0;\n     i{i} != {n}; i{i} += 1)\n"),
        }
    }

    fn for_simd(&mut self, name: &str, clauses: &str) -> String {
        let (i, k) = (self.number(), self.number());
        let directive = self.directive(&format!("{name}{clauses} schedule(static)"));
        // No call may be made in simd.
        format!(
            "{directive}for (int i{i} = 0; i{i} < 8; i{i}++)\n__atomic_fetch_add(&sum[{k}], i{i}, __ATOMIC_RELAXED);\n"
        )
    }

    fn sections(&mut self, place: Allowed) -> String {
        let mut text = String::from("{\n");
        for number in 0..1 + self.below(3) {
            if number > 0 || self.once_in(2) {
                text.push_str("\n#pragma omp section\n");
            }
            text.push_str(&self.statement(place.apart()));
        }
        text + "}\n"
    }

    fn critical(&mut self, place: Allowed) -> String {
        let name = self.one_of(&["", " (name)", " (other)"]);
        let inside = Allowed {
            free: false,
            ..place.apart()
        };
        if self.once_in(4) {
            let text = self.statement(inside);
            return format!("{{\nomp_set_lock(&lock);\n{text}omp_unset_lock(&lock);\n}}\n");
        }
        self.directive(&format!("critical{name}")) + &self.statement(inside)
    }

    fn task(&mut self, place: Allowed) -> String {
        let clause = self.one_of(&[
            "",
            "",
            " untied",
            " if(no)",
            " final(yes)",
            " mergeable",
            " untied if(task: yes)",
            " priority(1)",
        ]);
        let v = self.number();
        let text = self.statement(place.apart());
        let task = self.directive(&format!("task{clause}"));
        format!("{{ long v{v} = 4;{task}{{ add({v}, v{v});\n{text}}}\n}}\n")
    }

    fn group_of_tasks(&mut self, place: Allowed) -> String {
        match self.below(3) {
            0 => {
                let i = self.number();
                let clause =
                    self.one_of(&["", " grainsize(2)", " num_tasks(3)", " nogroup", " untied"]);
                let text = self.statement(place.apart());
                let head = self.loop_head(i, 5);
                self.directive(&format!("taskloop{clause}")) + &head + &text
            }
            _ => {
                let text = self.statement(place.apart());
                self.directive("taskgroup") + &text
            }
        }
    }

    /// Tasks of one thread, in the order of their dependences.
    fn dependent_tasks(&mut self) -> String {
        let (d, k) = (self.global(0), self.number());
        let (out, input) = (
            self.directive(&format!("task depend(out : {d})")),
            self.directive(&format!("task depend(in : {d})")),
        );
        let single = self.directive("single");
        format!("{single}{{{out}{d} += 5;{input}{{ add({k}, {d}); }}\n#pragma omp taskwait\n}}\n")
    }
}

impl Allowed {
    /// Inside a construct that not every member of the team comes to.
    pub(in crate::generate) fn apart(self) -> Self {
        Self {
            shared: false,
            cancel: None,
            ..self
        }
    }
}
