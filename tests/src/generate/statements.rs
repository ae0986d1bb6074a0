//! Statements without directives of their own.

use super::words::Writer;
use super::{Allowed, Dialect};

impl Writer {
    /// One statement: it may stand wherever the language wants one.
    pub(super) fn statement(&mut self, place: Allowed) -> String {
        if place.depth == 0 {
            return self.tick();
        }
        let inner = Allowed {
            depth: place.depth - 1,
            ..place
        };
        match self.below(16) {
            0 => self.tick(),
            1 | 2 => self.block(inner),
            3 => {
                let (then, other) = (self.statement(inner), self.statement(inner));
                format!("if (yes)\n{then}else\n{other}")
            }
            4 => format!("if (yes)\n{}", self.block(inner)),
            5 => self.repeat(inner),
            6 => {
                let text = self.statement(inner);
                format!("switch (yes) {{\ncase 1:\n{text}break;\ndefault:\nbreak;\n}}\n")
            }
            7 => {
                let label = self.number();
                let text = self.statement(inner);
                // A label may stand once in a function; a block may be doubled.
                match self.dialect {
                    Dialect::C => format!("{{ goto l{label}; l{label}:\n{text}}}\n"),
                    Dialect::Cxx => format!("{{ {text}}}\n"),
                }
            }
            8 if self.dialect == Dialect::Cxx => self.cxx(inner),
            9 => self.conditional(inner),
            10 if place.shared => self.call(inner),
            _ => self.construct(place),
        }
    }

    /// A block of statements; only here directives may stand alone.
    pub(super) fn block(&mut self, place: Allowed) -> String {
        let mut text = String::from("{\n");
        for _ in 0..1 + self.below(3) {
            if self.once_in(4) {
                text.push_str(&self.alone(place));
            }
            text.push_str(&self.statement(place));
        }
        if self.once_in(4) {
            text.push_str(&self.alone(place));
        }
        text + "}\n"
    }

    /// Something that shows how often it was executed.
    pub(super) fn tick(&mut self) -> String {
        let (k, v) = (self.number(), 1 + self.below(9));
        match self.below(6) {
            5 => self.pattern(Allowed::CRITICAL),
            0 => format!("\n#pragma omp atomic\nsum[{k}] += {v};\n"),
            1 => format!("ADD({k}, {v});\n"),
            2 => format!("{{ add({k}, {v}); }} /* }} */\n"),
            _ => format!("add({k}, {v});\n"),
        }
    }

    fn repeat(&mut self, place: Allowed) -> String {
        let i = self.number();
        // A cancelled construct is not the loop's.
        let text = self.statement(place);
        match self.below(3) {
            0 => format!("for (int i{i} = 0; i{i} < 2; i{i}++)\n{text}"),
            1 => format!("{{ int i{i} = 0; while (i{i}++ < 2)\n{text}}}\n"),
            _ => format!("{{ int i{i} = 0; do\n{text}while (++i{i} < 2);\n}}\n"),
        }
    }

    /// Text that the preprocessor chooses.
    fn conditional(&mut self, place: Allowed) -> String {
        let (one, other) = (self.statement(place), self.tick());
        match self.below(3) {
            0 => format!("\n#if 1\n{one}#else\n{other}#endif\n"),
            1 => format!("\n#ifndef _OPENMP\n{other}#else\n{one}#endif\n"),
            _ => format!("{{\n{one}\n#ifdef NEVER\n{other}#endif\n}}\n"),
        }
    }

    /// The call of a function whose constructs bind to the caller's team.
    fn call(&mut self, place: Allowed) -> String {
        let number = self.number();
        let text = self.block(Allowed {
            cancel: None,
            ..place
        });
        let template = self.dialect == Dialect::Cxx && self.once_in(2);
        let (head, call) = match template {
            true => {
                let head = format!("template <typename T>\nstatic void f{number}(T t)\n");
                (head, format!("f{number}(1);\nf{number}(2.0);\n"))
            }
            false => (
                format!("static void f{number}(int t)\n"),
                format!("f{number}(1);\n"),
            ),
        };
        self.functions
            .push(format!("{head}{{\n(void)t;\n{text}}}\n"));
        format!("{{\n{call}}}\n")
    }

    /// What only C++ has.
    fn cxx(&mut self, place: Allowed) -> String {
        let place = Allowed {
            cancel: None,
            ..place
        };
        match self.below(3) {
            0 => format!("[&] {}();\n", self.block(place).trim_end()),
            1 => {
                let (text, never) = (self.block(place), self.tick());
                format!("try {text}catch (...) {{\n{never}}}\n")
            }
            _ => {
                let caught = self.tick();
                format!("try {{ if (yes) throw 1; }} catch (int) {{\n{caught}}}\n")
            }
        }
    }
}
