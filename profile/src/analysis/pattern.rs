//! Patterns by which a user names regions, threads and functions.

/// Whether a pattern matches a text. A pattern without wildcards matches any part of the text,
/// others the whole text.
pub(super) fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    if pattern.contains(['*', '?']) {
        glob(pattern.as_bytes(), text.as_bytes())
    } else {
        text.contains(&pattern)
    }
}

/// Whether the text matches the pattern, where `*` stands for anything and `?` for one byte. It
/// backtracks to the last `*` only, so it takes no exponential time.
pub(crate) fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last_star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match last_star {
                Some((star, from)) => {
                    last_star = Some((star, from + 1));
                    p = star + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_parts_or_wholes() {
        assert!(is_like("work", "do_Work"));
        assert!(!is_like("work*", "do_work"));
        assert!(is_like("*.c:1?", "src/a.c:15"));
        assert!(is_like("a*b*c", "aXbYbZc"));
        assert!(!is_like("a*b*c", "aXbYbZ"));
        assert!(!is_like(
            &format!("{}x", "a*".repeat(30)),
            &"a".repeat(5000)
        ));
    }
}
