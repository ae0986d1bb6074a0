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
//! Only local symbols are settled: a global one may be another's in the end. But
//! where the object has a jump to such a function (`install` makes one for each
//! that is called), its calls go there, and one relocation is left for all of them.
//!
//! What is left refers to sections, so that no link has to read the names of local
//! symbols. Objects for other machines stay as they are.

use std::collections::HashMap;
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

/// Sections with symbols and with relocations, and the flag of those with code.
const SYMTAB: u64 = 2;
const RELA: u64 = 4;
const EXECUTABLE: u64 = 4;

/// Sizes of a section's header, a relocation, a symbol.
const HEADER: usize = 64;
const RELOCATION: usize = 24;
const SYMBOL: usize = 24;

/// Relocations: nothing (of what was removed), an address, a distance, that of a
/// function, that of an entry in the table of addresses (which the two last ones let
/// linkers replace).
const NONE: u64 = 0;
const ADDRESS: u64 = 1;
const PC32: u64 = 2;
const PLT32: u64 = 4;
const GOT: [u64; 3] = [9, 41, 42];

/// What the name of a jump to a function of another object begins with.
const JUMP: &str = "romp_jump_to_";

/// The kind of symbols that stand for a section.
const SECTION: u64 = 3;
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
    let Some(object) = Object::read(bytes)? else {
        return Some(());
    };
    for header in object.headers.clone().step_by(HEADER) {
        if number(bytes, header + 4, 4)? == RELA {
            seal_section(bytes, &object, header)?;
        }
    }
    Some(())
}

/// Settles what can be of one section's relocations; the others move together.
fn seal_section(bytes: &mut [u8], object: &Object, header: usize) -> Option<()> {
    let section = number(bytes, header + 44, 4)?;
    let code = object.headers.start + usize::try_from(section).ok()? * HEADER;
    let is_code = number(bytes, code + 8, 8)? & EXECUTABLE != 0;
    let (begin, size) = (place(bytes, header + 24)?, place(bytes, header + 32)?);
    let code = place(bytes, code + 24)?;
    let mut kept = begin;
    for at in (begin..begin + size).step_by(RELOCATION) {
        let mut relocation = Relocation::read(bytes, at)?;
        if relocation.kind == NONE {
            continue;
        }
        if is_code && relocation.settle(bytes, object, code, section)? {
            continue;
        }
        relocation.name_section(bytes, object)?;
        put(bytes, kept, &relocation.to_bytes())?;
        kept += RELOCATION;
    }
    put(bytes, header + 32, &((kept - begin) as u64).to_le_bytes())
}

/// What is to be known of the whole object.
struct Object {
    /// Where the headers of its sections are.
    headers: std::ops::Range<usize>,
    symbols: usize,
    /// By the number of a section: the symbol that stands for it.
    sections: HashMap<u64, usize>,
    /// By the symbol of another object's function: the jump there.
    jumps: HashMap<usize, Symbol>,
}

impl Object {
    /// `Some(None)`: it has no symbols.
    fn read(bytes: &[u8]) -> Option<Option<Self>> {
        let begin = place(bytes, 40)?;
        let count = usize::try_from(number(bytes, 60, 2)?).ok()?;
        let headers = begin..begin + count * HEADER;
        bytes.get(headers.clone())?;
        let mut tables = headers.clone().step_by(HEADER);
        let Some(table) = tables.find(|at| number(bytes, at + 4, 4) == Some(SYMTAB)) else {
            return Some(None);
        };
        let (symbols, size) = (place(bytes, table + 24)?, place(bytes, table + 32)?);
        let names = begin + usize::try_from(number(bytes, table + 40, 4)?).ok()? * HEADER;
        let names = place(bytes, names + 24)?;
        let mut sections = HashMap::new();
        let (mut outside, mut jumps) = (HashMap::new(), Vec::new());
        for index in 0..size / SYMBOL {
            let at = symbols + index * SYMBOL;
            let symbol = Symbol::read(bytes, at)?;
            let name = name(bytes, names + usize::try_from(number(bytes, at, 4)?).ok()?)?;
            if symbol.kind == SECTION {
                sections.insert(symbol.section, index);
            } else if symbol.section == 0 {
                outside.insert(name, index);
            } else if let Some(to) = name.strip_prefix(JUMP.as_bytes()) {
                jumps.push((to, symbol));
            }
        }
        let jumps = jumps.into_iter();
        let jumps = jumps.filter_map(|(to, jump)| Some((*outside.get(to)?, jump)));
        Some(Some(Self {
            headers,
            symbols,
            sections,
            jumps: jumps.collect(),
        }))
    }
}

