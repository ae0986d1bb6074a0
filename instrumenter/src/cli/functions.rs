//! Finds the functions of a profile in the source. It uses the debug information of the program
//! and its libraries, if these files still exist and have not changed.

use std::collections::HashMap;
use std::path::Path;

use addr2line::{Loader, gimli};
use profile::functions::Symbols;
use profile::model::{Code, Profile, Region};
use profile::region_kind::RegionKind;

/// Fills in file and line of each function, and its name where debug information has a better
/// one than the symbol. Functions without debug information stay as they are.
pub(super) fn locate(profile: &mut Profile) {
    let mut modules: HashMap<String, Option<Module>> = HashMap::new();
    for region in &mut profile.regions {
        let is_function = region.kind == RegionKind::Function;
        let Some(code) = region.code.clone().filter(|_| is_function) else {
            continue;
        };
        let module = modules
            .entry(code.module.clone())
            .or_insert_with(|| Module::open(Path::new(&code.module)));
        if let Some(module) = module.as_ref().filter(|module| module.has(&code)) {
            module.describe(region, code.offset);
        }
    }
}

/// A program or library that was measured.
struct Module {
    symbols: Symbols,
    loader: Loader,
}

impl Module {
    fn open(path: &Path) -> Option<Self> {
        Some(Self {
            symbols: Symbols::read(path).ok()?,
            loader: super::debug_file::loader(path)?,
        })
    }

    /// Whether the file still has this function at its address: the file may have been built
    /// again since the run.
    fn has(&self, code: &Code) -> bool {
        self.symbols.at(code.offset) == code.symbol.as_deref()
    }

    fn describe(&self, region: &mut Region, offset: u64) {
        if let Ok(Some(location)) = self.loader.find_location(offset)
            && let (Some(file), Some(line)) = (location.file, location.line)
        {
            file.clone_into(&mut region.file);
            region.begin = [line; 2];
            region.end = [line; 2];
        }
        if let Some(name) = self.fortran_name(offset) {
            region.name = Some(name);
        }
    }

    /// The name of a Fortran procedure, since the symbols of procedures are not the user's
    /// names. Procedures in modules keep their symbols, which also contain the module's name.
    fn fortran_name(&self, offset: u64) -> Option<String> {
        const LANGUAGES: [gimli::DwLang; 6] = [
            gimli::DW_LANG_Fortran77,
            gimli::DW_LANG_Fortran90,
            gimli::DW_LANG_Fortran95,
            gimli::DW_LANG_Fortran03,
            gimli::DW_LANG_Fortran08,
            gimli::DW_LANG_Fortran18,
        ];
        let mut frames = self.loader.find_frames(offset).ok()?;
        let mut outermost = None;
        while let Ok(Some(frame)) = frames.next() {
            outermost = frame.function;
        }
        let function = outermost?;
        let is_fortran = function
            .language
            .is_some_and(|language| LANGUAGES.contains(&language));
        let name = function.raw_name().ok()?.into_owned();
        (is_fortran && !name.contains("_MOD_") && name != "MAIN__").then_some(name)
    }
}
