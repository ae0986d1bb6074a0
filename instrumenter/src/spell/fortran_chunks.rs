//! Fortran: how a loop reports its iterations. The record of a loop is described in `pomp_lib.h`.
//! It is a local of a block around the loop's construct, and so is its type.

use trace::replay::MOST_LEVELS;

use super::fortran_asked::QUESTION;
use super::fortran_lines::Lines;
use crate::find::LoopNest;

/// The type of all fields.
const WORD: &str = "integer(8)";
const RECORD: &str = "type(romp_loop)";

/// The types of records. Types of different blocks are the same type, since they are sequence
/// types and alike.
const TYPES: &[(&str, &[&str])] = &[
    (
        "romp_level",
        &[
            "romp_first",
            "romp_bound",
            "romp_second_then_step",
            "romp_relation_then_count",
            "romp_value",
        ],
    ),
    (
        "romp_loop",
        &[
            "romp_levels",
            "romp_chunk_size",
            "romp_is_traced",
            "romp_chunk_first",
            "romp_asked",
            "romp_kept(3)",
        ],
    ),
];

/// The subroutines that the text calls, and their arguments.
const SUBROUTINES: &[(&str, &[(&str, &str)])] = &[
    (
        "Chunks_begin",
        &[
            ("text", "character(*), intent(in)"),
            ("record", RECORD),
            ("next", WORD),
            ("stop", WORD),
            ("step", WORD),
        ],
    ),
    (
        "Chunk_begin",
        &[("record", RECORD), ("next", WORD), ("stop", WORD)],
    ),
    ("Chunks_end", &[("record", RECORD), ("next", WORD)]),
];

/// The record of a loop in the text.
pub(super) struct LoopRecord<'a> {
    pub(super) nest: &'a LoopNest,
    /// The number that distinguishes its names from those of loops around it.
    pub(super) number: usize,
}

impl LoopRecord<'_> {
    fn record(&self) -> String {
        format!("romp_loop_{}", self.number)
    }

    fn field(&self, field: &str) -> String {
        format!("{}%{field}", self.record())
    }

    /// The element for a level. Arrays begin with 1.
    fn level_field(&self, level: usize, field: &str) -> String {
        self.field(&format!("romp_level({})%{field}", level + 1))
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
        for (name, fields) in TYPES {
            lines.statement(&format!("type {name}"));
            lines.statement("sequence");
            for field in *fields {
                lines.statement(&format!("{WORD} :: {field}"));
            }
            if *name == "romp_loop" {
                lines.statement(&format!("type(romp_level) :: romp_level({MOST_LEVELS})"));
            }
            lines.statement("end type");
        }
        lines.declarations(SUBROUTINES);
        if lines.asks() {
            lines.declarations(&[QUESTION]);
        }
        // The library changes a field while the compiler sees no call.
        let volatile = match self.nest.is_asked_for {
            true => ", volatile",
            false => "",
        };
        lines.long_statement(&format!("{RECORD}{volatile} :: {}", self.record()));
        for level in 0..levels.len() {
            lines.long_statement(&format!("{WORD} :: {}", self.next(level)));
        }
        let (stop, step) = (self.stop(), self.step());
        lines.long_statement(&format!("{WORD} :: {stop}, {step}"));
        let chunk = self.nest.chunk.as_deref().unwrap_or("0");
        let count = levels.len().to_string();
        let head = [
            ("romp_levels", count.as_str()),
            ("romp_chunk_size", chunk),
            ("romp_is_traced", "0"),
            ("romp_asked", "0"),
        ];
        for (field, value) in head {
            lines.long_statement(&format!("{} = {value}", self.field(field)));
        }
        for (level, head) in levels.iter().enumerate() {
            let lower = self.level_field(level, "romp_first");
            let second = format!("{lower} + ( {} )", head.step);
            let relation = (head.relation as u8).to_string();
            let values = [
                ("romp_first", &head.lower),
                ("romp_bound", &head.upper),
                ("romp_second_then_step", &second),
                ("romp_relation_then_count", &relation),
            ];
            for (field, value) in values {
                lines.long_statement(&format!("{} = {value}", self.level_field(level, field)));
            }
            lines.long_statement(&format!("{} = 0", self.next(level)));
        }
        self.begin_call(key, lines);
    }

    /// The call for the begin of the loop. Where the library has no subroutine for it, the text
    /// makes the step itself, and takes for the expected value one that the variable never has.
    fn begin_call(&self, key: &str, lines: &mut Lines) {
        let (next, stop, step) = (self.next(self.innermost()), self.stop(), self.step());
        let first = self.level_field(self.innermost(), "romp_first");
        let second = self.level_field(self.innermost(), "romp_second_then_step");
        let otherwise = [
            format!("{step} = {second} - {first}"),
            format!("{second} = {step}"),
            // Compilers reject the number itself.
            format!("{next} = -9223372036854775807_8"),
            format!("{next} = {next} - 1"),
            format!("{stop} = {next}"),
        ];
        let call = format!(
            "call POMPF_Chunks_begin( '{key}', {}, {next}, {stop}, {step} )",
            self.record()
        );
        let call = |lines: &mut Lines| lines.long_statement(&call);
        lines.if_there("Chunks_begin", &[], call, &otherwise);
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
            differs.push(format!("{} /= 0", self.field("romp_asked")));
        }
        lines.long_statement(&format!("if ( {} ) then", differs.join(" .or. ")));
        for (level, head) in levels.iter().enumerate() {
            lines.long_statement(&format!(
                "{} = {}",
                self.level_field(level, "romp_value"),
                head.variable
            ));
        }
        let call = format!(
            "call POMPF_Chunk_begin( {}, {}, {} )",
            self.record(),
            self.next(inner),
            self.stop()
        );
        let call = |lines: &mut Lines| lines.long_statement(&call);
        lines.if_there("Chunk_begin", &[], call, &[]);
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
        let call = format!("call POMPF_Chunks_end( {}, {next} )", self.record());
        let call = |lines: &mut Lines| lines.long_statement(&call);
        lines.if_there("Chunks_end", &[], call, &[]);
        lines.long_statement("end block");
    }
}