struct Relocation {
    /// In the section.
    at: usize,
    kind: u64,
    symbol: usize,
    addend: i64,
}

#[derive(Clone)]
struct Symbol {
    kind: u64,
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

    fn to_bytes(&self) -> [u8; RELOCATION] {
        let words = [
            self.at as u64,
            (self.symbol as u64) << 32 | self.kind,
            self.addend as u64,
        ];
        let mut bytes = [0; RELOCATION];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Settles it if it can be; otherwise it is changed to what it is now.
    fn settle(
        &mut self,
        bytes: &mut [u8],
        object: &Object,
        code: usize,
        section: u64,
    ) -> Option<bool> {
        let field = code + self.at;
        let symbol = match object.jumps.get(&self.symbol) {
            Some(jump) if self.calls(bytes, field, jump)? => jump.clone(),
            _ => Symbol::read(bytes, object.symbols + self.symbol * SYMBOL)?,
        };
        if !symbol.is_known() {
            return Some(false);
        }
        let is_near = symbol.section == section;
        if GOT.contains(&self.kind) && self.addend == -4 {
            if is_near && bytes.get(field.checked_sub(2)?..field)? == [0xff, 0x25] {
                self.jump(bytes, field, &symbol)?;
                return Some(true);
            }
            if make_direct(bytes, field)? {
                self.kind = PC32;
            }
        }
        if !is_near || ![PC32, PLT32].contains(&self.kind) {
            return Some(false);
        }
        let distance = symbol.value as i64 + self.addend - self.at as i64;
        put(bytes, field, &i32::try_from(distance).ok()?.to_le_bytes())?;
        Some(true)
    }

    /// Whether it is that of a call, which may take a jump on its way; the jump's own
    /// may not. The address of a function is never that of a jump.
    fn calls(&self, bytes: &[u8], field: usize, jump: &Symbol) -> Option<bool> {
        let before: [u8; 2] = bytes.get(field.checked_sub(2)?..field)?.try_into().ok()?;
        let is_call = match self.kind {
            PLT32 => [0xe8, 0xe9].contains(&before[1]),
            kind => GOT.contains(&kind) && [[0xff, 0x15], [0xff, 0x25]].contains(&before),
        };
        Some(is_call && self.addend == -4 && jump.value + 2 != self.at as u64)
    }

    /// `jmp *function@GOTPCREL(%rip)`: the direct jump is shorter by a byte.
    fn jump(&self, bytes: &mut [u8], field: usize, symbol: &Symbol) -> Option<()> {
        let distance = symbol.value as i64 - (self.at as i64 + 3);
        let [a, b, c, d] = i32::try_from(distance).ok()?.to_le_bytes();
        put(bytes, field - 2, &[0xe9, a, b, c, d, 0x90])
    }

    /// Says the same by the symbol of a section.
    fn name_section(&mut self, bytes: &[u8], object: &Object) -> Option<()> {
        let symbol = Symbol::read(bytes, object.symbols + self.symbol * SYMBOL)?;
        let section = object.sections.get(&symbol.section);
        if let Some(section) = section.filter(|_| symbol.is_known())
            && [ADDRESS, PC32].contains(&self.kind)
        {
            self.symbol = *section;
            self.addend += symbol.value as i64;
        }
        Some(())
    }
}

impl Symbol {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let info = number(bytes, at + 4, 1)?;
        Some(Self {
            kind: info & 15,
            is_local: info >> 4 == 0,
            section: number(bytes, at + 6, 2)?,
            value: number(bytes, at + 8, 8)?,
        })
    }

