//! C and C++: measurement libraries that lack some functions.
//!
//! The text has a flag for each function that it calls. When the program starts, the text asks
//! the library which functions it has, and makes no call where there is none. A weak reference
//! would not do: it takes no member out of an archive, and the functions of `pomp_rest.c`, which
//! call those of a shared library, are always there.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The functions that are called only if the library has them, in the order of their flags. None
/// if nothing is asked.
pub(super) struct Asked<'a> {
    functions: Vec<String>,
    unique: &'a str,
}

impl<'a> Asked<'a> {
    /// The function that answers.
    pub(super) const FUNCTION: &'static str = "int POMP_Has_routine(const char *)";

    pub(super) fn new(unique: &'a str, functions: BTreeSet<String>) -> Self {
        let functions = functions.into_iter().collect();
        Self { functions, unique }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The condition that the library has one of these functions; none if it is not asked.
    pub(super) fn condition(&self, functions: &[&str]) -> Option<String> {
        let number = |name: &&str| self.functions.iter().position(|function| function == name);
        let flag = |number| format!("romp_has_{}({number})", self.unique);
        let flags: Vec<String> = functions.iter().filter_map(number).map(flag).collect();
        (!flags.is_empty()).then(|| flags.join(" || "))
    }

    /// Statements that are executed if the library has one of these functions. Compilers take an
    /// `if` without braces for misleading where the user's text follows.
    pub(super) fn guarded(&self, functions: &[&str], statements: String) -> String {
        match self.condition(functions) {
            Some(condition) => format!("if ({condition}) {{ {statements} }}"),
            None => statements,
        }
    }

    /// The call of a function, as a statement.
    pub(super) fn statement(&self, function: &str, arguments: &str) -> String {
        self.guarded(&[function], format!("{function}({arguments});"))
    }

    /// The call of a function, as an expression with the value `otherwise` if the library does not
    /// have it.
    pub(super) fn value(&self, function: &str, arguments: &str, otherwise: &str) -> String {
        let call = format!("{function}({arguments})");
        match self.condition(&[function]) {
            Some(condition) => format!("{condition} ? {call} : {otherwise}"),
            None => call,
        }
    }

    /// The flags, and the function that the text reads them by: a function needs no data-sharing
    /// attribute. Inline functions with external linkage may call it, too.
    pub(super) fn declaration(&self) -> String {
        const INLINE: &str = "extern __inline__ __attribute__((__gnu_inline__, __always_inline__, \
                              __no_instrument_function__))";
        if self.is_empty() {
            return String::new();
        }
        let (unique, count) = (self.unique, self.functions.len());
        // Weak, since a program may contain a source twice under one name.
        format!(
            "extern __attribute__((__weak__, __visibility__(\"hidden\"))) \
             int romp_flags_{unique}[{count}];\n\
             {INLINE} int romp_has_{unique}(int);\n\
             {INLINE} int romp_has_{unique}(int romp_number) \
             {{ return romp_flags_{unique}[romp_number]; }}\n"
        )
    }

    /// The flags, and the names of their functions as the library is asked for them.
    pub(super) fn definitions(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let (unique, count) = (self.unique, self.functions.len());
        let mut text = format!(
            "int romp_flags_{unique}[{count}] = {{ 0 }};\n\
             static const char *const romp_asked_{unique}[{count}] = {{\n"
        );
        for function in &self.functions {
            let _ = writeln!(text, "\"{}\",", function.trim_start_matches("POMP_"));
        }
        text + "};\n"
    }

    /// What is done when the program starts: the questions, and `register`, which registers the
    /// table of regions.
    pub(super) fn asking(&self, register: &str) -> String {
        if self.is_empty() {
            return register.to_owned();
        }
        let (unique, count) = (self.unique, self.functions.len());
        format!(
            "int romp_at; for (romp_at = 0; romp_at < {count}; romp_at++) \
             romp_flags_{unique}[romp_at] = POMP_Has_routine(romp_asked_{unique}[romp_at]); \
             if (POMP_Has_routine(\"Register_table\")) {{ {register} }}"
        )
    }
}
