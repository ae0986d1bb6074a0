//! Fixtures: where they are and what their headers ask for. The language of the
//! headers is described in the crate's documentation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use profile::region_kind::RegionKind;

use crate::Outcome;

const MARK: &str = "romp-test:";

/// One program under `fixtures/`.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The source file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What its header asks for.
    pub header: Header,
}

/// What the header of a fixture asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Values of `-std=`.
    pub standards: Vec<String>,
    /// Names of compilers.
    pub compilers: Vec<String>,
    /// Further flags.
    pub flags: Vec<String>,
    /// Environment of the program.
    pub environment: Vec<(String, String)>,
    /// `OMP_NUM_THREADS`.
    pub threads: u32,
    /// Measured constructs by kind, if the table isn't left open.
    pub regions: Option<BTreeMap<RegionKind, Count>>,
    /// Whether anything was said about regions.
    pub says_regions: bool,
    /// Entries of threads by kind.
    pub visits: BTreeMap<RegionKind, Count>,
    /// Number of remarks that the run must have.
    pub notes: usize,
    /// Source forms that a Fortran program is valid in.
    pub forms: Vec<Form>,
    /// What is still missing for the profile to be as the header says.
    pub gap: Option<String>,
}

/// A source form of Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Free form.
    Free,
    /// Fixed form.
    Fixed,
}

impl Form {
    /// A file's extension for this form; upper case stays.
    fn extension(self, old: &str) -> &'static str {
        match (self, old.starts_with('F')) {
            (Self::Free, false) => "f90",
            (Self::Free, true) => "F90",
            (Self::Fixed, false) => "f",
            (Self::Fixed, true) => "F",
        }
    }
}

/// An expected number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Any number above 0.
    Any,
    /// Exactly this number.
    Exactly(u64),
}

impl Count {
    /// Whether a number is the expected one.
    #[must_use]
    pub fn admits(self, number: u64) -> bool {
        match self {
            Self::Any => number > 0,
            Self::Exactly(expected) => number == expected,
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("some"),
            Self::Exactly(number) => write!(f, "{number}"),
        }
    }
}

impl Default for Header {
    fn default() -> Self {
        Self {
            standards: vec!["c99".into(), "gnu17".into()],
            compilers: vec!["gcc".into(), "clang".into()],
            flags: Vec::new(),
            environment: Vec::new(),
            threads: 4,
            regions: None,
            says_regions: false,
            visits: BTreeMap::new(),
            notes: 0,
            forms: vec![Form::Free, Form::Fixed],
            gap: None,
        }
    }
}

impl Header {
    /// Reads the directives in the first comment of a program.
    ///
    /// # Errors
    /// If a directive isn't understood: a misspelt one must not go unnoticed.
    pub fn parse(text: &str) -> Outcome<Self> {
        let mut header = match is_c(text) {
            true => Self::default(),
            false => Self::fortran(),
        };
        let comment = first_comment(text);
        if text[comment.len()..].contains(MARK) {
            return Err(format!("'{MARK}' stands behind the first comment"));
        }
        for line in comment.lines() {
            let Some((_, directives)) = line.split_once(MARK) else {
                continue;
            };
            for pair in directives.split_whitespace() {
                let (key, value) = pair
                    .split_once('=')
                    .ok_or_else(|| format!("'{pair}' is no key=value"))?;
                header.set(key, value)?;
            }
        }
        Ok(header)
    }

