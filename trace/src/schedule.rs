//! Schedules of loops, and the chunks that the OpenMP specification defines for them.

/// The kind of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// There is no clause: the implementation's choice, static everywhere.
    #[default]
    Default = 0,
    /// `static`
    Static = 1,
    /// `dynamic`
    Dynamic = 2,
    /// `guided`
    Guided = 3,
    /// `auto`
    Auto = 4,
    /// `runtime`
    Runtime = 5,
    /// Another one.
    Other = 6,
}

impl Kind {
    /// The kind of a clause's argument, such as `nonmonotonic:dynamic,4`.
    #[must_use]
    pub fn of(clause: Option<&str>) -> Self {
        let Some(clause) = clause else {
            return Self::Default;
        };
        let kind = clause.split(',').find_map(|part| {
            let name = part.rsplit(':').next().unwrap_or(part).trim();
            Self::named(&name.to_ascii_lowercase())
        });
        kind.unwrap_or(Self::Other)
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "static" => Some(Self::Static),
            "dynamic" => Some(Self::Dynamic),
            "guided" => Some(Self::Guided),
            "auto" => Some(Self::Auto),
            "runtime" => Some(Self::Runtime),
            _ => None,
        }
    }

    /// The kind that `omp_get_schedule` gives, without its modifier.
    #[must_use]
    pub fn of_runtime(kind: i32) -> Self {
        match kind & 0x7fff_ffff {
            1 => Self::Static,
            2 => Self::Dynamic,
            3 => Self::Guided,
            4 => Self::Auto,
            _ => Self::Other,
        }
    }

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Static => "static",
            Self::Dynamic => "dynamic",
            Self::Guided => "guided",
            Self::Auto => "auto",
            Self::Runtime => "runtime",
            Self::Other => "other",
        }
    }
}

/// How a loop is shared out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// The schedule in force.
    pub kind: Kind,
    /// The schedule that the clause names.
    pub clause: Kind,
    /// How many loops are collapsed.
    pub levels: u8,
    /// Threads of the team.
    pub team: u32,
}

impl How {
    /// As a word: kind, clause and levels in the lowest bytes, the team in the
    /// upper half.
    #[must_use]
    pub fn to_word(self) -> u64 {
        self.kind as u64
            | (self.clause as u64) << 8
            | u64::from(self.levels) << 16
            | u64::from(self.team) << 32
    }

    /// From a word.
    #[must_use]
    pub fn from_word(word: u64) -> Self {
        const KINDS: [Kind; 7] = [
            Kind::Default,
            Kind::Static,
            Kind::Dynamic,
            Kind::Guided,
            Kind::Auto,
            Kind::Runtime,
            Kind::Other,
        ];
        let kind = |byte: u64| {
            let kind = KINDS.get((byte & 0xff) as usize);
            kind.copied().unwrap_or(Kind::Other)
        };
        Self {
            kind: kind(word),
            clause: kind(word >> 8),
            levels: (word >> 16) as u8,
            team: (word >> 32) as u32,
        }
    }
}

/// Whether `static` with a chunk size makes this chunk in a loop of this many iterations. It is the
/// only schedule for which the specification fixes every chunk.
#[must_use]
pub fn is_static_chunk(first: u64, length: u64, count: u64, size: u64) -> bool {
    let size = size.max(1);
    first.is_multiple_of(size) && first < count && length == size.min(count - first)
}

/// The member of a team that gets an iteration under `static` with a chunk size.
#[must_use]
pub fn static_member(iteration: u64, size: u64, team: u32) -> u64 {
    iteration / size.max(1) % u64::from(team.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_behind_modifiers() {
        for (clause, kind) in [
            ("static", Kind::Static),
            ("dynamic, 4", Kind::Dynamic),
            ("nonmonotonic:dynamic,n", Kind::Dynamic),
            ("monotonic, simd: guided, 7", Kind::Guided),
            ("RUNTIME", Kind::Runtime),
            ("KIND", Kind::Other),
        ] {
            assert_eq!(Kind::of(Some(clause)), kind, "{clause}");
        }
        assert_eq!(Kind::of(None), Kind::Default);
        assert_eq!(Kind::of_runtime(i32::MIN + 1), Kind::Static);
    }

    #[test]
    fn words_come_back() {
        let how = How {
            kind: Kind::Guided,
            clause: Kind::Runtime,
            levels: 3,
            team: 300,
        };
        assert_eq!(How::from_word(how.to_word()), how);
    }

    #[test]
    fn static_chunks_are_shared_out_in_turn() {
        for (chunk, is_one) in [
            ((0, 2), true),
            ((2, 2), true),
            ((4, 1), true),
            ((4, 2), false),
            ((1, 2), false),
            ((6, 2), false),
        ] {
            assert_eq!(is_static_chunk(chunk.0, chunk.1, 5, 2), is_one, "{chunk:?}");
        }
        let members: Vec<_> = (0..5).map(|i| static_member(i, 2, 2)).collect();
        assert_eq!(members, [0, 0, 1, 1, 0]);
    }
}
