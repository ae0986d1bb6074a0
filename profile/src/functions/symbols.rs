//! The functions that the symbol table of an executable file names.

use std::fs::File;
use std::io;
use std::path::Path;

use object::read::{ReadCache, ReadRef};
use object::{Object, ObjectSymbol, SymbolKind};

/// The functions of a program or shared library.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Ordered by address; each address occurs once.
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    address: u64,
    name: String,
    /// If several symbols have the same address, a global one is preferred.
    is_global: bool,
}

impl Symbols {
    /// Reads the function symbols of a file: all of them, or the dynamic ones if the file was
    /// stripped. Nothing else in the file is read.
    ///
    /// # Errors
    /// If the file can't be read, or is no ELF file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let cache = ReadCache::new(File::open(path)?);
        Self::of(&cache)
    }

    fn of<'data>(data: impl ReadRef<'data>) -> io::Result<Self> {
        let file = object::File::parse(data)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let mut functions: Vec<Function> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| {
                Some(Function {
                    address: symbol.address(),
                    name: symbol.name().ok()?.to_owned(),
                    is_global: symbol.is_global(),
                })
            })
            .collect();
        functions.sort_by(|one, other| {
            let key = |of: &Function| (of.address, !of.is_global, of.name.len());
            key(one).cmp(&key(other))
        });
        functions.dedup_by_key(|function| function.address);
        Ok(Self { functions })
    }

    /// The function that begins at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<&str> {
        let functions = &self.functions;
        let found = functions.binary_search_by_key(&address, |function| function.address);
        found.ok().map(|index| functions[index].name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_functions() {
        let symbols = Symbols::read(&std::env::current_exe().unwrap()).unwrap();
        let main = symbols.functions.iter().find(|of| of.name == "main");
        assert_eq!(symbols.at(main.unwrap().address), Some("main"));
        assert_eq!(symbols.at(1), None);
    }

    #[test]
    fn what_is_no_executable_is_an_error() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(Symbols::read(&source).is_err());
    }
}
