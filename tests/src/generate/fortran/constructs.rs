//! Statements that begin with a directive.

use super::super::Allowed;
use super::Fortran;
use super::lines::{Line, code, directive};

/// Lines with a directive in front of them and one behind them.
fn around(begin: impl Into<String>, lines: Vec<Line>, end: impl Into<String>) -> Vec<Line> {
    let mut all = vec![directive(begin)];
    // If the first statement were a block construct, the directive would govern only that.
    if lines.first().is_some_and(|line| line.text == "block") {
        all.push(code("continue"));
    }
    all.extend(lines);
    all.push(directive(end));
    all
}

impl Fortran {
    /// A construct that may stand here.
    pub(super) fn construct(&mut self, place: Allowed) -> Vec<Line> {
        let inner = Allowed {
            depth: place.depth - 1,
            ..place
        };
        match self.below(8) {
            0 if place.free && place.parallel < 2 => self.team(inner),
            1 if place.free => self.critical(inner),
            2 if place.free => self.task(inner),
            3 if place.free => self.group_of_tasks(inner),
            4 if place.shared => {
                let name = self.one_of(&["master", "masked"]);
                let text = self.statement(inner.apart());
                around(name, text, format!("end {name}"))
            }
            5..=7 if place.shared => self.workshare(inner),
            _ => self.block(inner),
        }
    }

    /// A directive that stands alone.
    pub(super) fn alone(&mut self, place: Allowed) -> Vec<Line> {
        let words = match self.below(6) {
            0 | 1 if place.shared => "barrier",
            2 if place.free => "taskwait",
            3 if place.free => "taskyield",
            4 | 5 => return self.cancel(place),
            _ => "flush",
        };
        vec![directive(words)]
    }

    /// Nothing is cancelled, but the compiler does not know.
    fn cancel(&mut self, place: Allowed) -> Vec<Line> {
        match place.cancel {
            None => Vec::new(),
            Some(kind) if self.once_in(3) => vec![directive(format!("cancel {kind} if(no)"))],
            Some(kind) if self.once_in(2) => vec![
                code("if (no) then"),
                directive(format!("cancel {kind}")),
                code("end if"),
            ],
            Some(kind) => vec![directive(format!("cancellation point {kind}"))],
        }
    }

    /// A `parallel` construct, combined or not.
    pub(super) fn team(&mut self, place: Allowed) -> Vec<Line> {
        let parallel = place.parallel + 1;
        let inside = Allowed {
            parallel,
            shared: true,
            cancel: None,
            ..place
        };
        let clause = self.one_of(&["", "", " num_threads(2)", " if(yes)", " if(parallel: no)"]);
        match self.below(9) {
            0 | 1 => self.loop_of("parallel do", clause, inside),
            2 => self.simd("parallel do simd", clause),
            3 => {
                let text = self.sections(inside);
                around(
                    format!("parallel sections{clause}"),
                    text,
                    "end parallel sections",
                )
            }
            4 => {
                let text = self.statement(inside.apart());
                around(
                    format!("parallel master{clause}"),
                    text,
                    "end parallel master",
                )
            }
            5 if place.parallel == 0 => {
                let text = self.array_statements();
                around(
                    format!("parallel workshare{clause}"),
                    text,
                    "end parallel workshare",
                )
            }
            _ => {
                let cancel = self.once_in(3).then_some("parallel");
                let text = self.block(Allowed { cancel, ..inside });
                let none = match self.once_in(3) {
                    true => self.default_none(&text),
                    false => String::new(),
                };
                around(format!("parallel{clause}{none}"), text, "end parallel")
            }
        }
    }

