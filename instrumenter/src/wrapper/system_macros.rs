//! What the macros of system headers make in the user's files, as the user's.
//!
//! GCC marks it in preprocessed text as of a system header, of which it says nothing,
//! while it warns of the same in a source: `int *p = EOF;`. Where it says too much
//! without the mark, the source decides, as for all messages.

use std::collections::HashSet;

use memchr::memmem;

/// What a line marker says of a file that it marks as the system's: "3", and "4" if
/// that is C in any case; "1" before where the file begins, "2" where it goes on.
const MARKS: &[&[u8]] = &[b" 3", b" 3 4"];

/// A text without the marks on parts of the user's files.
pub(crate) fn unmarked(text: Vec<u8>) -> Vec<u8> {
    let mut systems = HashSet::new();
    let mut new = Vec::new();
    let mut copied = 0;
    for begin in memmem::find_iter(&text, b"\n# ") {
        let line = &text[begin + 1..];
        let end = begin + 1 + memchr::memchr(b'\n', line).unwrap_or(line.len());
        let marker = &text[begin + 1..end];
        let Some(mark) = MARKS.iter().find(|mark| marker.ends_with(mark)) else {
            continue;
        };
        let rest = &marker[..marker.len() - mark.len()];
        let Some(quote) = memchr::memchr(b'"', rest) else {
            continue;
        };
        let file = &rest[quote..];
        let named = file.strip_suffix(b" 1").or(file.strip_suffix(b" 2"));
        if let Some(file) = named {
            systems.insert(file);
        } else if !systems.contains(file) {
            new.extend(&text[copied..end - mark.len()]);
            copied = end;
        }
    }
    if new.is_empty() {
        return text;
    }
    new.extend(&text[copied..]);
    new
}

#[cfg(test)]
mod tests {
    use super::unmarked;

    #[test]
    fn parts_of_the_user_s_files_are_the_user_s() {
        let text = "\
# 0 \"a.c\"
# 1 \"/usr/include/stdio.h\" 1 3 4
# 28 \"/usr/include/stdio.h\" 3 4
extern int a;
# 1 \"/usr/include/deep.h\" 1 3 4
# 9 \"/usr/include/stdio.h\" 2 3 4
# 2 \"a.c\" 2
int *p =
# 3 \"a.c\" 3 4
        (-1)
# 3 \"a.c\"
        ; // # 3 \"a.c\" 3 4
# 30 \"/usr/include/stdio.h\" 3
";
        let new = String::from_utf8(unmarked(text.into())).unwrap();
        assert_eq!(new, text.replace("# 3 \"a.c\" 3 4\n  ", "# 3 \"a.c\"\n  "));
        assert_eq!(unmarked(b"int a;\n".into()), b"int a;\n");
    }
}