    fn fortran() -> Self {
        Self {
            standards: ["f2008", "f2018", "legacy"].map(str::to_owned).to_vec(),
            compilers: vec!["gfortran".into()],
            ..Self::default()
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Outcome<()> {
        let list = || value.split(',').map(str::to_owned);
        match key {
            "std" => self.standards = list().collect(),
            "compilers" => self.compilers = list().collect(),
            "flags" => self.flags.extend(list()),
            "env" => {
                let (name, value) = value
                    .split_once('=')
                    .ok_or_else(|| format!("'{value}' is no NAME=VALUE"))?;
                self.environment.push((name.to_owned(), value.to_owned()));
            }
            "threads" => {
                self.threads = value
                    .parse()
                    .map_err(|_| format!("'{value}' is no number"))?;
            }
            "regions" => {
                self.says_regions = true;
                self.regions = if value == "*" {
                    None
                } else {
                    Some(counts(value)?)
                };
            }
            "visits" => self.visits = counts(value)?,
            "notes" => {
                self.notes = value
                    .parse()
                    .map_err(|_| format!("'{value}' is no number"))?;
            }
            "form" => {
                self.forms = match value {
                    "free" => vec![Form::Free],
                    "fixed" => vec![Form::Fixed],
                    _ => return Err(format!("'{value}' is no source form")),
                };
            }
            "gap" => self.gap = Some(value.to_owned()),
            _ => return Err(format!("the key '{key}' is not known")),
        }
        Ok(())
    }
}

/// Whether a text is a C program by its first comment.
fn is_c(text: &str) -> bool {
    text.starts_with("/*") || text.starts_with("//")
}

/// The first comment of a C program, or the lines of comment that a Fortran
/// program begins with.
fn first_comment(text: &str) -> &str {
    if is_c(text) {
        return text.split("*/").next().unwrap_or_default();
    }
    let lines = text.split_inclusive('\n');
    let comment = lines.take_while(|line| line.starts_with(['!', 'c', 'C', '*']));
    &text[..comment.map(str::len).sum()]
}

/// Reads `kind:number,kind:*`.
fn counts(text: &str) -> Outcome<BTreeMap<RegionKind, Count>> {
    let mut counts = BTreeMap::new();
    for entry in text.split(',') {
        let (name, number) = entry
            .split_once(':')
            .ok_or_else(|| format!("'{entry}' is no kind:number"))?;
        let count = match number {
            "*" => Count::Any,
            _ => Count::Exactly(
                number
                    .parse()
                    .map_err(|_| format!("'{number}' is no number"))?,
            ),
        };
        if counts.insert(kind(name)?, count).is_some() {
            return Err(format!("'{name}' is there twice"));
        }
    }
    Ok(counts)
}

/// The kind that saved profiles call by this name.
fn kind(name: &str) -> Outcome<RegionKind> {
    serde_json::from_value(serde_json::Value::String(name.to_owned()))
        .map_err(|_| format!("'{name}' is no kind of region"))
}

/// Whether a file is a program by its extension.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    const EXTENSIONS: &[&str] = &["c", "cpp", "f90", "F90", "f", "F"];
    path.extension()
        .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

/// The folder `fixtures/` of the repository.
#[must_use]
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

impl Fixture {
    /// Reads one program, by its path below `fixtures/`.
    ///
    /// # Errors
    /// If it can't be read or its header isn't understood.
    pub fn read(below_fixtures: &str) -> Outcome<Self> {
        Self::at(fixtures().join(below_fixtures))
    }

    fn at(path: PathBuf) -> Outcome<Self> {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let header = Header::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { path, text, header })
    }

    /// All programs in a folder below `fixtures/`, in order of their names.
    ///
    /// With `ROMP_TEST_ONLY` in the environment, those whose names contain it.
    ///
    /// # Errors
    /// If one can't be read, or if there are none.
    pub fn all_in(folder: &str) -> Outcome<Vec<Self>> {
        let folder = fixtures().join(folder);
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let only = env::var("ROMP_TEST_ONLY").unwrap_or_default();
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_program(path))
            .filter(|path| path.to_string_lossy().contains(&only))
            .collect();
        paths.sort();
        if paths.is_empty() {
            return Err(format!("{} has no program '*{only}*.c'", folder.display()));
        }
        paths.into_iter().map(Self::at).collect()
    }

    /// A copy of a Fortran program in a folder, by a name that says its form.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn copy_in_form(&self, form: Form, folder: &Path) -> Outcome<Self> {
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        let name = format!("{}.{}", self.name(), form.extension(&extension));
        let path = folder.join(name);
        fs::write(&path, &self.text).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut header = self.header.clone();
        let included = fixtures().join("fortran");
        header.flags.push(format!("-I{}", included.display()));
        Ok(Self {
            path,
            text: self.text.clone(),
            header,
        })
    }

    /// The name of the program: that of its file, without extension.
    #[must_use]
    pub fn name(&self) -> String {
        self.path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// The number of the only line that contains a text.
    ///
    /// # Errors
    /// If there is none or several.
    pub fn line_of(&self, text: &str) -> Outcome<u32> {
        let mut lines = (1u32..)
            .zip(self.text.lines())
            .filter(|(_, line)| line.contains(text));
        match (lines.next(), lines.next()) {
            (Some((number, _)), None) => Ok(number),
            (None, _) => Err(format!("{}: no line contains '{text}'", self.name())),
            _ => Err(format!("{}: several lines contain '{text}'", self.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_key_of_a_header() {
        let header = Header::parse(
            "/* About.\n * romp-test: std=c90 compilers=gcc\r\n * romp-test: flags=-a,-b env=X=Y=Z\n\
             * romp-test: threads=2 regions=parallel_loop:2,lock:* visits=critical:7 notes=1 gap=x */\nint x;",
        )
        .unwrap();
        assert_eq!(header.standards, ["c90"]);
        assert_eq!(header.compilers, ["gcc"]);
        assert_eq!(header.flags, ["-a", "-b"]);
        assert_eq!(header.environment, [("X".to_owned(), "Y=Z".to_owned())]);
        assert_eq!(header.threads, 2);
        assert_eq!(header.notes, 1);
        assert_eq!(header.gap.as_deref(), Some("x"));
        let regions = header.regions.unwrap();
        assert_eq!(regions[&RegionKind::ParallelLoop], Count::Exactly(2));
        assert_eq!(regions[&RegionKind::Lock], Count::Any);
        assert_eq!(header.visits[&RegionKind::Critical], Count::Exactly(7));
        assert_eq!(Header::parse("/* none */").unwrap(), Header::default());
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for text in [
            "romp-test: colour=red",
            "romp-test: regions=parallels:1",
            "romp-test: regions=parallel:1,parallel:2",
            "romp-test: visits=parallel:many",
            "romp-test: threads=few",
            "romp-test: notes=some",
            "romp-test: std",
        ] {
            assert!(Header::parse(&format!("/* {text} */")).is_err(), "{text}");
        }
        assert!(Header::parse("/* about */ /* romp-test: std=c99 */").is_err());
    }

    #[test]
    fn any_is_not_none() {
        assert!(!Count::Any.admits(0) && Count::Any.admits(3));
        assert!(!Count::Exactly(2).admits(3) && Count::Exactly(2).admits(2));
    }
}
