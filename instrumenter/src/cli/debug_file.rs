//! Debug information apart from the program or library that it is for, as distributions ship it.
//!
//! A stripped file names its debug information in two ways. Its build ID is the name of a file
//! below `/usr/lib/debug/.build-id`. A section `.gnu_debuglink` has a file's name and checksum;
//! that file is beside the program, in `.debug` beside it, or below `/usr/lib/debug`. Only a file
//! with the same build ID or the right checksum is taken.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ReadCache};

/// Where distributions put debug information.
const ROOT: &str = "/usr/lib/debug";

/// The lines and symbols of a program or library; those of its separate debug information, if it
/// has none of its own.
pub(super) fn loader(path: &Path) -> Option<Loader> {
    let Some(separate) = separate(path) else {
        return Loader::new(path).ok();
    };
    let supplement = supplement(&separate);
    let loaded = Loader::new_with_sup(&separate, supplement.as_deref());
    loaded.or_else(|_| Loader::new(path)).ok()
}

/// The file that has the debug information of a program or library.
pub(super) fn of(path: &Path) -> PathBuf {
    separate(path).unwrap_or_else(|| path.to_owned())
}

/// The file with the debug information of another one.
fn separate(path: &Path) -> Option<PathBuf> {
    let cache = ReadCache::new(regular(path)?);
    let file = object::File::parse(&cache).ok()?;
    let has = |name: &[u8]| file.section_by_name_bytes(name).is_some();
    if has(b".debug_info") || has(b".zdebug_info") {
        return None;
    }
    let id = file.build_id().ok().flatten();
    let by_id = id.and_then(|id| {
        let place = by_build_id(id)?;
        (build_id(&place).as_deref() == Some(id)).then_some(place)
    });
    by_id.or_else(|| {
        let (name, checksum) = file.gnu_debuglink().ok()??;
        let path = std::fs::canonicalize(path).ok()?;
        let mut places = linked(&path, name)?.into_iter();
        places.find(|place| *place != path && self::checksum(place) == Some(checksum))
    })
}

/// The place for the debug information of a file with this build ID.
fn by_build_id(id: &[u8]) -> Option<PathBuf> {
    let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = digits.split_at_checked(2)?;
    let place = format!("{ROOT}/.build-id/{first}/{rest}.debug");
    (!rest.is_empty()).then(|| place.into())
}

/// The places where a debug link may lead. Its name is that of a file, without a folder.
fn linked(path: &Path, name: &[u8]) -> Option<[PathBuf; 3]> {
    let name = std::str::from_utf8(name).ok()?;
    let folder = path.parent()?;
    let is_name = Path::new(name).file_name()?.to_str() == Some(name);
    let below = folder.strip_prefix("/").ok()?;
    is_name.then(|| {
        [
            folder.join(name),
            folder.join(".debug").join(name),
            Path::new(ROOT).join(below).join(name),
        ]
    })
}

/// The file with what several files of debug information have in common.
fn supplement(path: &Path) -> Option<PathBuf> {
    let cache = ReadCache::new(regular(path)?);
    let file = object::File::parse(&cache).ok()?;
    let (name, id) = file.gnu_debugaltlink().ok()??;
    let place = path.parent()?.join(std::str::from_utf8(name).ok()?);
    (build_id(&place).as_deref() == Some(id)).then_some(place)
}

fn build_id(path: &Path) -> Option<Vec<u8>> {
    let cache = ReadCache::new(regular(path)?);
    let file = object::File::parse(&cache).ok()?;
    Some(file.build_id().ok()??.to_vec())
}

/// Opens a file that can be read to its end.
fn regular(path: &Path) -> Option<File> {
    let is_file = path.metadata().ok()?.is_file();
    is_file.then(|| File::open(path).ok()).flatten()
}

/// The checksum of a file as in debug links: CRC-32.
fn checksum(path: &Path) -> Option<u32> {
    let mut file = regular(path)?;
    let mut piece = vec![0; 1 << 16];
    let mut sum = crc32fast::Hasher::new();
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(sum.finalize()),
            size => sum.update(&piece[..size]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc_32() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.debug");
        std::fs::write(&path, "123456789").unwrap();
        assert_eq!(checksum(&path), Some(0xCBF4_3926));
    }

    #[test]
    fn a_link_leads_to_no_other_folder() {
        let path = Path::new("/opt/bin/a");
        assert!(linked(path, b"../a.debug").is_none() && linked(path, b"/a").is_none());
        assert_eq!(
            linked(path, b"a.debug").unwrap()[2],
            Path::new("/usr/lib/debug/opt/bin/a.debug")
        );
        assert!(by_build_id(&[1]).is_none());
        let place = by_build_id(&[0xAB, 0xCD]).unwrap();
        assert!(place.ends_with(".build-id/ab/cd.debug"));
    }
}
