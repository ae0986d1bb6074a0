//! What a measured program or library says of the places of calls: its debug information, its
//! symbols, its machine code, and what the compiler stated.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use addr2line::Loader;
use profile::functions;
use profile::model::{Code, Region};
use profile::region_kind::RegionKind;

use super::align;
use super::dwarf;
use super::entries::{entries, variant_of};
use super::machine::{Instruction, Machine};
use super::symbols::{GNU_BODY, Part, made_from, of_user};
use crate::cli::debug_file;

/// A function at some address, either inlined into another one or with code of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    /// Its name in the debug information or in the symbol table.
    pub(super) function: String,
    /// The function in the source from which it was made.
    pub(super) user: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// The readable contents of a measured program or library.
#[derive(Default)]
pub(super) struct Module {
    path: PathBuf,
    pub(super) lines: Option<Loader>,
    machine: Option<Machine>,
    /// The sources that its debug information names, once they were asked for.
    files: OnceCell<BTreeSet<String>>,
    /// The pieces of its code that were made from each part of the source, once they were asked for.
    pieces: OnceCell<HashMap<Part, Vec<(u64, u64)>>>,
    /// The names of functions in the source, by their symbols, once they were asked for.
    names: OnceCell<HashMap<String, String>>,
}

impl Module {
    pub(super) fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            lines: debug_file::loader(path),
            machine: Machine::open(path),
            files: OnceCell::new(),
            pieces: OnceCell::new(),
            names: OnceCell::new(),
        }
    }

    /// The place that the compiler stated for a call. Forgets it if the file that it names cannot
    /// be told from others, or is none.
    pub(super) fn stated(&self, region: &mut Region) -> Option<Frame> {
        if region.begin[0] == 0 {
            return None;
        }
        let all = self.files.get_or_init(|| self.files_with_code());
        let ending = format!("/{}", region.file);
        let is_it = |file: &&String| **file == region.file || file.ends_with(&ending);
        let mut found = all.iter().filter(is_it);
        let file = match (found.next(), found.next()) {
            (Some(file), None) => file.clone(),
            // The debug information was removed, but not what was stated.
            (None, None) if all.is_empty() && region.file.contains('.') => region.file.clone(),
            _ => {
                region.file.clear();
                (region.begin, region.end, region.column) = ([0; 2], [0; 2], 0);
                region.function = None;
                return None;
            }
        };
        region.file.clone_from(&file);
        let function = region.function.clone().unwrap_or_default();
        Some(Frame {
            user: self.of_user(&function),
            function,
            file,
            line: region.begin[0],
        })
    }

    /// The sources from which its code was made.
    fn files_with_code(&self) -> BTreeSet<String> {
        let places = self
            .lines
            .as_ref()
            .and_then(|lines| lines.find_location_range(0, u64::MAX).ok());
        let files = places.into_iter().flatten();
        files
            .filter_map(|(_, _, place)| Some(place.file?.to_owned()))
            .collect()
    }

    /// The folders of its sources and their headers.
    pub(super) fn folders(&self) -> BTreeSet<PathBuf> {
        dwarf::folders(&debug_file::of(&self.path))
    }

    /// Whether its calls are those of GCC's runtime; none if they don't show it.
    pub(super) fn is_gnu(&self) -> Option<bool> {
        let machine = self.machine.as_ref()?;
        match (machine.calls("GOMP_"), machine.calls("__kmpc_")) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// The place of a call. If the call was the last act of its function, it returned to the
    /// caller of that function; then the jump is looked up.
    pub(super) fn call(&self, region: &Region, code: Code) -> Code {
        let is_body = self.is_gnu() != Some(false) && align::has_function(region.kind);
        let Some(machine) = self.machine.as_ref().filter(|_| !is_body) else {
            return code;
        };
        let entries = entries(region.kind, region.name.as_deref());
        let mut jumps = machine.tail_calls(code.offset + 1, &entries);
        if jumps.is_empty() {
            jumps = machine.last_acts(code.offset, &entries);
        }
        let jumps = jumps.into_iter().map(|offset| Code {
            offset,
            ..code.clone()
        });
        // Copies of one call at the same place are equivalent.
        let mut jumps = jumps.map(|jump| (self.frames(&jump), jump));
        match jumps.next() {
            Some((place, jump)) if jumps.all(|(other, _)| other == place) => jump,
            _ => code,
        }
    }

    /// See [`Machine::instance`].
    pub(super) fn instance(&self, address: u64) -> u64 {
        let code = self.machine.as_ref();
        code.map_or(0, |code| code.instance(address))
    }

    /// The calls of asked entries in the function at an address, and in the pieces that the compiler
    /// split off from it. None if that function is not known.
    pub(super) fn calls_around(
        &self,
        address: u64,
        is_asked: impl Fn(&str) -> bool,
    ) -> Option<Vec<Instruction>> {
        let machine = self.machine.as_ref()?;
        let (_, pieces) = self.pieces_around(address)?;
        let calls = pieces.iter();
        Some(
            calls
                .flat_map(|piece| machine.calls_in(*piece, &is_asked))
                .collect(),
        )
    }

    /// What the entry that the call with this last byte calls tells of its directive, which is of this kind.
    pub(super) fn variant_called(&self, kind: RegionKind, last_byte: u64) -> Option<&'static str> {
        let entry = self.machine.as_ref()?.entry_called(last_byte)?;
        variant_of(kind, &entry)
    }

    /// The part of the source from which the function at an address was made, and all pieces of
    /// code that were made from it.
    pub(super) fn pieces_around(&self, address: u64) -> Option<(Part, &[(u64, u64)])> {
        let machine = self.machine.as_ref()?;
        let own = made_from(machine.names(address).next()?);
        let read = || {
            let mut pieces: HashMap<Part, Vec<(u64, u64)>> = HashMap::new();
            for (name, piece) in machine.named_functions() {
                let part = (made_from(name), machine.instance(piece.0));
                pieces.entry(part).or_default().push(piece);
            }
            pieces
        };
        let part = (own, machine.instance(address));
        let pieces = self.pieces.get_or_init(read).get(&part)?;
        Some((part, pieces))
    }

    /// The addresses in pieces of code where its lines change.
    pub(super) fn places_in(&self, pieces: &[(u64, u64)]) -> Vec<u64> {
        let Some(lines) = &self.lines else {
            return Vec::new();
        };
        let ranges = pieces.iter();
        let ranges = ranges.filter_map(|piece| lines.find_location_range(piece.0, piece.1).ok());
        ranges.flatten().map(|(address, ..)| address).collect()
    }

    /// Whether the function at an address stands for several of the source, which were equal: a
    /// compiler or linker kept only one of them.
    pub(super) fn is_shared(&self, address: u64) -> bool {
        self.machine.as_ref().is_some_and(|code| {
            let names: BTreeSet<String> = code.names(address).map(made_from).collect();
            names.len() > 1 || code.is_folded(address)
        })
    }

    /// The functions that only jump to the one that an address is in. The body of a construct may
    /// do so with a function that it calls, and is then left out.
    pub(super) fn stand_ins(&self, code: &Code) -> Vec<Frame> {
        let Some(machine) = &self.machine else {
            return Vec::new();
        };
        let is_body = |address| machine.names(address).any(|name| name.contains(GNU_BODY));
        let found = machine.stand_ins(code.offset);
        let found = found.filter(|begin| !is_body(*begin) || is_body(code.offset));
        let frame = |offset| {
            let at = Code {
                offset,
                ..code.clone()
            };
            self.frames(&at).pop()
        };
        found.filter_map(frame).collect()
    }

    /// The functions at an address, or the symbol there.
    pub(super) fn frames(&self, code: &Code) -> Vec<Frame> {
        let Some(lines) = &self.lines else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let symbol = lines.find_symbol(code.offset).unwrap_or_default();
        if let Ok(mut frames) = lines.find_frames(code.offset) {
            while let Ok(Some(frame)) = frames.next() {
                let location = frame.location.as_ref();
                let name = frame.function.as_ref();
                let name = name.and_then(|name| Some(name.raw_name().ok()?.into_owned()));
                let function = name.unwrap_or_else(|| symbol.to_owned());
                found.push(Frame {
                    user: self.of_user(&function),
                    function,
                    file: location
                        .and_then(|it| it.file)
                        .unwrap_or_default()
                        .to_owned(),
                    line: location.and_then(|it| it.line).unwrap_or(0),
                });
            }
        }
        if found.is_empty() && !symbol.is_empty() {
            found.push(Frame {
                function: symbol.to_owned(),
                user: self.of_user(symbol),
                file: String::new(),
                line: 0,
            });
        }
        found
    }

    /// The user's function from which a function was made, as its source calls it.
    fn of_user(&self, name: &str) -> String {
        let symbol = of_user(name);
        let in_source = || {
            let read = || dwarf::names_in_source(&debug_file::of(&self.path));
            self.names.get_or_init(read).get(symbol).cloned()
        };
        // Symbols of C++, and of a procedure of Fortran outside modules.
        let differs = symbol.starts_with("_Z") || symbol.ends_with('_') && !symbol.ends_with("__");
        let name = differs.then(in_source).flatten();
        // A function that only its file sees may have no symbol, but a name with the arguments of
        // its template.
        let symbol = match symbol.starts_with("_Z") {
            true => symbol,
            false => dwarf::without_arguments(symbol),
        };
        name.unwrap_or_else(|| functions::name(symbol, &demangled))
    }
}

/// What a symbol of C++ stands for: the function and its parameters.
fn demangled(symbol: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(symbol).ok()?;
    symbol.demangle().ok()
}
