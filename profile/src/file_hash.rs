//! The hash of a source file. A program carries the hashes of the files that it was built from,
//! so a reader of its profile notices that a file has another content now.

/// The hash of a file's content, as hexadecimal digits: FNV-1a with 64 bits.
#[must_use]
pub fn file_hash(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_fnv() {
        assert_eq!(file_hash(b""), "cbf29ce484222325");
        assert_eq!(file_hash(b"a"), "af63dc4c8601ec8c");
    }
}
