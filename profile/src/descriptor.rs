//! The text form of a region descriptor. Only this module writes and parses it (`opari2`: in
//! the form that other libraries expect).
//!
//! The grammar is that of OPARI2's CTC string, extended by Romp's own keys:
//!
//! ```text
//! length*key=value*key=value*...**
//! 93*regionType=for*sscl=a.c:2:2*escl=a.c:3:9*hasSchedule=dynamic,4*column=3**
//! ```
//!
//! `length` is the length of the whole text in bytes. `regionType`, `sscl` and `escl` (start
//! and end source line: `file:first:last`) are required, unless `module` and `offset` say where
//! the machine code is. A value cannot contain `*`. Texts with
//! Romp's key `romp` percent-encode `%`, `*`, `\` and control characters in every value (a
//! compiler may read a backslash in a Fortran literal as an escape). OPARI2's texts write `@`
//! for `*`.
//!
//! In Fortran, the text is a literal at the region's first probe and ends with the key `id`.
//! The other probes contain only the value of that key:
//!
//! ```text
//! 106*regionType=do*sscl=a.f90:2:2*escl=a.f90:4:4*...*id=5bd1e995:7**
//! 5bd1e995:7
//! ```

mod opari2;

pub use opari2::{pomp2_knows, pomp2_type};

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::{Code, Region};
use crate::region_kind::RegionKind;

/// Version of the grammar's extension; the value of the key `romp`.
pub const EXTENSION_VERSION: &str = "1";

/// The lines that the begin or the end of a construct occupies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLines {
    /// File name as the compiler would give it in `__FILE__`.
    pub file: String,
    /// First line, 1-based.
    pub first: u32,
    /// Last line, 1-based.
    pub last: u32,
}

/// The static record of one construct in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Kind as spelled in the source language, such as `for` or `parallelfor`.
    pub region_type: String,
    /// Lines of the directive that opens the construct.
    pub begin: SourceLines,
    /// Lines of the end directive, or of the construct's last statement.
    pub end: SourceLines,
    /// Name of a critical section, user region or function; the routine of a lock
    /// call.
    pub name: Option<String>,
    /// Number of sections of a `sections` construct.
    pub num_sections: Option<u32>,
    /// Argument of the `schedule` clause.
    pub schedule: Option<String>,
    /// Column of the directive, 1-based, in bytes; 0 if unknown.
    pub column: u32,
    /// The enclosing function, if the construct stands in one.
    pub function: Option<String>,
    /// The directive as written, blanks folded.
    pub directive: Option<String>,
    /// Number of this directive text within its function, from 0. Together with function and
    /// text, it identifies the region even after edits elsewhere in the file.
    pub ordinal: u32,
    /// The one variable that an `atomic` construct writes in all executions of a parallel
    /// region; none if it may be several.
    pub variable: Option<String>,
    /// The reason why the implicit barrier could not be made explicit; none if it could.
    pub unsplit: Option<String>,
    /// The hash of the file of the begin, as it was when the program was built.
    pub hash: Option<String>,
    /// For a function, and for a construct of a program that was not built with Romp: where its
    /// machine code is. It takes the place of lines, which are not known while the program runs.
    pub code: Option<Code>,
    /// Whether the construct is only known to be near the lines.
    pub near: bool,
    /// The id that stands for this text in Fortran literals: `UNIQUE:N`, the N-th region of a
    /// source. UNIQUE is derived from the name and the text of the source.
    pub id: Option<String>,
    /// Every other key, such as `hasReduction`, kept as found.
    pub other: BTreeMap<String, String>,
}

