//! `romp seal`: what an object file's code refers to within itself, settled for good.
//!
//! Every program is linked with the library, and the linker's time goes by
//! relocations. The library is one object with one section of code, so where its
//! own functions call each other, the distance is known before any link: what is
//! written there now, no link has to write again. Calls through a table of
//! addresses (`GOTPCREL`), which the compiler makes where it does not know that
//! both ends meet in one object, become direct ones; those are the replacements
//! that the psABI of x86-64 has linkers do.
//!
//! Only local symbols are settled: a global one may be another's in the end.
//! Objects for other machines stay as they are.

use std::path::PathBuf;

use super::Failure;

/// What stands after `romp seal`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The object file, which is changed
    object: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.object;
    let failed = |error: &dyn std::fmt::Display| format!("error: {}: {error}", path.display());
    let mut bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    seal(&mut bytes).ok_or_else(|| failed(&"this is no object file that can be read"))?;
    std::fs::write(path, bytes).map_err(|error| failed(&error))?;
    Ok(())
}

/// How an object for x86-64 begins: 64 bits, little endian.
const IDENTITY: &[u8] = b"\x7fELF\x02\x01";
const RELOCATABLE: u64 = 1;
const X86_64: u64 = 62;

/// Sections with relocations, and the flag of those with code.
const RELA: u64 = 4;
const EXECUTABLE: u64 = 4;

/// Sizes of a section's header, a relocation, a symbol.
const HEADER: usize = 64;
const RELOCATION: usize = 24;
const SYMBOL: usize = 24;

/// Relocations: a distance, that of a function, that of an entry in the table of
/// addresses (which the two last ones let linkers replace).
const PC32: u64 = 2;
const PLT32: u64 = 4;
const GOT: [u64; 3] = [9, 41, 42];

/// Kinds of symbols whose address is settled later: thread-local, chosen at run time.
const LATER: [u64; 2] = [6, 10];
/// From here on, numbers of sections mean something else.
const SPECIAL_SECTION: u64 = 0xff00;

/// Settles an object's references; `None` if it is not one as it should be.
fn seal(bytes: &mut [u8]) -> Option<()> {
    let is_ours = bytes.starts_with(IDENTITY)
        && number(bytes, 16, 2)? == RELOCATABLE
        && number(bytes, 18, 2)? == X86_64;
    if !is_ours {
        return bytes.starts_with(b"\x7fELF").then_some(());
    }
    let headers = place(bytes, 40)?;
    for index in 0..number(bytes, 60, 2)? {
        let header = headers + usize::try_from(index).ok()? * HEADER;
        if number(bytes, header + 4, 4)? == RELA {
            seal_section(bytes, headers, header)?;
        }
    }
    Some(())
}

/// Settles what can be of one section's relocations; the others move together.
fn seal_section(bytes: &mut [u8], headers: usize, header: usize) -> Option<()> {
    let section = number(bytes, header + 44, 4)?;
    let code = headers + usize::try_from(section).ok()? * HEADER;
    if number(bytes, code + 8, 8)? & EXECUTABLE == 0 {
        return Some(());
    }
    let (begin, size) = (place(bytes, header + 24)?, place(bytes, header + 32)?);
    let code = place(bytes, code + 24)?;
    let linked = usize::try_from(number(bytes, header + 40, 4)?).ok()?;
    let symbols = place(bytes, headers + linked * HEADER + 24)?;
    let mut kept = begin;
    for at in (begin..begin + size).step_by(RELOCATION) {
        let relocation = Relocation::read(bytes, at)?;
        let symbol = Symbol::read(bytes, symbols + relocation.symbol * SYMBOL)?;
        let left = relocation.settled(bytes, code, &symbol, section)?;
        if let Some(kind) = left {
            bytes.copy_within(at..at + RELOCATION, kept);
            put(bytes, kept + 8, &(kind as u32).to_le_bytes())?;
            kept += RELOCATION;
        }
    }
    put(bytes, header + 32, &((kept - begin) as u64).to_le_bytes())
}

struct Relocation {
    /// In the section.
    at: usize,
    kind: u64,
    symbol: usize,
    addend: i64,
}

