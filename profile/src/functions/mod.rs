//! Functions of the program as regions: which of them are wanted, and how they
//! are called. `symbols` reads what an executable file says of its functions.

mod symbols;

pub use symbols::Symbols;

use cpp_demangle::{DemangleOptions, Symbol};

use crate::analysis::pattern::glob;

/// Functions that a compiler has made of parts of the user's, with these
/// beginnings: the bodies of constructs, which are regions anyway.
const OUTLINED: &[&str] = &[".omp", "__omp", "__kmpc", ".nondebug_wrapper."];

/// Which functions are wanted, as a list of patterns says.
///
/// A pattern is a whole name, in which `*` stands for anything and `?` for one
/// character. With `!` in front it names functions that are not wanted. If all
/// patterns have that, every other function is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Filter {
    /// Reads patterns separated by commas.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        let mut filter = Self::default();
        let words = list.split(',').map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            match word.strip_prefix('!') {
                Some(pattern) => filter.unwanted.push(pattern.trim().to_owned()),
                None => filter.wanted.push(word.to_owned()),
            }
        }
        filter
    }

    /// Whether a function is wanted that goes by these names.
    #[must_use]
    pub fn wants(&self, names: &[&str]) -> bool {
        let any = |patterns: &[String]| {
            patterns.iter().any(|pattern| {
                let matches = |name: &&str| glob(pattern.as_bytes(), name.as_bytes());
                names.iter().any(matches)
            })
        };
        (self.wanted.is_empty() || any(&self.wanted)) && !any(&self.unwanted)
    }
}

/// Whether a compiler made the function with this symbol of a part of another.
#[must_use]
pub fn is_outlined(symbol: &str) -> bool {
    OUTLINED.iter().any(|start| symbol.starts_with(start))
}

/// How the user calls the function with this symbol: in C++ without result and
/// parameters, in Fortran (GNU's) with its module.
#[must_use]
pub fn name(symbol: &str) -> String {
    if symbol == "MAIN__" {
        return "main program".to_owned();
    }
    if let Some((module, procedure)) = of_module(symbol) {
        return format!("{module}::{procedure}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    // Without the beginning it would be read as the name of a type.
    let mangled = symbol.starts_with("_Z").then(|| Symbol::new(symbol).ok());
    mangled
        .flatten()
        .and_then(|known| known.demangle_with_options(&options).ok())
        .unwrap_or_else(|| symbol.to_owned())
}

/// Module and procedure of `__module_MOD_procedure`.
fn of_module(symbol: &str) -> Option<(&str, &str)> {
    symbol.strip_prefix("__")?.split_once("_MOD_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_in_the_source() {
        for (symbol, expected) in [
            ("main", "main"),
            ("g", "g"),
            ("_ZN6Solver4stepEdi", "Solver::step"),
            ("_Z5solveIdET_S0_", "solve<double>"),
            ("_ZL4initv", "init"),
            ("__physics_MOD_step", "physics::step"),
            ("MAIN__", "main program"),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(name(symbol), expected);
        }
    }

    #[test]
    fn patterns_choose_functions() {
        let wants = |list: &str, name: &str| Filter::parse(list).wants(&[name]);
        assert!(wants("", "any"));
        assert!(wants("solve*", "solver") && !wants("solve*", "resolve"));
        assert!(wants("!get_*", "solve") && !wants("!get_*", "get_x"));
        assert!(wants("a*, !ab*", "ac") && !wants("a*, !ab*", "abc"));
        assert!(!wants("!*", "any"));
        assert!(Filter::parse("_Z4stepi").wants(&["step", "_Z4stepi"]));
    }
}
