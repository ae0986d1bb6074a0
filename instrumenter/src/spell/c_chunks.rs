//! C and C++: how a loop tells its iterations. The words are described in
//! `pomp_lib.h`; the variables that are compared are locals of the thread.

use crate::find::LoopNest;

/// What the text calls.
pub(super) const DECLARATIONS: &[&str] = &[
    "long POMP_Chunks_begin(struct ompregdescr *, long *)",
    "long POMP_Chunk_begin(long *, long)",
    "void POMP_Chunks_end(long *, long)",
];

/// Words in front of those of the loops, and words of each; see `pomp_lib.h`.
const FIRST_LEVEL: usize = 8;
const LEVEL: usize = 5;

/// A loop in the text.
pub(super) struct LoopWords<'a> {
    pub(super) nest: &'a LoopNest,
    /// What distinguishes its names.
    pub(super) name: String,
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

    /// What a variable would be next; of outer loops, what it is.
    fn next(&self, level: usize) -> String {
        format!("romp_next_{}_{level}", self.name)
    }

    fn stop(&self) -> String {
        format!("romp_stop_{}", self.name)
    }

    fn innermost(&self) -> usize {
        self.nest.levels.len() - 1
    }

    /// Declares everything and tells the library, in front of the loop.
    pub(super) fn begin(&self, descriptor: &str) -> String {
        let levels = self.nest.levels.len();
        let inner = self.next(self.innermost());
        let mut text = format!("long {}", self.word(FIRST_LEVEL + LEVEL * levels));
        for level in 0..levels {
            text += &format!(", {} = 0", self.next(level));
        }
        text += &format!(", {} = 0; ", self.stop());
        let chunk = self.nest.chunk.as_deref().unwrap_or("0");
        let heads = [levels.to_string(), self.long(chunk), "0".to_owned()];
        for (word, value) in heads.iter().enumerate() {
            text += &format!("{} = {value}; ", self.word(word));
        }
        for (level, head) in self.nest.levels.iter().enumerate() {
            let sign = if head.is_down { '-' } else { '+' };
            let second = format!("({}) {sign} ({})", head.lower, head.step);
            let values = [
                self.long(&head.lower),
                self.long(&head.upper),
                self.long(&second),
                (head.relation as u8).to_string(),
            ];
            for (word, value) in values.iter().enumerate() {
                let word = self.word(FIRST_LEVEL + LEVEL * level + word);
                text += &format!("{word} = {value}; ");
            }
        }
        let stop = self.stop();
        text + &format!(
            "{inner} = POMP_Chunks_begin({descriptor}, romp_loop_{}); {stop} = {inner}; ",
            self.name
        )
    }

    /// Compares, at the top of the innermost body.
    pub(super) fn test(&self) -> String {
        let levels = &self.nest.levels;
        let inner = self.innermost();
        let value = |level: usize| self.long(&levels[level].variable);
        let mut differs = format!("{} != {}", value(inner), self.next(inner));
        differs += &format!(" || {} == {}", value(inner), self.stop());
        for outer in (0..inner).rev() {
            differs += &format!(" || {} != {}", value(outer), self.next(outer));
        }
        let mut text = format!(" if ({differs}) {{ ");
        for level in 0..levels.len() {
            let word = self.word(FIRST_LEVEL + LEVEL * level + 4);
            text += &format!("{word} = {}; ", value(level));
        }
        text += &format!(
            "{} = POMP_Chunk_begin(romp_loop_{}, {}); }} ",
            self.stop(),
            self.name,
            self.next(inner)
        );
        for outer in 0..inner {
            text += &format!("{} = {}; ", self.next(outer), value(outer));
        }
        let head = &levels[inner];
        let sign = if head.is_down { '-' } else { '+' };
        let next = self.long(&format!("{} {sign} ({})", head.variable, head.step));
        text + &format!("{} = {next};", self.next(inner))
    }

    /// Tells the library that the thread is done.
    pub(super) fn end(&self) -> String {
        let inner = self.next(self.innermost());
        format!("POMP_Chunks_end(romp_loop_{}, {inner}); ", self.name)
    }
}
