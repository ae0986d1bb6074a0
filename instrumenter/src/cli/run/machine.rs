//! Reads a module's machine code for information about a call of the OpenMP runtime.
//!
//! A compiler turns the last call in a function into a jump. A function called in this way
//! returns to the caller of that function, and the jump is looked up here. Without this
//! look-up, such a call would have the line of another call.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use object::elf::{R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags,
    RelocationTarget, SectionKind, SymbolKind,
};

use super::folded;
use super::symbols::of_user;

/// The code of a module.
#[derive(Debug)]
pub(super) struct Machine {
    /// Sections with code, each with its address.
    code: Vec<(u64, Vec<u8>)>,
    /// Names of functions in other modules, by the slots that contain their addresses.
    slots: HashMap<u64, String>,
    /// Begin and end of each function.
    functions: Vec<(u64, u64)>,
    /// The names of functions, by their begins.
    names: BTreeMap<u64, BTreeSet<String>>,
    /// Numbers that distinguish functions from others with the same name that were made from another part
    /// of the source, by the begins of the functions.
    instances: HashMap<u64, u64>,
    /// Functions that do nothing but jump to another one, by the begin of that one.
    stand_ins: BTreeMap<u64, Vec<u64>>,
    /// The begins of functions that come from several places in the source.
    folded: BTreeSet<u64>,
}

/// The target of a call or jump.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Function(u64),
    Named(String),
}

/// An instruction that calls a function, or jumps to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Its last byte for a call, as measured; its first byte for a jump.
    pub(super) address: u64,
    pub(super) is_jump: bool,
}

/// The instruction at which an indirect call may arrive.
const LANDING_PAD: [u8; 4] = [0xF3, 0x0F, 0x1E, 0xFA];

/// The longest chain of jumps between functions that is followed; real code has shorter ones.
const LONGEST_CHAIN: usize = 8;

