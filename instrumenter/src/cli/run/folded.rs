//! Functions of which a linker kept only one, since they were equal (`--icf`). It may drop the names
//! of the others, but keeps the lines of all: they then begin at the same address.

use std::collections::{BTreeMap, BTreeSet};

use addr2line::gimli::{Dwarf, Reader};

use super::dwarf;

/// A file's name and a line. Copies of an inline function, from several units, have the same.
type Place = (Vec<u8>, u64);

/// The begins of functions that come from several places in the source.
pub(super) fn begins(file: &object::File<'_>) -> BTreeSet<u64> {
    let mut places = BTreeMap::new();
    // Reading ends at a damaged entry. What was found until then is kept.
    dwarf::read(file, |dwarf| note_places(dwarf, &mut places).ok());
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    several.map(|(begin, _)| begin).collect()
}

/// Notes the place of the first line of each part of the code that a linker handles by itself.
fn note_places<R: Reader>(
    dwarf: &Dwarf<R>,
    places: &mut BTreeMap<u64, BTreeSet<Place>>,
) -> addr2line::gimli::Result<()> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else {
            continue;
        };
        let mut is_first = true;
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            if is_first && let (Some(file), Some(line)) = (row.file(header), row.line()) {
                let name = dwarf.attr_string(&unit, file.path_name())?;
                let place = (name.to_slice()?.into_owned(), line.get());
                places.entry(row.address()).or_default().insert(place);
            }
            is_first = row.end_sequence();
        }
    }
    Ok(())
}
