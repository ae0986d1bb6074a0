//! Fortran: how a loop reports its iterations. The words are those in `pomp_lib.h`. They are
//! locals of a block around the loop's construct.

use super::c_chunks::{ASKED, FIRST_LEVEL, LEVEL, LEVELS, SIZE, TRACED};
use super::fortran_lines::Lines;
use crate::find::LoopNest;

/// A type that is as wide as the library's words.
const WORD: &str = "integer(8)";
const WORDS: &str = "integer(8), dimension(*)";

/// The subroutines that the text calls, and their arguments.
const SUBROUTINES: &[(&str, &[(&str, &str)])] = &[
    (
        "Chunks_begin",
        &[
            ("text", "character(*), intent(in)"),
            ("words", WORDS),
            ("next", WORD),
            ("stop", WORD),
            ("step", WORD),
        ],
    ),
    (
        "Chunk_begin",
        &[("words", WORDS), ("next", WORD), ("stop", WORD)],
    ),
    ("Chunks_end", &[("words", WORDS), ("next", WORD)]),
];

/// The words of a loop in the text.
pub(super) struct LoopWords<'a> {
    pub(super) nest: &'a LoopNest,
    /// The number that distinguishes its names from those of loops around it.
    pub(super) number: usize,
}

impl LoopWords<'_> {
    fn words(&self) -> String {
        format!("romp_loop_{}", self.number)
    }

    /// The element for a word. Arrays begin with 1.
    fn word(&self, word: usize) -> String {
        format!("{}({})", self.words(), word + 1)
    }

    fn level_word(&self, level: usize, word: usize) -> String {
        self.word(FIRST_LEVEL + LEVEL * level + word)
    }

    /// The variable for the expected next value of the innermost loop variable, or for the
    /// current value of an outer one.
    fn next(&self, level: usize) -> String {
        format!("romp_next_{}_{level}", self.number)
    }

    fn stop(&self) -> String {
        format!("romp_stop_{}", self.number)
    }

    fn step(&self) -> String {
        format!("romp_step_{}", self.number)
    }

    fn innermost(&self) -> usize {
        self.nest.levels.len() - 1
    }

    /// Declares all variables and reports the loop to the library, in front of the construct.
    pub(super) fn begin(&self, key: &str, lines: &mut Lines) {
        let levels = &self.nest.levels;
        // If the block were the first statement behind a directive, the directive would govern
        // the block alone.
        lines.long_statement("continue; block");
        lines.declarations(SUBROUTINES);
        let count = FIRST_LEVEL + LEVEL * levels.len();
        // The library changes a word while the compiler sees no call.
        let volatile = if self.nest.is_asked_for {
            ", volatile"
        } else {
            ""
        };
        lines.long_statement(&format!("{WORD}{volatile} :: {}({count})", self.words()));
        for level in 0..levels.len() {
            lines.long_statement(&format!("{WORD} :: {}", self.next(level)));
        }
        let (stop, step) = (self.stop(), self.step());
        lines.long_statement(&format!("{WORD} :: {stop}, {step}"));
        let chunk = self.nest.chunk.as_deref().unwrap_or("0");
        for (word, value) in [
            (LEVELS, levels.len().to_string().as_str()),
            (SIZE, chunk),
            (TRACED, "0"),
            (ASKED, "0"),
        ] {
            lines.long_statement(&format!("{} = {value}", self.word(word)));
        }
        for (level, head) in levels.iter().enumerate() {
            let lower = self.level_word(level, 0);
            let second = format!("{lower} + ( {} )", head.step);
            let relation = (head.relation as u8).to_string();
            let values = [&head.lower, &head.upper, &second, &relation];
            for (word, value) in values.iter().enumerate() {
                lines.long_statement(&format!("{} = {value}", self.level_word(level, word)));
            }
            lines.long_statement(&format!("{} = 0", self.next(level)));
        }
        lines.long_statement(&format!(
            "call POMPF_Chunks_begin( '{key}', {}, {}, {stop}, {step} )",
            self.words(),
            self.next(self.innermost())
        ));
    }

    /// Compares the loop variables with their expected values, at the top of the innermost
    /// body.
    pub(super) fn test(&self, lines: &mut Lines) {
        let levels = &self.nest.levels;
        let inner = self.innermost();
        let mut differs: Vec<String> = (0..=inner)
            .rev()
            .map(|level| format!("{} /= {}", levels[level].variable, self.next(level)))
            .collect();
        if self.nest.is_sized {
            differs.push(format!("{} == {}", levels[inner].variable, self.stop()));
        }
        if self.nest.is_asked_for {
            differs.push(format!("{} /= 0", self.word(ASKED)));
        }
        lines.long_statement(&format!("if ( {} ) then", differs.join(" .or. ")));
        for (level, head) in levels.iter().enumerate() {
            lines.long_statement(&format!(
                "{} = {}",
                self.level_word(level, 4),
                head.variable
            ));
        }
        lines.long_statement(&format!(
            "call POMPF_Chunk_begin( {}, {}, {} )",
            self.words(),
            self.next(inner),
            self.stop()
        ));
        for (outer, head) in levels[..inner].iter().enumerate() {
            lines.long_statement(&format!("{} = {}", self.next(outer), head.variable));
        }
        lines.long_statement("end if");
        let (next, variable) = (self.next(inner), &levels[inner].variable);
        lines.long_statement(&format!("{next} = {variable} + {}", self.step()));
    }

    /// Reports to the library that the thread is done.
    pub(super) fn end(&self, lines: &mut Lines) {
        let next = self.next(self.innermost());
        lines.long_statement(&format!(
            "call POMPF_Chunks_end( {}, {next} )",
            self.words()
        ));
        lines.long_statement("end block");
    }
}