/// Why a text is not a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// A part between `*` is not of the form `key=value`.
    #[error("'{0}' is not of the form key=value")]
    NotAPair(String),
    /// A Fortran literal is neither a descriptor nor an id.
    #[error("'{0}' is not a descriptor")]
    NotALiteral(String),
    /// A required key is missing.
    #[error("the key '{0}' is missing")]
    Missing(&'static str),
    /// A value is not valid.
    #[error("the value '{value}' of '{key}' cannot be read")]
    BadValue {
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
}

/// The content of a Fortran literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal<'a> {
    /// The whole record.
    Record(Box<Descriptor>),
    /// The id of a region whose record is in another literal.
    Id(&'a str),
}

impl<'a> Literal<'a> {
    /// Parses the content of a literal; blanks at its end are ignored.
    ///
    /// # Errors
    /// If it is neither an id nor a valid record.
    pub fn parse(text: &'a str) -> Result<Self, DescriptorError> {
        let text = text.trim_end_matches(' ');
        if text.contains('*') {
            return Ok(Self::Record(Box::new(Descriptor::parse(text)?)));
        }
        let number = text.rsplit_once(':').map(|(_, number)| number);
        match number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            true => Ok(Self::Id(text)),
            false => Err(DescriptorError::NotALiteral(text.to_owned())),
        }
    }
}

impl Descriptor {
    /// The kind of region; none if this version does not know it.
    #[must_use]
    pub fn kind(&self) -> Option<RegionKind> {
        RegionKind::from_region_type(&self.region_type)
    }

    /// The lines at which the construct ends, in the file in which it begins. If the end is in
    /// an included file, these are the lines of its begin.
    #[must_use]
    pub fn end_lines(&self) -> [u32; 2] {
        let is_elsewhere = !self.end.file.is_empty() && self.end.file != self.begin.file;
        let lines = if is_elsewhere { &self.begin } else { &self.end };
        [lines.first, lines.last]
    }