    /// Whether its place in this object is what it is for good.
    fn is_known(&self) -> bool {
        let is_settled = self.is_local && !LATER.contains(&self.kind);
        is_settled && (1..SPECIAL_SECTION).contains(&self.section)
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

/// What ends at the next zero.
fn name(bytes: &[u8], at: usize) -> Option<&[u8]> {
    bytes.get(at..)?.split(|byte| *byte == 0).next()
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

    const LOCAL: u64 = 1;
    const GLOBAL: u64 = 2;
    const OUTSIDE: u64 = 3;

    /// An object with one section of code, its relocation and symbols: a local one
    /// in it at 16, one that is global, a function of another object, the jump there
    /// at 12, and the section's.
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
        let jump = JUMP.len() as u8 + 1;
        for (name, info, section, value) in [
            (0, 2, 1, 16u64),
            (0, 0x12, 1, 16),
            (jump, 0x12, 0, 0),
            (1, 0, 1, 12),
            (0, 3, 1, 0),
        ] {
            bytes.extend([name, 0, 0, 0, info, 0, section, 0]);
            bytes.extend([value, 0].map(u64::to_le_bytes).concat());
        }
        let names = format!("\0{JUMP}f\0");
        let names_at = bytes.len() as u64;
        bytes.extend(names.bytes());
        let headers = bytes.len() as u64;
        put(&mut bytes, 40, &headers.to_le_bytes()).unwrap();
        put(&mut bytes, 60, &[5]).unwrap();
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
        bytes.extend(section(2, 0, 104, 144, 4, 0));
        bytes.extend(section(3, 0, names_at, names.len() as u64, 0, 0));
        bytes
    }

    /// The relocation that is left: its symbol and number to be added.
    fn left(code: [u8; 16], relocation: (u64, u64, u64, i64)) -> (u64, i64) {
        let mut bytes = object(&code, relocation);
        seal(&mut bytes).unwrap();
        let left = Relocation::read(&bytes, 80).unwrap();
        (left.symbol as u64, left.addend)
    }

    /// The code after sealing, and how many bytes of relocations are left.
    fn sealed(code: [u8; 16], relocation: (u64, u64, u64, i64)) -> (Vec<u8>, u64) {
        let mut bytes = object(&code, relocation);
        seal(&mut bytes).unwrap();
        let headers = place(&bytes, 40).unwrap();
        let left = number(&bytes, headers + 2 * HEADER + 32, 8).unwrap();
        (bytes[64..80].to_vec(), left)
    }

    fn code(begin: &[u8]) -> [u8; 16] {
        let mut code = [0x90; 16];
        code[..begin.len()].copy_from_slice(begin);
        code
    }

    #[test]
    fn what_is_near_is_settled() {
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
    fn calls_of_others_go_to_the_jump() {
        // call f@PLT and call *f@GOTPCREL(%rip)
        let (new, left) = sealed(code(&[0xe8, 0, 0, 0, 0]), (1, OUTSIDE, PLT32, -4));
        assert_eq!((&new[..5], left), (&[0xe8, 7, 0, 0, 0][..], 0));
        let (new, left) = sealed(code(&[0xff, 0x15, 0, 0, 0, 0]), (2, OUTSIDE, 41, -4));
        assert_eq!((&new[..6], left), (&[0x67, 0xe8, 6, 0, 0, 0][..], 0));
        // The address of f, and the jump itself.
        let address = (3, OUTSIDE, 42, -4);
        let load = code(&[0x48, 0x8b, 0x0d, 0, 0, 0, 0]);
        assert_eq!(sealed(load, address), (load.to_vec(), 24));
        let mut jump = code(&[]);
        jump[12..14].copy_from_slice(&[0xff, 0x25]);
        assert_eq!(sealed(jump, (14, OUTSIDE, 41, -4)).1, 24);
    }

    #[test]
    fn what_is_left_names_sections() {
        const SECTIONS: u64 = 5;
        let code = code(&[]);
        assert_eq!(left(code, (0, LOCAL, ADDRESS, 1)), (SECTIONS, 17));
        assert_eq!(left(code, (0, GLOBAL, ADDRESS, 1)), (GLOBAL, 1));
        assert_eq!(sealed(code, (0, 0, NONE, 0)), (code.to_vec(), 0));
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
