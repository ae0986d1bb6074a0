//! The text form exactly as OPARI2 writes it, for measurement libraries other than Romp's. At
//! keys or values that they do not know, the parsers of some libraries print messages, and some
//! end the program.

use crate::region_kind::{Pomp2, RegionKind};
use crate::schedule::Schedule;

use super::{Descriptor, SourceLines, length_with_own_digits, name_key};

/// Keys that are passed on if a descriptor has them.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "hasCollapse", "hasCopyIn", "hasCopyPrivate", "hasDefault", "hasFirstPrivate", "hasIf",
    "hasLastPrivate", "hasNowait", "hasNum_threads", "hasOrdered", "hasReduction", "hasShared",
    "hasUntied",
];

/// Kinds of schedule that are known.
const SCHEDULES: &[&str] = &["static", "dynamic", "guided", "runtime", "auto"];

/// Valid arguments of the clause `default`.
const DEFAULTS: &[&str] = &["none", "shared", "private", "firstprivate"];

/// The type of a region in POMP2, which does not know newer names.
#[must_use]
pub fn pomp2_type(region_type: &str) -> &str {
    match RegionKind::from_region_type(region_type).map(RegionKind::pomp2) {
        Some(Pomp2::As(other)) => other,
        _ => region_type,
    }
}

/// Whether the parsers of POMP2's libraries know this type of a region.
#[must_use]
pub fn pomp2_knows(region_type: &str) -> bool {
    let kind = RegionKind::from_region_type(region_type);
    kind.is_some_and(|kind| kind.pomp2() != Pomp2::Unknown)
}

impl Descriptor {
    /// Writes the text form without Romp's own keys.
    #[must_use]
    pub fn to_ctc(&self) -> String {
        let mut pairs = vec![
            ("regionType", pomp2_type(&self.region_type).to_owned()),
            ("sscl", readable(&self.begin)),
            ("escl", readable(&self.end)),
        ];
        let mut put = |key, value: Option<String>| pairs.extend(value.map(|value| (key, value)));
        put(name_key(&self.region_type), self.name.clone());
        put("numSections", self.num_sections.map(|n| n.to_string()));
        put(
            "hasSchedule",
            self.schedule.as_deref().and_then(known_schedule),
        );
        for key in KEYS {
            let value = self.other.get(*key).cloned();
            put(key, value.and_then(|value| known_value(key, value)));
        }
        let pairs = pairs.iter();
        let body: String = pairs
            .map(|(key, value)| format!("{key}={}*", value.replace('*', "@")))
            .collect();
        let body = format!("*{body}*");
        format!("{}{body}", length_with_own_digits(body.len()))
    }
}

/// Lines in a form that those parsers read: the first colon ends the file's name, and the last
/// line must not come before the first.
fn readable(lines: &SourceLines) -> String {
    let readable = SourceLines {
        file: lines.file.replace(':', "@"),
        first: lines.first,
        last: lines.last.max(lines.first),
    };
    readable.to_value()
}

/// The value of a key, if the parsers know it.
fn known_value(key: &str, value: String) -> Option<String> {
    if key != "hasDefault" {
        return Some(value);
    }
    let is_it = |known: &&&str| known.eq_ignore_ascii_case(&value);
    DEFAULTS.iter().find(is_it).map(|known| (*known).to_owned())
}

/// A schedule without modifiers and blanks, its kind in lower case; none if the kind is not
/// known.
fn known_schedule(schedule: &str) -> Option<String> {
    let schedule = Schedule::of(schedule);
    let known = SCHEDULES.iter().find(|known| schedule.is(known))?;
    Some(match schedule.chunk {
        Some(chunk) => format!("{known},{chunk}"),
        None => (*known).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::SourceLines;
    use super::*;

    #[test]
    fn schedules_are_written_as_opari2_does() {
        for (schedule, written) in [
            ("static , 2", Some("static,2")),
            ("GUIDED", Some("guided")),
            ("monotonic: dynamic,2*n", Some("dynamic,2*n")),
            ("KIND", None),
        ] {
            assert_eq!(known_schedule(schedule).as_deref(), written, "{schedule}");
        }
    }

    #[test]
    fn what_would_end_the_program_is_not_written() {
        let lines = SourceLines {
            file: "C:a*.f90".into(),
            first: 4,
            last: 3,
        };
        let of_default = |value: &str| {
            let descriptor = Descriptor {
                region_type: "parallel".into(),
                begin: lines.clone(),
                end: lines.clone(),
                other: [("hasDefault".to_owned(), value.to_owned())].into(),
                ..Descriptor::default()
            };
            descriptor.to_ctc()
        };
        assert_eq!(
            of_default("SHARED"),
            "78*regionType=parallel*sscl=C@a@.f90:4:4*escl=C@a@.f90:4:4*hasDefault=shared**"
        );
        assert!(!of_default("none: scalar").contains("hasDefault"));
    }

    #[test]
    fn nothing_stands_in_it_that_opari2_does_not_write() {
        let lines = SourceLines {
            file: "a.c".into(),
            first: 2,
            last: 2,
        };
        let descriptor = Descriptor {
            region_type: "for".into(),
            begin: lines.clone(),
            end: lines,
            schedule: Some("monotonic: dynamic,2*n".into()),
            column: 7,
            directive: Some("omp for".into()),
            ..Descriptor::default()
        };
        assert_eq!(
            descriptor.to_ctc(),
            "69*regionType=for*sscl=a.c:2:2*escl=a.c:2:2*hasSchedule=dynamic,2@n**"
        );
    }
}