    /// Writes the text form.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut body = String::from("*");
        for (key, value) in self.pairs() {
            // Writing to a String cannot fail.
            let _ = write!(body, "{key}={}*", encode(&value));
        }
        body.push('*');
        format!("{}{body}", length_with_own_digits(body.len()))
    }

    /// The key/value pairs in writing order.
    fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut put = |key: &str, value: Option<String>| {
            pairs.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("regionType", Some(self.region_type.clone()));
        put("sscl", Some(self.begin.to_value()));
        put("escl", Some(self.end.to_value()));
        put(name_key(&self.region_type), self.name.clone());
        put("numSections", self.num_sections.map(|n| n.to_string()));
        put("hasSchedule", self.schedule.clone());
        put("romp", Some(EXTENSION_VERSION.to_owned()));
        put("column", (self.column > 0).then(|| self.column.to_string()));
        put("function", self.function.clone());
        put("directive", self.directive.clone());
        put(
            "ordinal",
            (self.ordinal > 0).then(|| self.ordinal.to_string()),
        );
        put("variable", self.variable.clone());
        put("unsplit", self.unsplit.clone());
        put("hash", self.hash.clone());
        if let Some(code) = &self.code {
            put("module", Some(code.module.clone()));
            put("offset", Some(code.offset.to_string()));
            put("symbol", code.symbol.clone());
        }
        put("near", self.near.then(|| "1".to_owned()));
        for (key, value) in &self.other {
            put(key, Some(value.clone()));
        }
        // The id stands last, so that the last bytes of a text are unique.
        put("id", self.id.clone());
        pairs
    }

    /// Parses a text form, Romp's or OPARI2's. The length in front is neither needed nor
    /// checked.
    ///
    /// # Errors
    /// If a part is no pair, or a required key is missing or unreadable.
    pub fn parse(text: &str) -> Result<Self, DescriptorError> {
        let (_length, body) = text
            .split_once('*')
            .ok_or(DescriptorError::Missing("regionType"))?;
        let pairs = body
            .split('*')
            .take_while(|part| !part.is_empty())
            .map(|part| {
                part.split_once('=')
                    .ok_or_else(|| DescriptorError::NotAPair(part.into()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let ours = pairs.iter().any(|(key, _)| *key == "romp");
        let mut descriptor = Self::default();
        for (key, value) in pairs {
            let value = if ours {
                decode(value)
            } else {
                value.replace('@', "*")
            };
            descriptor.set(key, value)?;
        }
        descriptor.require()
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), DescriptorError> {
        match key {
            "regionType" => self.region_type = value,
            "sscl" => self.begin = SourceLines::parse(key, &value)?,
            "escl" => self.end = SourceLines::parse(key, &value)?,
            "criticalName" | "userRegionName" | "lockRoutine" => self.name = Some(value),
            "numSections" => self.num_sections = Some(number(key, &value)?),
            "hasSchedule" => self.schedule = Some(value),
            "column" => self.column = number(key, &value)?,
            "function" => self.function = Some(value),
            "directive" => self.directive = Some(value),
            "ordinal" => self.ordinal = number(key, &value)?,
            "variable" => self.variable = Some(value),
            "unsplit" => self.unsplit = Some(value),
            "hash" => self.hash = Some(value),
            "id" => self.id = Some(value),
            "module" => self.code.get_or_insert_default().module = value,
            "offset" => self.code.get_or_insert_default().offset = number(key, &value)?,
            "symbol" => self.code.get_or_insert_default().symbol = Some(value),
            "near" => self.near = value == "1",
            "romp" => {}
            _ => drop(self.other.insert(key.to_owned(), value)),
        }
        Ok(())
    }

    fn require(self) -> Result<Self, DescriptorError> {
        if self.region_type.is_empty() {
            return Err(DescriptorError::Missing("regionType"));
        }
        // Machine code takes the place of lines.
        if self.code.is_some() {
            return Ok(self);
        }
        if self.begin.first == 0 {
            return Err(DescriptorError::Missing("sscl"));
        }
        if self.end.first == 0 {
            return Err(DescriptorError::Missing("escl"));
        }
        Ok(self)
    }
}

/// A region of a profile as a descriptor, which a trace may contain.
impl From<&Region> for Descriptor {
    fn from(region: &Region) -> Self {
        let lines = |[first, last]: [u32; 2]| SourceLines {
            file: region.file.clone(),
            first,
            last,
        };
        Self {
            region_type: region.region_type.clone(),
            begin: lines(region.begin),
            end: lines(region.end),
            name: region.name.clone(),
            num_sections: region.num_sections,
            schedule: region.schedule.clone(),
            column: region.column,
            function: region.function.clone(),
            directive: region.directive.clone(),
            ordinal: region.ordinal,
            variable: region.variable.clone(),
            unsplit: region.unsplit.clone(),
            code: region.code.clone(),
            near: region.near,
            ..Self::default()
        }
    }
}

/// The key that OPARI2 uses for the name of a region of this type.
fn name_key(region_type: &str) -> &'static str {
    match RegionKind::from_region_type(region_type) {
        Some(RegionKind::User) => "userRegionName",
        Some(RegionKind::Lock) => "lockRoutine",
        Some(RegionKind::Function) => "functionName",
        _ => "criticalName",
    }
}

impl SourceLines {
    fn to_value(&self) -> String {
        format!("{}:{}:{}", self.file, self.first, self.last)
    }

    /// Reads `file:first:last`; the file name itself may contain colons.
    fn parse(key: &str, value: &str) -> Result<Self, DescriptorError> {
        let bad = || DescriptorError::BadValue {
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let mut parts = value.rsplitn(3, ':');
        let last = parts.next().and_then(|n| n.parse().ok()).ok_or_else(bad)?;
        let first = parts.next().and_then(|n| n.parse().ok()).ok_or_else(bad)?;
        let file = parts.next().ok_or_else(bad)?.to_owned();
        Ok(Self { file, first, last })
    }
}

fn number<N: std::str::FromStr>(key: &str, value: &str) -> Result<N, DescriptorError> {
    let bad = || DescriptorError::BadValue {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    value.parse().map_err(|_| bad())
}

/// The total length of a text that begins with its own length in decimal.
fn length_with_own_digits(body: usize) -> usize {
    let mut total = body + 1;
    while total.to_string().len() + body != total {
        total = total.to_string().len() + body;
    }
    total
}

fn encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '%' | '*' | '\\') || c.is_ascii_control() {
            let _ = write!(out, "%{:02X}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

fn decode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let code = rest
            .get(at + 1..at + 3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether an `atomic` directive has the clause `read` (OpenMP 6.0, 17.8.4). Fortran has no case.
#[must_use]
pub fn has_read_clause(directive: &str) -> bool {
    let mut words = directive.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word.eq_ignore_ascii_case("read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_opari2_writes() {
        let text = "93*regionType=parallelfor*sscl=/tmp/op/a.c:2:2*escl=/tmp/op/a.c:3:3*hasSchedule=dynamic,n@2**";
        let descriptor = Descriptor::parse(text).unwrap();
        assert_eq!(descriptor.kind(), Some(RegionKind::ParallelLoop));
        assert_eq!(
            descriptor.begin,
            SourceLines {
                file: "/tmp/op/a.c".into(),
                first: 2,
                last: 2
            }
        );
        assert_eq!(descriptor.schedule.as_deref(), Some("dynamic,n*2"));
    }

    #[test]
    fn a_range_of_lines_is_of_one_file() {
        let ends = |end: &str| {
            let text = format!("9*regionType=for*sscl=a.h:20:20*escl={end}**");
            Descriptor::parse(&text).unwrap().end_lines()
        };
        assert_eq!(ends("a.h:31:31"), [31, 31]);
        assert_eq!(ends("end.h:3:3"), [20, 20]);
        assert_eq!(ends("end.h:300:300"), [20, 20]);
    }

    #[test]
    fn names_what_is_missing() {
        assert_eq!(
            Descriptor::parse("9*a=b**"),
            Err(DescriptorError::Missing("regionType"))
        );
        assert_eq!(
            Descriptor::parse("9*ab**"),
            Err(DescriptorError::NotAPair("ab".into()))
        );
        assert_eq!(
            Descriptor::parse("9*regionType=for**"),
            Err(DescriptorError::Missing("sscl"))
        );
    }

    #[test]
    fn a_literal_is_a_record_or_an_id() {
        let record = Descriptor {
            region_type: "do".into(),
            begin: SourceLines {
                file: "a\\b.f90".into(),
                first: 1,
                last: 1,
            },
            end: SourceLines {
                file: "a\\b.f90".into(),
                first: 2,
                last: 2,
            },
            variable: Some("*n".into()),
            id: Some("5bd1e995:7".into()),
            other: BTreeMap::from([("zz".into(), "1".into())]),
            ..Descriptor::default()
        };
        let text = record.to_text();
        assert!(text.ends_with("*zz=1*id=5bd1e995:7**") && !text.contains('\\'));
        assert_eq!(
            Literal::parse(&format!("{text}  ")),
            Ok(Literal::Record(Box::new(record)))
        );
        assert_eq!(Literal::parse("5bd1e995:7 "), Ok(Literal::Id("5bd1e995:7")));
        for bad in ["", " ", "x", "x:", "x:y", "9*ab**"] {
            assert!(Literal::parse(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_form_round_trips(
            file in "[^\u{0}]{1,20}",
            name in proptest::option::of(".{1,12}"),
            directive in proptest::option::of("\\PC{1,40}"),
            first in 1u32..100_000,
            ordinal in 0u32..5,
        ) {
            let lines = SourceLines { file, first, last: first + 1 };
            let descriptor = Descriptor {
                region_type: "critical".into(),
                begin: lines.clone(),
                end: lines,
                name,
                directive,
                ordinal,
                ..Descriptor::default()
            };
            let text = descriptor.to_text();
            let length: usize = text.split('*').next().unwrap().parse().unwrap();
            prop_assert_eq!(length, text.len());
            prop_assert_eq!(Descriptor::parse(&text).unwrap(), descriptor);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}") {
            let _ = Descriptor::parse(&text);
        }
    }
}
