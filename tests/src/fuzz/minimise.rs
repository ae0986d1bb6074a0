//! Makes a failing input small: whatever can be left out is left out.

/// The smallest input found that `fails` as the first did. It asks at most `attempts` times.
pub fn minimise(bytes: &[u8], attempts: usize, fails: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut smallest = bytes.to_vec();
    let mut left = attempts;
    let mut length = smallest.len().div_ceil(2);
    while length > 0 {
        let before = smallest.len();
        let mut at = 0;
        while at < smallest.len() && left > 0 {
            left -= 1;
            let end = (at + length).min(smallest.len());
            let without = [&smallest[..at], &smallest[end..]].concat();
            match fails(&without) {
                true => smallest = without,
                false => at = end,
            }
        }
        // Parts of the same length once more, as long as that takes something away.
        if smallest.len() == before || left == 0 {
            length /= 2;
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        let text = b"some text {\n with a brace }\n in it";
        let mut fails = |bytes: &[u8]| bytes.contains(&b'{') && bytes.contains(&b'}');
        assert_eq!(minimise(text, 1000, &mut fails), b"{}");
    }
}
