//! Names critical sections by the names that the source gives them.

use addr2line::Loader;
use profile::model::{Profile, Region};
use profile::region_kind::RegionKind;

use super::align::UNNAMED;

/// Sets the name of a named critical section: it is the name of a variable that identifies the
/// section.
pub(super) fn name_critical(region: &mut Region, module: Option<&Loader>) {
    const PREFIX: &str = ".gomp_critical_user_";
    if region.kind != RegionKind::Critical {
        return;
    }
    let Some((_, offset)) = region
        .name
        .as_deref()
        .and_then(|name| name.rsplit_once("+0x"))
    else {
        return;
    };
    let offset = u64::from_str_radix(offset, 16).ok();
    let symbol = offset.and_then(|offset| module?.find_symbol(offset));
    region.name = match symbol {
        Some(symbol) => Some(symbol.strip_prefix(PREFIX).unwrap_or(symbol).to_owned()),
        None => region.name.take().map(|name| {
            let file = name.rsplit('/').next().unwrap_or_default();
            file.to_owned()
        }),
    };
}

/// Names critical sections of which the runtime gave only a number, by the construct of a place that
/// asks for them. Without a construct, the code of that place must do.
pub(super) fn name_guards(profile: &mut Profile) {
    let is_number = |name: &str| name.starts_with(UNNAMED);
    for guard in &mut profile.contention {
        let site = guard.sites.first().filter(|_| is_number(&guard.name));
        let Some(region) = site.and_then(|site| profile.regions.get(site.region)) else {
            continue;
        };
        guard.name = match &region.code {
            None => region.name.clone().unwrap_or_default(),
            Some(code) => {
                let file = code.module.rsplit('/').next().unwrap_or_default();
                format!("{file}+{:#x}", code.offset)
            }
        };
    }
    for region in &mut profile.regions {
        region.name = region.name.take().filter(|name| !is_number(name));
    }
}
