//! Functions of the program as regions: which of them are wanted, and their names. `symbols`
//! reads the functions of an executable file.

mod symbols;

pub use symbols::Symbols;

use crate::analysis::pattern::glob;

/// Beginnings of the names of functions that a compiler made from parts of the user's
/// functions: the bodies of constructs, which are regions anyway.
const OUTLINED: &[&str] = &[".omp", "__omp", "__kmpc", ".nondebug_wrapper."];

/// Which functions are wanted, as a list of patterns says.
///
/// A pattern is a whole name, in which `*` stands for anything and `?` for one character. A
/// pattern with `!` in front names functions that are not wanted. If all patterns begin with
/// `!`, every other function is wanted.
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

    /// Whether a function that has these names is wanted.
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

/// Whether a compiler made the function with this symbol from a part of another one.
#[must_use]
pub fn is_outlined(symbol: &str) -> bool {
    OUTLINED.iter().any(|start| symbol.starts_with(start))
}

/// The name shown for a Fortran main program without a known name.
pub const MAIN_PROGRAM: &str = "main program";

/// The user's name for the function with this symbol: in C++ without result and parameters, in
/// Fortran (GNU's) with its module. `demangle` is the function of the C++ runtime, which every
/// C++ program contains. A demangler of our own would make up a tenth of the code that Romp
/// adds to each program.
#[must_use]
pub fn name(symbol: &str, demangle: &dyn Fn(&str) -> Option<String>) -> String {
    if symbol == "MAIN__" {
        return MAIN_PROGRAM.to_owned();
    }
    if let Some((module, procedure)) = of_module(symbol) {
        return format!("{module}::{procedure}");
    }
    // Without the prefix, the symbol would be demangled as the name of a type.
    let is_mangled = symbol.starts_with("_Z");
    is_mangled
        .then(|| of_cxx(symbol, demangle))
        .flatten()
        .unwrap_or_else(|| symbol.to_owned())
}

/// The name of a C++ function without result and parameters.
///
/// A symbol is the mangled name, followed by the mangled types. A mangled name that is nested
/// or has template arguments ends in `E`, and is a valid symbol by itself. It is the shortest
/// prefix of the symbol that demangles to the text directly in front of the parameters. If
/// there is no such prefix, the function is no template, and its demangled text contains no
/// result.
fn of_cxx(symbol: &str, demangle: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let whole = demangle(symbol)?;
    let ends = symbol.match_indices('E').map(|(at, _)| at + 1);
    let names = ends.filter_map(|end| demangle(symbol.get(..end)?));
    let mut names = names.map(|name| without_qualifiers(&name).to_owned());
    let is_name = |name: &String| {
        whole.match_indices(name.as_str()).any(|(at, _)| {
            let before = &whole[..at];
            let behind = &whole[at + name.len()..];
            (before.is_empty() || before.ends_with(' ')) && behind.starts_with('(')
        })
    };
    let name = names.find(is_name);
    name.or_else(|| Some(whole.split('(').next()?.to_owned()))
}

/// A member function's name without qualifiers such as `const`.
fn without_qualifiers(name: &str) -> &str {
    const QUALIFIERS: [&str; 4] = [" const", " volatile", " &", "&&"];
    let mut name = name;
    while let Some(shorter) = QUALIFIERS.iter().find_map(|end| name.strip_suffix(end)) {
        name = shorter.trim_end();
    }
    name
}

/// The module and the procedure in `__module_MOD_procedure`.
fn of_module(symbol: &str) -> Option<(&str, &str)> {
    symbol.strip_prefix("__")?.split_once("_MOD_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C++ runtime's function, as a command.
    fn demangled(symbol: &str) -> Option<String> {
        let output = std::process::Command::new("c++filt").arg(symbol).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        Some(text.trim_end().to_owned()).filter(|text| text != symbol)
    }

    #[test]
    fn names_are_as_in_the_source() {
        for (symbol, expected) in [
            ("main", "main"),
            ("g", "g"),
            ("_ZN6Solver4stepEdi", "Solver::step"),
            ("_ZNK6Solver4stepEv", "Solver::step"),
            ("_ZNR6SolverclEi", "Solver::operator()"),
            ("_ZN6SolverD2Ev", "Solver::~Solver"),
            ("_ZN1AIiE1fIdEEvT_", "A<int>::f<double>"),
            ("_Z5solveIdET_S0_", "solve<double>"),
            ("_ZSt4sortIPiEvT_S1_", "std::sort<int*>"),
            ("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"),
            ("_ZN12_GLOBAL__N_14workEi", "(anonymous namespace)::work"),
            ("_Z7installPFvvE", "install"),
            ("_ZL4initv", "init"),
            ("_ZplRK1AS1_", "operator+"),
            ("__physics_MOD_step", "physics::step"),
            ("MAIN__", "main program"),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(name(symbol, &demangled), expected);
        }
        // A program without C++ has no demangler.
        assert_eq!(name("_ZL4initv", &|_| None), "_ZL4initv");
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
