//! Lists of an enum's variants that are written by hand: each must have all of them, in order.

use syn::{Expr, ImplItem, Item, ItemEnum, ItemImpl, Type};

use super::sources::Source;

/// The constants named `ALL` that are not all variants of their enum.
pub(super) fn incomplete(source: &Source) -> Vec<String> {
    let items = &source.syntax.items;
    let enums = items.iter().filter_map(|item| match item {
        Item::Enum(found) => Some(found),
        _ => None,
    });
    let enums: Vec<&ItemEnum> = enums.collect();
    let blocks = items.iter().filter_map(|item| match item {
        Item::Impl(block) => Some(block),
        _ => None,
    });
    blocks
        .filter_map(|block| Some((listed(block)?, name_of(block)?)))
        .filter_map(|(listed, name)| {
            let of = enums.iter().find(|of| of.ident == name)?;
            let variants: Vec<String> = of.variants.iter().map(|v| v.ident.to_string()).collect();
            (listed != variants).then(|| {
                let path = &source.path;
                format!("{path}: {name}::ALL has {listed:?}, and the enum {variants:?}")
            })
        })
        .collect()
}

fn name_of(block: &ItemImpl) -> Option<String> {
    match &*block.self_ty {
        Type::Path(path) => Some(path.path.get_ident()?.to_string()),
        _ => None,
    }
}

/// The variants that the constant `ALL` of a block lists.
fn listed(block: &ItemImpl) -> Option<Vec<String>> {
    let all = block.items.iter().find_map(|item| match item {
        ImplItem::Const(found) if found.ident == "ALL" => Some(&found.expr),
        _ => None,
    })?;
    let Expr::Array(array) = all else { return None };
    let names = array.elems.iter().map(|element| match element {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    });
    names.collect()
}

/// How many lists there are: a check that finds none checks nothing.
pub(super) fn count(source: &Source) -> usize {
    let blocks = source.syntax.items.iter().filter_map(|item| match item {
        Item::Impl(block) => listed(block),
        _ => None,
    });
    blocks.count()
}
