//! A file's debug information, entry by entry.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use addr2line::gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, DwarfSections, EndianSlice, LittleEndian,
    Reader, SectionId, Unit, constants,
};
use object::{Object, ObjectSection};

type Section<'a> = EndianSlice<'a, LittleEndian>;

/// Reads the debug information of a file.
pub(super) fn read<T>(
    file: &object::File<'_>,
    action: impl FnOnce(&Dwarf<Section<'_>>) -> T,
) -> Option<T> {
    let section = |id: SectionId| -> Result<Cow<'_, [u8]>, object::Error> {
        match file.section_by_name(id.name()) {
            Some(section) => section.uncompressed_data(),
            None => Ok(Cow::default()),
        }
    };
    let dwarf = DwarfSections::load(section).ok()?;
    Some(action(
        &dwarf.borrow(|data| EndianSlice::new(data, LittleEndian)),
    ))
}

/// The folders of the files from which the compiler took what the debug information describes, and
/// those in which it ran.
pub(super) fn folders(path: &Path) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    let data = fs::read(path).unwrap_or_default();
    if let Ok(file) = object::File::parse(&*data) {
        // Reading ends at a damaged entry. What was found until then is kept.
        read(&file, |dwarf| note_folders(dwarf, &mut folders).ok());
    }
    folders
}

fn note_folders<R: Reader>(
    dwarf: &Dwarf<R>,
    folders: &mut BTreeSet<PathBuf>,
) -> addr2line::gimli::Result<()> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let ran_in = match &unit.comp_dir {
            Some(name) => PathBuf::from(&*name.to_string_lossy()?),
            None => PathBuf::new(),
        };
        let program = unit.line_program.as_ref();
        let listed = program.map(|program| program.header().include_directories());
        for folder in listed.into_iter().flatten() {
            let name = dwarf.attr_string(&unit, folder.clone())?;
            folders.insert(ran_in.join(&*name.to_string_lossy()?));
        }
        folders.insert(ran_in);
    }
    Ok(())
}

/// The names that functions have in the source, by their symbols, where the two differ. Arguments
/// of templates are left out.
pub(super) fn names_in_source(path: &Path) -> HashMap<String, String> {
    let mut names = HashMap::new();
    let data = fs::read(path).unwrap_or_default();
    if let Ok(file) = object::File::parse(&*data) {
        // Reading ends at a damaged entry. What was found until then is kept.
        read(&file, |dwarf| note_names(dwarf, &mut names).ok());
    }
    names
}

fn note_names<R: Reader>(
    dwarf: &Dwarf<R>,
    names: &mut HashMap<String, String>,
) -> addr2line::gimli::Result<()> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        // Namespaces, classes and modules around an entry, with their depths.
        let mut scopes: Vec<(isize, String)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            let depth = entry.depth();
            scopes.retain(|(outer, _)| *outer < depth);
            let text = |attribute| text(dwarf, &unit, entry, attribute);
            let name = text(constants::DW_AT_name);
            match entry.tag() {
                constants::DW_TAG_namespace
                | constants::DW_TAG_class_type
                | constants::DW_TAG_structure_type
                | constants::DW_TAG_union_type
                | constants::DW_TAG_module => {
                    let name = name.unwrap_or_else(|| "(anonymous namespace)".to_owned());
                    scopes.push((depth, without_arguments(&name).to_owned()));
                }
                constants::DW_TAG_subprogram => {
                    let symbol = text(constants::DW_AT_linkage_name);
                    if let (Some(symbol), Some(name)) = (symbol, name) {
                        let mut parts: Vec<&str> =
                            scopes.iter().map(|(_, name)| name.as_str()).collect();
                        parts.push(without_arguments(&name));
                        names.entry(symbol).or_insert_with(|| parts.join("::"));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn text<R: Reader>(
    dwarf: &Dwarf<R>,
    unit: &Unit<R>,
    entry: &DebuggingInformationEntry<R>,
    attribute: constants::DwAt,
) -> Option<String> {
    let value: AttributeValue<R> = entry.attr_value(attribute)?;
    let text = dwarf.attr_string(unit, value).ok()?;
    Some(text.to_string_lossy().ok()?.into_owned())
}

/// A name without the arguments of its template.
pub(super) fn without_arguments(name: &str) -> &str {
    match name.starts_with("operator") {
        true => name,
        false => name.split('<').next().unwrap_or(name),
    }
}
