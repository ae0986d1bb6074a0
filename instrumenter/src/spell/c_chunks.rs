//! C and C++: how a loop reports its iterations. The record of a loop is described in
//! `pomp_lib.h`. The variables that are compared are locals of the thread.

use trace::replay::MOST_LEVELS;

use super::c_asked::Asked;
use super::c_ranges;
use crate::edit::Order;
use crate::find::{Level, LoopNest};

/// The functions that the text calls.
pub(super) const DECLARATIONS: &[&str] = &[
    "long POMP_Chunks_begin(struct ompregdescr *, struct romp_loop *)",
    "long POMP_Chunk_begin(struct romp_loop *, long)",
    "void POMP_Chunks_end(struct romp_loop *, long)",
];

/// What stands in front of `romp_levels` if bounds depend on a loop around them.
const WITH_ROWS: usize = 1 << 8;

/// The types of records, under names that a header for `pomp_lib.h` does not have, and the
/// templates that these loops need. The fields' names are used nowhere else, so no macro of the
/// user changes them.
pub(super) fn types(unique: &str, distance_name: &str, loops: &[LoopNest]) -> String {
    if loops.is_empty() {
        return String::new();
    }
    let has = |wanted: fn(&Level) -> bool| loops.iter().flat_map(|nest| &nest.levels).any(wanted);
    let mut text = String::new();
    if has(|level| level.may_be_object) {
        text += &distance(distance_name);
    }
    if has(|level| level.range.is_some()) {
        text += &c_ranges::templates(unique);
    }
    let (rows_type, rows) = match has(|level| level.row.is_some()) {
        true => (
            format!(
                "struct romp_row_{unique} {{ long romp_outer, romp_first_then_slope, \
                 romp_bound_then_slope, romp_kept_row[2]; }};\n"
            ),
            format!(" struct romp_row_{unique} romp_row[{MOST_LEVELS}];"),
        ),
        false => (String::new(), String::new()),
    };
    text + &rows_type
        + &format!(
            "struct romp_loop; struct romp_level_{unique} {{ long romp_first, romp_bound, \
         romp_second_then_step, romp_relation_then_count, romp_value; }};\n\
         struct romp_loop_{unique} {{ long romp_levels, romp_chunk_size, romp_is_traced, \
         romp_chunk_first, romp_asked, romp_kept[3]; struct romp_level_{unique} romp_level[{MOST_LEVELS}];{rows} }};\n"
        )
}

/// The record of a loop in the text.
pub(super) struct LoopRecord<'a> {
    pub(super) nest: &'a LoopNest,
    /// A part of all names that distinguishes them from those of other texts.
    pub(super) unique: &'a str,
    /// The loop's number.
    pub(super) number: usize,
    /// The template that converts variables that may be objects to numbers.
    pub(super) distance: &'a str,
    /// See `Dialect`.
    pub(super) calls_types: bool,
    /// See `Dialect`.
    pub(super) cast: fn(&str, &str) -> String,
    /// The functions that the library may lack.
    pub(super) asked: &'a Asked<'a>,
}