    fn workshare(&mut self, place: Allowed) -> Vec<Line> {
        let nowait = self.one_of(&["", "", " nowait"]);
        match self.below(9) {
            0..3 => self.loop_of("do", "", place),
            3 if place.parallel == 1 => self.simd("do simd", ""),
            4 => {
                let text = self.sections(place);
                around("sections", text, format!("end sections{nowait}"))
            }
            5 => {
                let c = self.number();
                let mut text = vec![code(format!("c{c} = 5"))];
                text.extend(self.statement(place.apart()));
                let single = around("single", text, format!("end single copyprivate(c{c})"));
                let mut lines = vec![
                    code("block"),
                    code(format!("integer(8) :: c{c}")),
                    code(format!("c{c} = 0")),
                ];
                lines.extend(single);
                lines.push(code(format!("call add({c}, c{c})")));
                lines.push(code("end block"));
                lines
            }
            6 if place.parallel == 1 => self.dependent_tasks(),
            7 if place.parallel == 1 => {
                let text = self.array_statements();
                around("workshare", text, "end workshare")
            }
            _ => {
                let text = self.statement(place.apart());
                around("single", text, format!("end single{nowait}"))
            }
        }
    }

    /// What may stand in a `workshare`.
    fn array_statements(&mut self) -> Vec<Line> {
        let name = format!("a{}", self.number());
        self.arrays.push(name.clone());
        let add = self.below(5);
        vec![
            code(format!("{name} = {name} + {add}")),
            code(format!("where ({name} > 3) {name} = {name} - 1")),
            code(format!("{name}(5:8) = {name}(1:4) + 1")),
        ]
    }

    /// A worksharing loop with clauses that fit together.
    fn loop_of(&mut self, name: &str, clauses: &str, place: Allowed) -> Vec<Line> {
        let (i, k) = (self.index(), self.number());
        let n = 1 + self.below(7);
        let mut words = format!("{name}{clauses}");
        let mut body = Vec::new();
        // All executions share the global variable, so only one team may exist at a time.
        let alone = place.parallel == 1;
        if alone && self.once_in(3) {
            let r = self.global(1);
            words += &format!(" reduction(+ : {r})");
            body.push(code(format!("{r} = {r} + {i}")));
        }
        if alone && self.once_in(3) {
            let l = self.global(0);
            words += &format!(" lastprivate({l})");
            body.push(code(format!("{l} = 3 * {i} + 1")));
        }
        if self.once_in(3) {
            let f = self.global(7);
            words += &format!(" firstprivate({f})");
            body.push(code(format!("call add({k}, {f})")));
        }
        let ordered = alone && self.once_in(4);
        let collapse = !ordered && self.once_in(4);
        let mut end = format!("end {name}");
        let mut cancel = None;
        if ordered {
            let h = self.global(1);
            words += " ordered";
            let hash = vec![code(format!("{h} = mod({h} * 31 + {i}, 1000003_8)"))];
            body.extend(around("ordered", hash, "end ordered"));
        } else if collapse {
            words += " collapse(2)";
        } else if name == "do" && self.once_in(3) && !words.contains("private(") {
            end += " nowait";
        } else if name == "do" && self.once_in(2) {
            // Not in a combined construct: there gfortran warns that a nowait prevents the cancel.
            cancel = Some("do");
        }
        words += self.one_of(&["", " schedule(dynamic, 2)", " schedule(guided)"]);
        body.extend(self.statement(Allowed {
            cancel,
            ..place.apart()
        }));
        let lines = self.nest(&i, n, collapse, body);
        let needed = end.ends_with("nowait");
        let mut all = vec![directive(words)];
        all.extend(lines);
        if needed || self.once_in(2) {
            all.push(directive(end));
        }
        all
    }

    /// A loop, or two that are collapsed, ended in one of the ways.
    fn nest(&mut self, i: &str, n: u64, two: bool, body: Vec<Line>) -> Vec<Line> {
        let label = self.new_label();
        let by_label = self.once_in(3);
        let head = |variable: &str, n: u64| match by_label {
            true => code(format!("do {label} {variable} = 1, {n}")),
            false => code(format!("do {variable} = 1, {n}")),
        };
        let mut lines = vec![head(i, n)];
        if two {
            let j = self.index();
            lines.push(head(&j, 2));
        }
        lines.extend(body);
        match (by_label, two) {
            (true, _) => lines.push(super::lines::labelled(label, "continue")),
            (false, true) => lines.extend([code("end do"), code("enddo")]),
            (false, false) => lines.push(code(self.one_of(&["end do", "enddo"]))),
        }
        lines
    }

