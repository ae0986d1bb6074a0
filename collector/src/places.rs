//! Addresses as functions, files and lines, by the debug information of the program
//! and its libraries. Asked for when the program has ended.

use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_void};
use std::path::PathBuf;

use addr2line::Loader;

/// Where an address is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceLine {
    pub(crate) function: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    /// The program or library.
    pub(crate) module: String,
}

/// A part of the program in memory.
#[derive(Clone, Debug)]
struct Part {
    from: usize,
    to: usize,
    /// The difference between addresses in memory and addresses in the file.
    bias: usize,
    file: PathBuf,
}

/// The loaded modules, and the places that were found so far.
pub(crate) struct Places {
    parts: Vec<Part>,
    loaders: HashMap<PathBuf, Option<Loader>>,
    known: HashMap<usize, Vec<SourceLine>>,
}

impl Places {
    pub(crate) fn new() -> Self {
        let mut parts: Vec<Part> = Vec::new();
        // SAFETY: the function takes what it is given here, which lives until it returns.
        unsafe { libc::dl_iterate_phdr(Some(each_module), (&raw mut parts).cast()) };
        Self {
            parts,
            loaders: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// The place of a return address: several where functions are inlined, innermost
    /// first.
    pub(crate) fn of(&mut self, address: usize) -> Vec<SourceLine> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let places = self.find(address).unwrap_or_default();
        self.known.insert(address, places.clone());
        places
    }

    fn find(&mut self, address: usize) -> Option<Vec<SourceLine>> {
        // The call is before the address to which it returns.
        let address = address.checked_sub(1)?;
        let part = self
            .parts
            .iter()
            .find(|part| (part.from..part.to).contains(&address))?;
        let module = part.file.to_string_lossy().into_owned();
        let in_file = address.wrapping_sub(part.bias) as u64;
        let loader = self.loaders.entry(part.file.clone());
        let loader = loader
            .or_insert_with(|| Loader::new(&part.file).ok())
            .as_ref();
        let mut places = loader
            .map(|loader| frames(loader, in_file))
            .unwrap_or_default();
        if places.is_empty() {
            let symbol = loader.and_then(|loader| loader.find_symbol(in_file));
            places.push(SourceLine {
                function: symbol.unwrap_or_default().to_owned(),
                ..SourceLine::default()
            });
        }
        for place in &mut places {
            place.module.clone_from(&module);
        }
        Some(places)
    }
}

fn frames(loader: &Loader, address: u64) -> Vec<SourceLine> {
    let mut places = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else {
        return places;
    };
    while let Ok(Some(frame)) = frames.next() {
        let name = frame
            .function
            .as_ref()
            .and_then(|function| function.raw_name().ok());
        let location = frame.location.as_ref();
        places.push(SourceLine {
            function: name.map(std::borrow::Cow::into_owned).unwrap_or_default(),
            file: location
                .and_then(|at| at.file)
                .unwrap_or_default()
                .to_owned(),
            line: location.and_then(|at| at.line).unwrap_or(0),
            module: String::new(),
        });
    }
    // The symbol tells a region's body from its function, which debug information does not.
    if let (Some(last), Some(symbol)) = (places.last_mut(), loader.find_symbol(address)) {
        symbol.clone_into(&mut last.function);
    }
    places
}

/// Notes the parts of one module that hold code.
unsafe extern "C" fn each_module(
    module: *mut libc::dl_phdr_info,
    _: usize,
    parts: *mut c_void,
) -> c_int {
    // SAFETY: the system passes a module, with as many headers as it says, and the
    // pointer that it was given.
    let (module, parts) = unsafe { (&*module, &mut *parts.cast::<Vec<Part>>()) };
    // SAFETY: a C string, or null.
    let name = (!module.dlpi_name.is_null()).then(|| unsafe { CStr::from_ptr(module.dlpi_name) });
    let name = name
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let file = match name.is_empty() {
        true => std::env::current_exe().unwrap_or_default(),
        false => PathBuf::from(name),
    };
    let bias = module.dlpi_addr as usize;
    for index in 0..usize::from(module.dlpi_phnum) {
        // SAFETY: as above.
        let header = unsafe { &*module.dlpi_phdr.add(index) };
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            let from = bias.wrapping_add(header.p_vaddr as usize);
            parts.push(Part {
                from,
                to: from.saturating_add(header.p_memsz as usize),
                bias,
                file: file.clone(),
            });
        }
    }
    0
}
