//! What a compiler says of a source while it preprocesses it: `#warning`, macros defined
//! twice. Of the text that the preprocessor makes it does not say it again, so where it
//! says nothing of that, this is all that it would say of the source.

use super::said::{names_places, without_colours};
use super::unit::Unit;

/// Flags that stand for many others.
const GROUPS: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-Wmost",
    "-Wpedantic",
    "-Weverything",
    "-Wsystem-headers",
];

/// What the compiler says of a command's source, if it is said by the preprocessor
/// alone: of the preprocessed text there is nothing to say.
pub(crate) fn all_of_it(units: &[&Unit], of_text: &[u8]) -> Option<Vec<u8>> {
    let [unit] = units else { return None };
    let made = unit.preprocessed.as_ref()?;
    let text = &made.source.as_ref()?.text;
    let said = without_colours(&made.noise);
    let alone = of_text.is_empty() && !said.is_empty();
    (alone && names_places(&said) && !sets_apart(text, &said)).then(|| made.noise.clone())
}

/// Whether a pragma in a text may be about one of the messages: GCC's preprocessor
/// leaves pragmas to the compiler when it runs alone.
fn sets_apart(text: &[u8], said: &str) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let pragmas = lines.filter(|line| line.starts_with(b"#pragma"));
    pragmas.map(String::from_utf8_lossy).any(|pragma| {
        let flag = pragma.split('"').nth(1);
        let flag = flag.filter(|_| pragma.contains(" diagnostic "));
        flag.is_some_and(|flag| GROUPS.contains(&flag) || said.contains(&format!("[{flag}")))
    })
}

#[cfg(test)]
mod tests {
    use super::sets_apart;

    #[test]
    fn pragmas_may_be_about_a_message() {
        let said = "a.c:1:2: warning: #warning old [-Wcpp]\n";
        for (pragma, expected) in [
            ("GCC diagnostic ignored \"-Wcpp\"", true),
            ("clang diagnostic ignored \"-Weverything\"", true),
            ("GCC diagnostic ignored \"-Wunused\"", false),
            ("GCC diagnostic push", false),
            ("message \"-Wcpp\"", false),
        ] {
            let text = format!("int a;\n #pragma {pragma}\n");
            assert_eq!(sets_apart(text.as_bytes(), said), expected, "{pragma}");
        }
    }
}
