//! Formulas over counters, like ompP's evaluators: numbers, names of counters, `execT`
//! (seconds) and `execC`, with `+ - * /` and brackets.
//!
//! A name may contain `-`, as names of counters do. If several known names match at a place,
//! the longest one is taken.

use std::fmt;

/// The name of a region's time in a formula, in seconds.
pub const EXEC_TIME: &str = "execT";
/// The name of a region's number of executions in a formula.
pub const EXEC_COUNT: &str = "execC";

/// A named formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The name of its value.
    pub name: String,
    program: Expression,
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Number(f64),
    Name(String),
    Binary(Box<(Expression, u8, Expression)>),
}

/// Why a formula is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FormulaError {
    text: String,
    known: Vec<String>,
    rest: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, known, rest } = self;
        let place = match rest.is_empty() {
            true => "its end".to_owned(),
            false => format!("'{rest}'"),
        };
        write!(
            f,
            "'{text}' is not a formula: it cannot be read at {place}; write NAME=FORMULA with numbers, + - * / \
             ( ), {}, and counters that ROMP_COUNTERS names",
            known.join(", ")
        )
    }
}

impl Formula {
    /// Parses `NAME=FORMULA`, or a formula that serves as its own name.
    ///
    /// # Errors
    /// If the text is no formula, or contains an unknown name.
    pub fn parse(text: &str, known: &[&str]) -> Result<Self, FormulaError> {
        let (name, formula) = text.split_once('=').unwrap_or((text, text));
        let mut parser = Parser {
            rest: formula,
            known,
        };
        let program = parser.sum();
        match program.filter(|_| parser.rest.trim().is_empty()) {
            Some(program) => Ok(Self {
                name: name.trim().to_owned(),
                program,
            }),
            None => Err(FormulaError {
                text: text.trim().to_owned(),
                known: known.iter().map(|&name| name.to_owned()).collect(),
                rest: parser.rest.trim().to_owned(),
            }),
        }
    }

    /// The value; none if the formula divides by zero.
    pub fn value(&self, of: impl Fn(&str) -> f64) -> Option<f64> {
        Some(self.program.value(&of)).filter(|value| value.is_finite())
    }
}

impl Expression {
    fn value(&self, of: &impl Fn(&str) -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Name(name) => of(name),
            Self::Binary(parts) => {
                let (left, operator, right) = &**parts;
                let (left, right) = (left.value(of), right.value(of));
                match operator {
                    b'+' => left + right,
                    b'-' => left - right,
                    b'*' => left * right,
                    _ => left / right,
                }
            }
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    known: &'t [&'t str],
}

impl Parser<'_> {
    fn sum(&mut self) -> Option<Expression> {
        self.chain([b'+', b'-'], Self::product)
    }

    fn product(&mut self) -> Option<Expression> {
        self.chain([b'*', b'/'], Self::operand)
    }

    fn chain(
        &mut self,
        operators: [u8; 2],
        part: fn(&mut Self) -> Option<Expression>,
    ) -> Option<Expression> {
        let mut left = part(self)?;
        while let Some(operator) = operators.into_iter().find(|&operator| self.eat(operator)) {
            left = Expression::Binary(Box::new((left, operator, part(self)?)));
        }
        Some(left)
    }

    fn operand(&mut self) -> Option<Expression> {
        if self.eat(b'(') {
            let inner = self.sum()?;
            return self.eat(b')').then_some(inner);
        }
        self.rest = self.rest.trim_start();
        let name = self
            .known
            .iter()
            .filter(|name| starts_with(self.rest, name))
            .max_by_key(|name| name.len());
        if let Some(name) = name {
            self.rest = &self.rest[name.len()..];
            return Some(Expression::Name((*name).to_owned()));
        }
        let digits = |c: char| !(c.is_ascii_digit() || c == '.');
        let end = self.rest.find(digits).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        let number = number.parse().ok()?;
        self.rest = rest;
        Some(Expression::Number(number))
    }

    fn eat(&mut self, byte: u8) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.as_bytes().first() == Some(&byte);
        if found {
            self.rest = &rest[1..];
        }
        found
    }
}

/// Whether a text starts with a name, in any case, and the name ends there.
fn starts_with(text: &str, name: &str) -> bool {
    let goes_on = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    text.get(..name.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(name))
        && !text.as_bytes().get(name.len()).is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["cycles", "ref-cycles", "instructions", "execT"];

    fn value(text: &str) -> Option<f64> {
        let formula = Formula::parse(text, &KNOWN).unwrap();
        formula.value(|name| match name {
            "cycles" => 8.0,
            "ref-cycles" => 4.0,
            "instructions" => 16.0,
            _ => 0.0,
        })
    }

    #[test]
    fn formulas_have_values() {
        assert_eq!(value("ipc=instructions/cycles"), Some(2.0));
        assert_eq!(value("1 + 2*(cycles - ref-cycles) / 4"), Some(3.0));
        assert_eq!(value("INSTRUCTIONS - cycles - 1"), Some(7.0));
        assert_eq!(value("instructions / EXECT"), None);
    }

    #[test]
    fn what_is_no_formula_is_told_with_its_place() {
        for (text, place) in [
            ("x=cycles/", "its end"),
            ("flops/execT", "'flops/execT'"),
            ("(cycles", "its end"),
            ("cycles 2", "'2'"),
        ] {
            let message = Formula::parse(text, &KNOWN).unwrap_err().to_string();
            assert!(message.contains(&format!("at {place};")), "{message}");
        }
    }
}