impl LoopRecord<'_> {
    fn long(&self, expression: &str) -> String {
        match self.calls_types {
            true => format!("long({expression})"),
            false => format!("(long)({expression})"),
        }
    }

    /// The part of a variable's name that distinguishes it from those of other loops.
    fn name(&self) -> String {
        format!("{}_{}", self.unique, self.number)
    }

    fn field(&self, field: &str) -> String {
        format!("romp_loop_{}.{field}", self.name())
    }

    fn level_field(&self, level: usize, field: &str) -> String {
        self.field(&format!("romp_level[{level}].{field}"))
    }

    /// The record as the library's functions take it.
    fn argument(&self) -> String {
        let record = format!("&romp_loop_{}", self.name());
        (self.cast)("struct romp_loop *", &record)
    }

    /// The variable for the expected next value of the innermost loop variable, or for the
    /// current value of an outer one.
    fn next(&self, level: usize) -> String {
        format!("romp_next_{}_{level}", self.name())
    }

    /// The variable for the first value of a loop variable that may be an object.
    fn base(&self, level: usize) -> String {
        format!("romp_base_{}_{level}", self.name())
    }

    fn stop(&self) -> String {
        format!("romp_stop_{}", self.name())
    }

    fn step(&self) -> String {
        format!("romp_step_{}", self.name())
    }

    fn innermost(&self) -> usize {
        self.nest.levels.len() - 1
    }

    fn has_rows(&self) -> bool {
        self.nest.levels.iter().any(|level| level.row.is_some())
    }

    /// The variable that says where a loop over a range stands.
    fn place(&self, level: usize) -> String {
        format!("romp_place_{}_{level}", self.name())
    }

    /// The value of a level's variable as a number.
    fn now(&self, level: usize) -> String {
        let head = &self.nest.levels[level];
        match head.range {
            Some(_) => self.place(level),
            None => self.value(level, &head.variable),
        }
    }

    /// Text around the ranges, by which they tell the variables of `place` where they stand.
    pub(super) fn ranges(&self) -> Vec<(usize, Order, String)> {
        let mut added = Vec::new();
        for (level, head) in self.nest.levels.iter().enumerate() {
            if let Some(range) = &head.range {
                let (open, close) = c_ranges::around(self.unique, &self.place(level));
                added.push((range.start, Order::open(0), open));
                added.push((range.end, Order::close(0), close));
            }
        }
        added
    }

    /// A value of a level's variable as a number.
    fn value(&self, level: usize, expression: &str) -> String {
        match self.nest.levels[level].may_be_object {
            true => {
                let (distance, base) = (self.distance, self.base(level));
                format!("{distance}<__is_class(__typeof__({base}))>::of({expression}, {base})")
            }
            false => self.long(expression),
        }
    }

    /// Declares all variables and reports the loop to the library, in front of the loop.
    pub(super) fn begin(&self, descriptor: &str) -> String {
        let levels = &self.nest.levels;
        let inner = self.next(self.innermost());
        let mut text = String::new();
        for (number, level) in levels.iter().enumerate() {
            if level.may_be_object {
                let (lower, base) = (&level.lower, self.base(number));
                // An array becomes a pointer.
                let copied = format!("{}<false>::copy({lower})", self.distance);
                text += &format!("__typeof__({copied}) {base} = {lower}; ");
            }
        }
        let (unique, name) = (self.unique, self.name());
        text += &format!(
            "struct romp_loop_{unique} romp_loop_{name}; long {}",
            self.step()
        );
        for (number, level) in levels.iter().enumerate() {
            text += &format!(", {} = 0", self.next(number));
            if level.range.is_some() {
                text += &format!(", {} = 0", self.place(number));
            }
        }
        if self.nest.is_sized {
            text += &format!(", {} = 0", self.stop());
        }
        text += "; ";
        let chunk = self.nest.chunk.as_deref().unwrap_or("0");
        let number = levels.len() + if self.has_rows() { WITH_ROWS } else { 0 };
        let head = [
            ("romp_levels", number.to_string()),
            ("romp_chunk_size", self.long(chunk)),
            ("romp_is_traced", "0".to_owned()),
            ("romp_asked", "0".to_owned()),
        ];
        for (field, value) in head {
            text += &format!("{} = {value}; ", self.field(field));
        }
        for level in 0..levels.len() {
            for (field, value) in self.bounds(level) {
                text += &format!("{} = {value}; ", self.level_field(level, field));
            }
        }
        if self.has_rows() {
            for level in 0..levels.len() {
                text += &self.row(level);
            }
        }
        let record = self.argument();
        text += &self.begin_call(&inner, descriptor, &record);
        if self.nest.is_sized {
            text += &format!("{} = {inner}; ", self.stop());
        }
        let step = self.level_field(self.innermost(), "romp_second_then_step");
        text + &format!("{} = {step}; ", self.step())
    }

    /// The call for the begin of the loop. Where the library has no function for it, the text makes
    /// the step itself, and takes for `inner` a value that the variable never has.
    fn begin_call(&self, inner: &str, descriptor: &str, record: &str) -> String {
        const FUNCTION: &str = "POMP_Chunks_begin";
        let call = format!("{inner} = {FUNCTION}({descriptor}, {record}); ");
        let Some(condition) = self.asked.condition(&[FUNCTION]) else {
            return call;
        };
        let first = self.level_field(self.innermost(), "romp_first");
        let step = self.level_field(self.innermost(), "romp_second_then_step");
        let largest = self.long("~0ul >> 1");
        format!(
            "if ({condition}) {{ {call}}} else {{ {step} -= {first}; {inner} = -{largest} - 1; }} "
        )
    }

    /// Sets the fields of a row in front of the loop.
    fn row(&self, level: usize) -> String {
        let field = |name: &str| self.field(&format!("romp_row[{level}].{name}"));
        let Some(row) = &self.nest.levels[level].row else {
            return format!("{} = 0; ", field("romp_outer"));
        };
        format!(
            "{} = {}; {} = {}; {} = {}; ",
            field("romp_outer"),
            row.outer + 1,
            field("romp_first_then_slope"),
            self.value(level, &row.lower),
            field("romp_bound_then_slope"),
            self.value(level, &row.upper),
        )
    }

    /// The fields of a level that are set in front of the loop.
    fn bounds(&self, level: usize) -> [(&'static str, String); 4] {
        let head = &self.nest.levels[level];
        let sign = if head.is_down { '-' } else { '+' };
        let second = format!("({}) {sign} ({})", head.lower, head.step);
        let bound = match head.range {
            Some(_) => c_ranges::size(self.unique, &head.upper),
            None => self.value(level, &head.upper),
        };
        [
            ("romp_first", self.value(level, &head.lower)),
            ("romp_bound", bound),
            ("romp_second_then_step", self.value(level, &second)),
            (
                "romp_relation_then_count",
                (head.relation as u8).to_string(),
            ),
        ]
    }

    /// Compares the loop variables with their expected values, at the top of the innermost
    /// body. All possible differences are combined, so that there is only one comparison with
    /// zero.
    pub(super) fn test(&self) -> String {
        let levels = &self.nest.levels;
        let inner = self.innermost();
        let value = |level: usize| self.now(level);
        let mut text = format!(" if ({}) {{ ", self.differs());
        for level in 0..levels.len() {
            text += &format!(
                "{} = {}; ",
                self.level_field(level, "romp_value"),
                value(level)
            );
        }
        const FUNCTION: &str = "POMP_Chunk_begin";
        let (record, next) = (self.argument(), self.next(inner));
        let mut call = format!("{FUNCTION}({record}, {next});");
        if self.nest.is_sized {
            call = format!("{} = {call}", self.stop());
        }
        text += &(self.asked.guarded(&[FUNCTION], call) + " ");
        for outer in 0..inner {
            text += &format!("{} = {}; ", self.next(outer), value(outer));
        }
        text + &format!(
            "}} {} = {} + {};",
            self.next(inner),
            value(inner),
            self.step()
        )
    }

    /// The condition that a variable does not have its expected value, or that the chunk is
    /// over.
    fn differs(&self) -> String {
        let inner = self.innermost();
        let value = |level: usize| self.now(level);
        let asked = self.nest.is_asked_for.then(|| self.field("romp_asked"));
        if inner == 0 && !self.nest.is_sized && asked.is_none() {
            return format!("{} != {}", value(inner), self.next(inner));
        }
        let parts = (0..=inner).rev();
        let parts = parts.map(|level| format!("({} ^ {})", value(level), self.next(level)));
        let stop = format!("({} == {})", value(inner), self.stop());
        let stop = self.nest.is_sized.then_some(stop);
        let parts = parts.chain(stop).chain(asked);
        parts.collect::<Vec<_>>().join(" | ")
    }

    /// Reports to the library that the thread is done.
    pub(super) fn end(&self) -> String {
        let inner = self.next(self.innermost());
        let arguments = format!("{}, {inner}", self.argument());
        self.asked.statement("POMP_Chunks_end", &arguments) + " "
    }
}

/// The template that converts a value of a variable that may be an object to a number: the
/// value itself, or its distance to the first value.
pub(super) fn distance(name: &str) -> String {
    format!(
        "template <bool> struct {name} {{ template <class V, class B> static inline \
         long of(const V &v, const B &) {{ return long(v); }} \
         template <class V> static V copy(V); }};\n\
         template <> struct {name}<true> {{ template <class V, class B> static inline \
         long of(const V &v, const B &b) {{ return static_cast<long>(v - b); }} }};\n"
    )
}