    /// A loop without a call, since none may be made in simd.
    fn simd(&mut self, name: &str, clauses: &str) -> Vec<Line> {
        let (i, k) = (self.index(), self.number());
        // The variable of the reduction must be shared by the team.
        let own = name.starts_with("parallel");
        let r = match own {
            true => format!("r{k}"),
            false => self.global(0),
        };
        let mut lines = vec![
            directive(format!("{name}{clauses} reduction(+:{r})")),
            code(format!("do {i} = 1, 8")),
            code(format!("{r} = {r} + {i}")),
            code("end do"),
        ];
        if self.once_in(2) {
            lines.push(directive(format!("end {name}")));
        }
        if !own {
            return lines;
        }
        let mut all = vec![
            code("block"),
            code(format!("integer(8) :: {r}")),
            code(format!("{r} = 0")),
        ];
        all.extend(lines);
        all.push(code(format!("call add({k}, {r})")));
        all.push(code("end block"));
        all
    }

    fn sections(&mut self, place: Allowed) -> Vec<Line> {
        let mut lines = Vec::new();
        for number in 0..1 + self.below(3) {
            if number > 0 || self.once_in(2) {
                lines.push(directive("section"));
                if self.once_in(8) {
                    continue;
                }
            } else {
                // If a block construct came first, the sections would hold only that.
                lines.push(code("continue"));
            }
            lines.extend(self.statement(place.apart()));
        }
        lines
    }

    fn critical(&mut self, place: Allowed) -> Vec<Line> {
        let name = self.one_of(&["", " (name)", " (other)"]);
        let inside = Allowed {
            free: false,
            ..place.apart()
        };
        let text = self.statement(inside);
        match self.below(6) {
            0 => {
                let mut lines = vec![code("call omp_set_lock(lock)")];
                lines.extend(text);
                lines.push(code("call omp_unset_lock (lock)"));
                lines
            }
            1 => {
                let mut lines = vec![code("do while (.not. omp_test_lock(lock))"), code("end do")];
                lines.extend(text);
                lines.push(code("if (yes) call omp_unset_lock(lock)"));
                lines
            }
            _ => around(
                format!("critical{name}"),
                text,
                format!("end critical{name}"),
            ),
        }
    }

    fn task(&mut self, place: Allowed) -> Vec<Line> {
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
        let mut text = vec![code(format!("call add({v}, v{v})"))];
        text.extend(self.statement(place.apart()));
        let task = around(format!("task{clause} firstprivate(v{v})"), text, "end task");
        let mut lines = vec![
            code("block"),
            code(format!("integer(8) :: v{v}")),
            code(format!("v{v} = 4")),
        ];
        lines.extend(task);
        lines.push(code("end block"));
        lines
    }

    fn group_of_tasks(&mut self, place: Allowed) -> Vec<Line> {
        if !self.once_in(3) {
            let text = self.statement(place.apart());
            return around("taskgroup", text, "end taskgroup");
        }
        let clause = self.one_of(&["", " grainsize(2)", " num_tasks(3)", " nogroup", " untied"]);
        let i = self.index();
        let text = self.statement(place.apart());
        let mut lines = vec![
            directive(format!("taskloop{clause}")),
            code(format!("do {i} = 1, 5")),
        ];
        lines.extend(text);
        lines.push(code("end do"));
        if self.once_in(2) {
            lines.push(directive("end taskloop"));
        }
        lines
    }

    /// Tasks of one thread, in the order of their dependences.
    fn dependent_tasks(&mut self) -> Vec<Line> {
        let (d, k) = (self.global(0), self.number());
        let mut lines = around(
            format!("task depend(out : {d}) shared({d})"),
            vec![code(format!("{d} = {d} + 5"))],
            "end task",
        );
        lines.extend(around(
            format!("task depend(in : {d}) shared({d})"),
            vec![code(format!("call add({k}, {d})"))],
            "end task",
        ));
        lines.push(directive("taskwait"));
        around("single", lines, "end single")
    }
}
