//! What the macros of system headers make in the user's files, as the user's.
//!
//! GCC marks it in preprocessed text as of a system header, of which it says nothing,
//! while it warns of the same in a source: `int *p = EOF;`. Where it says too much
//! without the mark, the source decides, as for all messages.

use std::collections::HashSet;

use crate::find::c::preprocessed::markers;

/// A text without the marks on parts of the user's files.
pub(crate) fn unmarked(text: Vec<u8>) -> Vec<u8> {
    let mut systems = HashSet::new();
    let mut new = Vec::new();
    let mut copied = 0;
    for marker in markers(&text).filter(|marker| marker.has(b'3')) {
        if marker.has(b'1') || marker.has(b'2') {
            systems.insert(marker.file);
        } else if !systems.contains(marker.file) {
            new.extend(&text[copied..marker.flags_begin()]);
            copied = marker.end;
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
