//! C and C++: how a loop reports its iterations. The words are described in `pomp_lib.h`. The
//! variables that are compared are locals of the thread.

use crate::find::LoopNest;

/// The functions that the text calls.
pub(super) const DECLARATIONS: &[&str] = &[
    "long POMP_Chunks_begin(struct ompregdescr *, long *)",
    "long POMP_Chunk_begin(long *, long)",
    "void POMP_Chunks_end(long *, long)",
];

/// The number of words in front of those of the loops, and the number of words of each loop;
/// see `pomp_lib.h`.
pub(super) const FIRST_LEVEL: usize = 8;
pub(super) const LEVEL: usize = 5;
/// The words that the program sets in front of the loop, besides those of each loop.
pub(super) const LEVELS: usize = 0;
pub(super) const SIZE: usize = 1;
pub(super) const TRACED: usize = 2;
/// The word that the library sets when the runtime has handed another chunk to the thread.
pub(super) const ASKED: usize = 4;

/// The words of a loop in the text.
pub(super) struct LoopWords<'a> {
    pub(super) nest: &'a LoopNest,
    /// A part of its names that distinguishes them from those of other loops.
    pub(super) name: String,
    /// The template that converts variables that may be objects to numbers.
    pub(super) distance: &'a str,
    /// See `Dialect`.
    pub(super) calls_types: bool,
}

impl LoopWords<'_> {
    fn long(&self, expression: &str) -> String {
        match self.calls_types {
            true => format!("long({expression})"),
            false => format!("(long)({expression})"),
        }
    }

    fn word(&self, word: usize) -> String {
        format!("romp_loop_{}[{word}]", self.name)
    }

    fn level_word(&self, level: usize, word: usize) -> String {
        self.word(FIRST_LEVEL + LEVEL * level + word)
    }

    /// The variable for the expected next value of the innermost loop variable, or for the
    /// current value of an outer one.
    fn next(&self, level: usize) -> String {
        format!("romp_next_{}_{level}", self.name)
    }

    /// The variable for the first value of a loop variable that may be an object.
    fn base(&self, level: usize) -> String {
        format!("romp_base_{}_{level}", self.name)
    }

    fn stop(&self) -> String {
        format!("romp_stop_{}", self.name)
    }

    fn step(&self) -> String {
        format!("romp_step_{}", self.name)
    }

    fn innermost(&self) -> usize {
        self.nest.levels.len() - 1
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
        text += &format!("long {}", self.word(FIRST_LEVEL + LEVEL * levels.len()));
        for level in 0..levels.len() {
            text += &format!(", {} = 0", self.next(level));
        }
        if self.nest.is_sized {
            text += &format!(", {} = 0", self.stop());
        }
        text += &format!(", {}; ", self.step());
        let chunk = self.nest.chunk.as_deref().unwrap_or("0");
        let none = "0".to_owned();
        let heads = [
            (LEVELS, levels.len().to_string()),
            (SIZE, self.long(chunk)),
            (TRACED, none.clone()),
            (ASKED, none),
        ];
        for (word, value) in heads {
            text += &format!("{} = {value}; ", self.word(word));
        }
        for level in 0..levels.len() {
            for (word, value) in self.bounds(level).iter().enumerate() {
                text += &format!("{} = {value}; ", self.level_word(level, word));
            }
        }
        text += &format!(
            "{inner} = POMP_Chunks_begin({descriptor}, romp_loop_{}); ",
            self.name
        );
        if self.nest.is_sized {
            text += &format!("{} = {inner}; ", self.stop());
        }
        let step = self.level_word(self.innermost(), 2);
        text + &format!("{} = {step}; ", self.step())
    }

    /// The first value, the bound, the second value and the relation.
    fn bounds(&self, level: usize) -> [String; 4] {
        let head = &self.nest.levels[level];
        let sign = if head.is_down { '-' } else { '+' };
        let second = format!("({}) {sign} ({})", head.lower, head.step);
        [
            self.value(level, &head.lower),
            self.value(level, &head.upper),
            self.value(level, &second),
            (head.relation as u8).to_string(),
        ]
    }

    /// Compares the loop variables with their expected values, at the top of the innermost
    /// body. All possible differences are combined, so that there is only one comparison with
    /// zero.
    pub(super) fn test(&self) -> String {
        let levels = &self.nest.levels;
        let inner = self.innermost();
        let value = |level: usize| self.value(level, &levels[level].variable);
        let mut text = format!(" if ({}) {{ ", self.differs());
        for level in 0..levels.len() {
            text += &format!("{} = {}; ", self.level_word(level, 4), value(level));
        }
        if self.nest.is_sized {
            text += &format!("{} = ", self.stop());
        }
        text += &format!(
            "POMP_Chunk_begin(romp_loop_{}, {}); ",
            self.name,
            self.next(inner)
        );
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
        let levels = &self.nest.levels;
        let inner = self.innermost();
        let value = |level: usize| self.value(level, &levels[level].variable);
        let asked = self.nest.is_asked_for.then(|| self.word(ASKED));
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
        format!("POMP_Chunks_end(romp_loop_{}, {inner}); ", self.name)
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