impl Machine {
    pub(super) fn open(path: &Path) -> Option<Self> {
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        if file.architecture() != Architecture::X86_64 {
            return None;
        }
        let symbols = file.dynamic_symbol_table();
        let slots = file.dynamic_relocations()?.filter_map(|(at, relocation)| {
            let RelocationFlags::Elf { r_type } = relocation.flags() else {
                return None;
            };
            let RelocationTarget::Symbol(index) = relocation.target() else {
                return None;
            };
            let is_of_function = r_type == R_X86_64_JUMP_SLOT || r_type == R_X86_64_GLOB_DAT;
            let symbol = symbols.as_ref()?.symbol_by_index(index).ok()?;
            is_of_function.then_some((at, symbol.name().ok()?.to_owned()))
        });
        let slots = slots.collect();
        let code = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .filter_map(|section| Some((section.address(), section.data().ok()?.to_vec())))
            .collect();
        let mut names: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        let mut owned: Vec<Owned> = Vec::new();
        let mut source = 0;
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            // The symbols that only one source sees stand behind that of the source.
            source += u64::from(symbol.kind() == SymbolKind::File);
            if symbol.is_definition() && symbol.kind() == SymbolKind::Text {
                let name = symbol.name().unwrap_or_default().to_owned();
                let source = if symbol.is_global() { 0 } else { source };
                owned.push((symbol.address(), name.clone(), source));
                names.entry(symbol.address()).or_default().insert(name);
            }
        }
        let mut functions: Vec<(u64, u64)> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.is_definition() && symbol.size() > 0)
            .map(|symbol| {
                let begin = symbol.address();
                (begin, begin.saturating_add(symbol.size()))
            })
            .collect();
        functions.sort_unstable();
        functions.dedup();
        let mut machine = Self {
            code,
            slots,
            functions,
            instances: instances(&owned),
            names,
            stand_ins: BTreeMap::new(),
            folded: folded::begins(&file),
        };
        for &(begin, end) in &machine.functions {
            if let Some(to) = machine.only_jump(begin, end) {
                machine.stand_ins.entry(to).or_default().push(begin);
            }
        }
        Some(machine)
    }

    /// The target of a function that consists of one jump.
    fn only_jump(&self, begin: u64, end: u64) -> Option<u64> {
        let code = self.bytes(begin, usize::try_from(end - begin).ok()?)?;
        let code = code.strip_prefix(&LANDING_PAD).unwrap_or(code);
        let distance = match code {
            [0xE9, distance @ ..] if distance.len() == 4 => relative(distance)?,
            [0xEB, distance] => i64::from(distance.cast_signed()).cast_unsigned(),
            _ => return None,
        };
        let to = end.wrapping_add(distance);
        self.function(to).map(|(to, _)| to)
    }

    /// The names of the function that an address is in. A compiler or linker gives several names to
    /// one function if it keeps only one of several equal ones.
    pub(super) fn names(&self, address: u64) -> impl Iterator<Item = &str> {
        let function = self.function_around(address);
        let names = function.and_then(|(begin, _)| self.names.get(&begin));
        names.into_iter().flatten().map(String::as_str)
    }

    /// A number that distinguishes the function around an address from others with the same name,
    /// such as those that several files have for themselves; 0 if there are none.
    pub(super) fn instance(&self, address: u64) -> u64 {
        let begin = self.function_around(address).map_or(0, |(begin, _)| begin);
        self.instances.get(&begin).copied().unwrap_or(0)
    }

    /// The functions of the code, with their names.
    pub(super) fn named_functions(&self) -> impl Iterator<Item = (&str, (u64, u64))> {
        self.functions.iter().flat_map(|function| {
            let names = self.names.get(&function.0).into_iter().flatten();
            names.map(move |name| (name.as_str(), *function))
        })
    }

    /// The calls and jumps in a function to those functions of other modules that are asked for.
    /// Bytes in the middle of an instruction may look like a call, but they do not lead to such a
    /// function.
    pub(super) fn calls_in(
        &self,
        (begin, end): (u64, u64),
        is_asked: impl Fn(&str) -> bool,
    ) -> Vec<Instruction> {
        let size = usize::try_from(end - begin).unwrap_or(0);
        let code = self.bytes(begin, size).unwrap_or_default();
        let mut found = Vec::new();
        for at in 0..code.len() {
            let here = begin + at as u64;
            let (length, distance, is_jump) = match &code[at..] {
                [0xE8, distance @ ..] => (5, distance, false),
                [0xE9, distance @ ..] => (5, distance, true),
                [0x0F, 0x80..=0x8F, distance @ ..] => (6, distance, true),
                [0xFF, 0x15, distance @ ..] => (6, distance, false),
                [0xFF, 0x25, distance @ ..] => (6, distance, true),
                _ => continue,
            };
            let Some(distance) = relative(distance) else {
                continue;
            };
            let to = here.wrapping_add(length).wrapping_add(distance);
            let is_it = match (code[at], self.at(to)) {
                (0xFF, _) => self.slots.get(&to).is_some_and(|name| is_asked(name)),
                (_, Some(Target::Named(name))) => is_asked(&name),
                _ => false,
            };
            if is_it {
                let address = if is_jump { here } else { here + length - 1 };
                found.push(Instruction { address, is_jump });
            }
        }
        found
    }

    /// Whether the function that an address is in comes from several places in the source.
    pub(super) fn is_folded(&self, address: u64) -> bool {
        let function = self.function_around(address);
        function.is_some_and(|(begin, _)| self.folded.contains(&begin))
    }

    /// The begins of functions that do nothing but jump to the one that an address is in. For one of
    /// several equal functions whose addresses the program compares or passes on, a compiler makes
    /// such a jump. The begin itself is reached by its own address only.
    pub(super) fn stand_ins(&self, address: u64) -> impl Iterator<Item = u64> {
        let function = self.function_around(address);
        let inside = function.filter(|(begin, _)| *begin < address);
        let found = inside.and_then(|(begin, _)| self.stand_ins.get(&begin));
        found.into_iter().flatten().copied()
    }

    /// Begin and end of the function that an address is in.
    fn function_around(&self, address: u64) -> Option<(u64, u64)> {
        let behind = self.functions.partition_point(|one| one.0 <= address);
        let function = self.functions[behind.checked_sub(1)?];
        (address < function.1).then_some(function)
    }

    /// Whether it calls a function in another module whose name begins like this.
    pub(super) fn calls(&self, start: &str) -> bool {
        self.slots.values().any(|name| name.starts_with(start))
    }

    /// The jumps that may be the call that returns to `back`, if the call was the last act of a
    /// function called there. Empty if that is not certain.
    pub(super) fn tail_calls(&self, back: u64, wanted: &[&str]) -> BTreeSet<u64> {
        match self.called_before(back) {
            Some(Target::Function(function)) => self.last_acts(function, wanted),
            _ => BTreeSet::new(),
        }
    }

    /// The jumps to functions of these names with which a function ends, directly or through
    /// other functions. Empty if not all of its ends are known.
    pub(super) fn last_acts(&self, function: u64, wanted: &[&str]) -> BTreeSet<u64> {
        self.known_last_acts(function, wanted).unwrap_or_default()
    }

    fn known_last_acts(&self, function: u64, wanted: &[&str]) -> Option<BTreeSet<u64>> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![function];
        while let Some(function) = open.pop() {
            if !seen.insert(function) {
                continue;
            }
            if seen.len() > LONGEST_CHAIN {
                return None;
            }
            for (at, target) in self.jumps_out_of(function)? {
                match target {
                    Target::Function(next) => open.push(next),
                    Target::Named(name) if wanted.contains(&name.as_str()) => {
                        found.insert(at);
                    }
                    Target::Named(name) if is_of_runtime(&name) => {}
                    // That function may end with a call of the runtime, too.
                    Target::Named(_) => return None,
                }
            }
        }
        Some(found)
    }

    /// The target of the call that returns to an address.
    fn called_before(&self, back: u64) -> Option<Target> {
        let before = |size: usize| self.bytes(back.checked_sub(size as u64)?, size);
        if let Some([0xE8, distance @ ..]) = before(5) {
            return self.at(back.wrapping_add(relative(distance)?));
        }
        match before(6)? {
            [0xFF, 0x15, distance @ ..] => {
                let slot = back.wrapping_add(relative(distance)?);
                self.slots.get(&slot).cloned().map(Target::Named)
            }
            _ => None,
        }
    }

    /// The function of another module that the call with this last byte calls.
    pub(super) fn entry_called(&self, last_byte: u64) -> Option<String> {
        match self.called_before(last_byte.checked_add(1)?)? {
            Target::Named(name) => Some(name),
            Target::Function(_) => None,
        }
    }

    /// The jumps that lead out of a function. None if not all of them are known.
    fn jumps_out_of(&self, function: u64) -> Option<Vec<(u64, Target)>> {
        let (begin, end) = self.function(function)?;
        let size = usize::try_from(end - begin).ok()?;
        let code = self.bytes(begin, size)?;
        let mut jumps = Vec::new();
        for at in 0..code.len() {
            let here = begin + at as u64;
            let (length, distance) = match &code[at..] {
                [0xE9, distance @ ..] => (5, distance),
                [0x0F, 0x80..=0x8F, distance @ ..] => (6, distance),
                // A jump to a computed address, which may be a function.
                [0xFF, 0xE0..=0xE7, ..] => return None,
                [0xFF, 0x25, distance @ ..] => {
                    let slot = here.wrapping_add(6).wrapping_add(relative(distance)?);
                    let name = self.slots.get(&slot).cloned();
                    jumps.extend(name.map(|name| (here, Target::Named(name))));
                    continue;
                }
                _ => continue,
            };
            let Some(distance) = relative(distance) else {
                continue;
            };
            let to = here.wrapping_add(length).wrapping_add(distance);
            let target = (to < begin || to >= end).then(|| self.at(to)).flatten();
            jumps.extend(target.map(|target| (here, target)));
        }
        Some(jumps)
    }

    /// The function that begins at an address, or the one in another module that a stub at this
    /// address calls.
    fn at(&self, address: u64) -> Option<Target> {
        if self.function(address).is_some() {
            return Some(Target::Function(address));
        }
        let code = self.bytes(address, 12)?;
        let jump = (0..=6).find(|at| code[*at..].starts_with(&[0xFF, 0x25]))?;
        let slot = (address + jump as u64 + 6).wrapping_add(relative(&code[jump + 2..])?);
        self.slots.get(&slot).cloned().map(Target::Named)
    }

    /// Begin and end of the function that begins at an address.
    fn function(&self, address: u64) -> Option<(u64, u64)> {
        let behind = self.functions.partition_point(|one| one.0 <= address);
        let function = *self.functions.get(behind.checked_sub(1)?)?;
        (function.0 == address).then_some(function)
    }

    fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        self.code.iter().find_map(|(begin, code)| {
            let at = usize::try_from(address.checked_sub(*begin)?).ok()?;
            code.get(at..at.checked_add(size)?)
        })
    }
}