struct Symbol {
    is_local: bool,
    section: u64,
    value: u64,
}

impl Relocation {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        Some(Self {
            at: place(bytes, at)?,
            kind: number(bytes, at + 8, 4)?,
            symbol: usize::try_from(number(bytes, at + 12, 4)?).ok()?,
            addend: number(bytes, at + 16, 8)? as i64,
        })
    }

    /// Settles it if it can be; otherwise the kind that it is now.
    fn settled(
        &self,
        bytes: &mut [u8],
        code: usize,
        symbol: &Symbol,
        section: u64,
    ) -> Option<Option<u64>> {
        let is_known = symbol.is_local && (1..SPECIAL_SECTION).contains(&symbol.section);
        if !is_known {
            return Some(Some(self.kind));
        }
        let is_near = symbol.section == section;
        let field = code + self.at;
        let mut kind = self.kind;
        if GOT.contains(&kind) && self.addend == -4 {
            if is_near && bytes.get(field.checked_sub(2)?..field)? == [0xff, 0x25] {
                self.jump(bytes, field, symbol)?;
                return Some(None);
            }
            if make_direct(bytes, field)? {
                kind = PC32;
            }
        }
        if !is_near || ![PC32, PLT32].contains(&kind) {
            return Some(Some(kind));
        }
        let distance = symbol.value as i64 + self.addend - self.at as i64;
        put(bytes, field, &i32::try_from(distance).ok()?.to_le_bytes())?;
        Some(None)
    }

    /// `jmp *function@GOTPCREL(%rip)`: the direct jump is shorter by a byte.
    fn jump(&self, bytes: &mut [u8], field: usize, symbol: &Symbol) -> Option<()> {
        let distance = symbol.value as i64 - (self.at as i64 + 3);
        let [a, b, c, d] = i32::try_from(distance).ok()?.to_le_bytes();
        put(bytes, field - 2, &[0xe9, a, b, c, d, 0x90])
    }
}

impl Symbol {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let info = number(bytes, at + 4, 1)?;
        Some(Self {
            is_local: info >> 4 == 0 && !LATER.contains(&(info & 15)),
            section: number(bytes, at + 6, 2)?,
            value: number(bytes, at + 8, 8)?,
        })
    }
}

/// Makes an instruction that takes an address from the table take the address
/// itself, if it is one of those for which that is laid down.
fn make_direct(bytes: &mut [u8], field: usize) -> Option<bool> {
    let [prefix, operation, operand] = *bytes.get(field.checked_sub(3)?..field)? else {
        return None;
    };
    match (prefix, operation, operand) {
        // call *f@GOTPCREL(%rip): addr32 call f
        (_, 0xff, 0x15) => put(bytes, field - 2, &[0x67, 0xe8])?,
        // mov f@GOTPCREL(%rip), register: lea f(%rip), register
        (0x48 | 0x4c, 0x8b, operand) if operand & 0xc7 == 5 => put(bytes, field - 2, &[0x8d])?,
        _ => return Some(false),
    }
    Some(true)
}

/// A number of some bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut all = [0; 8];
    all.get_mut(..size)?
        .copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(all))
}

