//! Fixtures: where they are and what their headers ask for. The language of the
//! headers is described in the crate's documentation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use profile::region_kind::RegionKind;

use crate::Outcome;

const MARK: &str = "romp-test:";

/// One program under `fixtures/`.
#[derive(Debug)]
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
    /// What is still missing for the profile to be as the header says.
    pub gap: Option<String>,
}

/// An expected number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Any number but none.
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
        let mut header = Self::default();
        let comment = text.split("*/").next().unwrap_or_default();
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
            "gap" => self.gap = Some(value.to_owned()),
            _ => return Err(format!("the key '{key}' is not known")),
        }
        Ok(())
    }
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
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "c" || extension == "cpp")
            })
            .filter(|path| path.to_string_lossy().contains(&only))
            .collect();
        paths.sort();
        if paths.is_empty() {
            return Err(format!("{} has no program '*{only}*.c'", folder.display()));
        }
        paths.into_iter().map(Self::at).collect()
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