/// A function by its begin: its name, and the number of the source that alone sees it, or 0.
type Owned = (u64, String, u64);

/// Part of the names that link-time optimisation gives to functions of the same name.
const RENAMED: &str = ".lto_priv.";

/// Numbers that distinguish functions from others with the same name that were made from another part of the
/// source. Functions made from one part, such as copies for some arguments, have the same number. Link-time
/// optimisation forgets the sources: then each function has a number of its own.
fn instances(owned: &[Owned]) -> HashMap<u64, u64> {
    #[derive(Default)]
    struct OfOneName {
        /// The sources that alone see such functions.
        sources: BTreeSet<u64>,
        /// Whether the function itself is seen by its source alone, and by all.
        seen: [bool; 2],
        is_renamed: bool,
    }
    let mut names: HashMap<&str, OfOneName> = HashMap::new();
    for (_, name, source) in owned {
        let of_name = names.entry(of_user(name)).or_default();
        of_name.is_renamed |= name.contains(RENAMED);
        of_name.seen[usize::from(*source == 0)] |= of_user(name) == name;
        of_name
            .sources
            .extend(Some(*source).filter(|source| *source != 0));
    }
    let instance = |(begin, name, source): &Owned| {
        let of_name = &names[of_user(name)];
        match of_name.is_renamed {
            true => Some((*begin, *begin)),
            false if of_name.sources.len() > 1 || of_name.seen == [true; 2] => {
                Some((*begin, source + 1))
            }
            false => None,
        }
    };
    owned.iter().filter_map(instance).collect()
}