/// A number of eight bytes that is a place or a size.
fn place(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(number(bytes, at, 8)?).ok()
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) -> Option<()> {
    bytes.get_mut(at..at + new.len())?.copy_from_slice(new);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object with one section of code, its relocations and two symbols: a local
    /// one in it at 16, and one that is global.
    fn object(code: &[u8; 16], relocation: (u64, u64, u64, i64)) -> Vec<u8> {
        let (at, symbol, kind, addend) = relocation;
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(IDENTITY);
        put(&mut bytes, 16, &[1, 0, 62]).unwrap();
        bytes.extend(code);
        bytes.extend(
            [at, symbol << 32 | kind, addend as u64]
                .map(u64::to_le_bytes)
                .concat(),
        );
        bytes.extend([0; SYMBOL]);
        for binding in [0u8, 0x10] {
            bytes.extend([0, 0, 0, 0, binding | 2, 0, 1, 0]);
            bytes.extend([16u64, 0].map(u64::to_le_bytes).concat());
        }
        let headers = bytes.len() as u64;
        put(&mut bytes, 40, &headers.to_le_bytes()).unwrap();
        put(&mut bytes, 60, &[4]).unwrap();
        let section = |kind: u32, flags: u64, at: u64, size: u64, link: u32, info: u32| {
            let mut header = vec![0; HEADER];
            put(&mut header, 4, &kind.to_le_bytes()).unwrap();
            put(&mut header, 8, &flags.to_le_bytes()).unwrap();
            put(&mut header, 24, &at.to_le_bytes()).unwrap();
            put(&mut header, 32, &size.to_le_bytes()).unwrap();
            put(&mut header, 40, &link.to_le_bytes()).unwrap();
            put(&mut header, 44, &info.to_le_bytes()).unwrap();
            header
        };
        bytes.extend(section(0, 0, 0, 0, 0, 0));
        bytes.extend(section(1, 6, 64, 16, 0, 0));
        bytes.extend(section(4, 0, 80, 24, 3, 1));
        bytes.extend(section(2, 0, 104, 72, 0, 0));
        bytes
    }

    /// The code after sealing, and how many bytes of relocations are left.
    fn sealed(code: [u8; 16], relocation: (u64, u64, u64, i64)) -> (Vec<u8>, u64) {
        let mut bytes = object(&code, relocation);
        seal(&mut bytes).unwrap();
        let headers = place(&bytes, 40).unwrap();
        let left = number(&bytes, headers + 2 * HEADER + 32, 8).unwrap();
        (bytes[64..80].to_vec(), left)
    }

    #[test]
    fn what_is_near_is_settled() {
        let code = |begin: &[u8]| {
            let mut code = [0x90; 16];
            code[..begin.len()].copy_from_slice(begin);
            code
        };
        // call f, where the next instruction begins at 6 and f at 16
        let (new, left) = sealed(code(&[0x90, 0xe8, 0, 0, 0, 0]), (2, 1, PLT32, -4));
        assert_eq!((&new[..6], left), (&[0x90, 0xe8, 10, 0, 0, 0][..], 0));
        // call *f@GOTPCREL(%rip)
        let (new, left) = sealed(code(&[0x90, 0xff, 0x15, 0, 0, 0, 0]), (3, 1, 9, -4));
        assert_eq!((&new[..7], left), (&[0x90, 0x67, 0xe8, 9, 0, 0, 0][..], 0));
        // jmp *f@GOTPCREL(%rip)
        let (new, left) = sealed(code(&[0x90, 0xff, 0x25, 0, 0, 0, 0]), (3, 1, 9, -4));
        assert_eq!((&new[..7], left), (&[0x90, 0xe9, 10, 0, 0, 0, 0x90][..], 0));
        // mov f@GOTPCREL(%rip), %rcx
        let (new, left) = sealed(code(&[0x48, 0x8b, 0x0d, 0, 0, 0, 0]), (3, 1, 42, -4));
        assert_eq!((&new[..7], left), (&[0x48, 0x8d, 0x0d, 9, 0, 0, 0][..], 0));
    }

    #[test]
    fn what_may_be_anothers_stays() {
        let code = [0x90; 16];
        let global = (2, 2, PLT32, -4);
        assert_eq!(sealed(code, global), (code.to_vec(), 24));
        // Some instruction that takes the address of the entry in the table.
        let unknown = (3, 1, 9, -4);
        assert_eq!(sealed(code, unknown), (code.to_vec(), 24));
    }

    #[test]
    fn other_files_are_not_touched() {
        let mut other = object(&[0; 16], (2, 1, PLT32, -4));
        put(&mut other, 18, &[183]).unwrap();
        let before = other.clone();
        assert_eq!(seal(&mut other), Some(()));
        assert_eq!(other, before);
        assert_eq!(seal(&mut b"!<arch>\n".to_vec()), None);
        let mut cut = object(&[0; 16], (2, 1, PLT32, -4));
        cut.truncate(200);
        assert_eq!(seal(&mut cut), None);
    }
}
