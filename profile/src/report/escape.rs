//! Escapes text for XML and HTML.

use std::borrow::Cow;

use crate::printable::printable;

/// Text in a form that is valid in attributes and between tags.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let text = printable(text);
    if !text.contains(['<', '>', '&', '"', '\'']) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escaped("a.c"), "a.c");
        let shown = "T&lt;&#39;a&#39;&gt;&amp;\\u{1}&quot;";
        assert_eq!(escaped("T<'a'>&\u{1}\""), shown);
    }
}