/// The distance of a jump, from the end of its instruction.
fn relative(bytes: &[u8]) -> Option<u64> {
    let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    Some(i64::from(i32::from_le_bytes(bytes)).cast_unsigned())
}

fn is_of_runtime(name: &str) -> bool {
    ["GOMP_", "omp_", "__kmpc_"]
        .iter()
        .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use profile::region_kind::RegionKind as K;

    use super::super::entries::{entries, gnu_entry};
    use super::*;

    /// A function at 0x100 that ends in a jump to the one at 0x110, which ends in a jump to the
    /// stub at 0x200. The first function is called at 0x120.
    fn machine(second: &[u8]) -> Machine {
        let mut code = vec![0x90; 0x110];
        let mut put = |at: usize, bytes: &[u8]| {
            code[at - 0x100..at - 0x100 + bytes.len()].copy_from_slice(bytes);
        };
        put(0x102, &[0xE9, 0x09, 0, 0, 0]);
        put(0x110, second);
        put(0x120, &[0xE8, 0xDB, 0xFF, 0xFF, 0xFF]);
        put(0x200, &[0xFF, 0x25, 0xFA, 0x0D, 0, 0]);
        Machine {
            code: vec![(0x100, code)],
            slots: HashMap::from([(0x1000, "GOMP_taskwait".to_owned())]),
            functions: vec![(0x100, 0x108), (0x110, 0x11F), (0x120, 0x130)],
            names: BTreeMap::new(),
            instances: HashMap::new(),
            stand_ins: BTreeMap::new(),
            folded: BTreeSet::new(),
        }
    }

    #[test]
    fn a_function_that_only_jumps_is_told_from_one_that_does_more() {
        let mut machine = machine(&[0xEB, 0xEE]);
        let only = |from: &Machine, begin, end| from.only_jump(begin, end);
        assert_eq!(only(&machine, 0x110, 0x112), Some(0x100));
        assert_eq!(only(&machine, 0x110, 0x113), None);
        assert_eq!(only(&machine, 0x102, 0x107), Some(0x110));
        assert_eq!(only(&machine, 0x100, 0x107), None);
        machine.stand_ins.insert(0x100, vec![0x110]);
        assert_eq!(machine.stand_ins(0x104).collect::<Vec<_>>(), [0x110]);
        assert_eq!(machine.stand_ins(0x100).count(), 0);
    }

    #[test]
    fn functions_of_the_same_name_are_told_apart() {
        let of = |owned: &[(&str, u64)]| {
            let begins = 1..;
            let owned = begins.zip(owned);
            let owned: Vec<Owned> = owned
                .map(|(begin, (name, source))| (begin, (*name).to_owned(), *source))
                .collect();
            let found = instances(&owned);
            let of = |(begin, ..): &Owned| found.get(begin).copied().unwrap_or(0);
            owned.iter().map(of).collect::<Vec<u64>>()
        };
        // Two sources have such a function, one of them as a copy for some arguments.
        let copies = [("work.constprop.0", 1), ("work._omp_fn.0", 1), ("work", 2)];
        assert_eq!(of(&copies), [2, 2, 3]);
        assert_eq!(of(&[("work", 0), ("work", 1), ("main", 0)]), [1, 2, 0]);
        assert_eq!(of(&[("work", 0), ("work.cold", 1)]), [0, 0]);
        assert_eq!(of(&[("work", 1), ("work.part.0", 1)]), [0, 0]);
        let by_link = [("work", 1), ("work.lto_priv.0", 1), ("work._omp_fn.0", 1)];
        assert_eq!(of(&by_link), [1, 2, 3]);
    }

    #[test]
    fn a_call_by_a_jump_is_found_where_it_is_made() {
        let machine = machine(&[0x90, 0xE9, 0xEA, 0, 0, 0]);
        let wanted = entries(K::Taskwait, None);
        let only = BTreeSet::from([0x111]);
        assert_eq!(machine.tail_calls(0x125, &wanted), only);
        assert_eq!(machine.last_acts(0x110, &wanted), only);
        // Other entries are not wanted, and behind other bytes there is no call.
        let barrier = entries(K::Barrier, None);
        assert!(machine.tail_calls(0x125, &barrier).is_empty());
        assert!(machine.tail_calls(0x124, &wanted).is_empty());
    }

    #[test]
    fn several_jumps_are_found_unless_one_is_computed() {
        let two = machine(&[0xE9, 0xEB, 0, 0, 0, 0xE9, 0xE6, 0, 0, 0]);
        let wanted = entries(K::Taskwait, None);
        assert_eq!(
            two.tail_calls(0x125, &wanted),
            BTreeSet::from([0x110, 0x115])
        );
        let computed = machine(&[0xE9, 0xEB, 0, 0, 0, 0xFF, 0xE0]);
        assert!(computed.tail_calls(0x125, &wanted).is_empty());
    }

    #[test]
    fn calls_in_a_function_are_found_executed_or_not() {
        let mut machine = machine(&[0xE9, 0xEB, 0, 0, 0]);
        let wanted = gnu_entry(K::Taskwait, None).unwrap();
        let jump = Instruction {
            address: 0x110,
            is_jump: true,
        };
        assert_eq!(machine.calls_in((0x110, 0x11F), &wanted), [jump]);
        // A call is known by its last byte; that of another function is none.
        assert_eq!(machine.calls_in((0x120, 0x130), &wanted), []);
        machine.code[0].1[0x20..0x25].copy_from_slice(&[0xE8, 0xDB, 0, 0, 0]);
        let call = Instruction {
            address: 0x124,
            is_jump: false,
        };
        assert_eq!(machine.calls_in((0x120, 0x130), &wanted), [call]);
        let barrier = gnu_entry(K::Barrier, None).unwrap();
        assert_eq!(machine.calls_in((0x120, 0x130), barrier), []);
    }
}
