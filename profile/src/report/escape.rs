//! Text as it can stand in XML and HTML.

use std::borrow::Cow;

/// Text for an attribute or between tags; characters that XML has no way to
/// write are left out.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| "<>&\"'".contains(c) || c.is_control()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() => {}
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
        assert_eq!(escaped("T<'a'>&\u{1}\""), "T&lt;&#39;a&#39;&gt;&amp;&quot;");
    }
}
