//! Regions whose constructs are looked for, and what becomes of a region whose construct is found.

use std::collections::HashMap;

use profile::descriptor::Descriptor;
use profile::model::{Code, Region};
use profile::region_kind::RegionKind;
use trace::layout::Meaning;

use super::module::Frame;

/// A region whose construct is looked for.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) region: usize,
    pub(super) code: Code,
    /// See [`Machine::instance`](super::machine::Machine::instance).
    pub(super) instance: u64,
    /// The functions at its address, innermost first.
    pub(super) frames: Vec<Frame>,
    /// Whether the compiler stated its place.
    pub(super) is_stated: bool,
    /// Whether its function was made from several equal ones, so that its construct is not certain.
    pub(super) is_shared: bool,
}

/// The function that asks for the thread's number.
pub(super) const ASKS_FOR_NUMBER: &str = "omp_get_thread_num";

/// A function of a module: its name, and what tells it from others with this name.
pub(super) type Function = (String, String, u64);

impl Wanted {
    /// The function of a frame at its address.
    pub(super) fn function(&self, frame: &Frame) -> Function {
        let (module, name) = (self.code.module.clone(), frame.function.clone());
        (module, name, self.instance)
    }
}

/// Functions made from the bodies of constructs. The value is the file and the number of the
/// construct.
pub(super) type Bodies = HashMap<Function, (String, usize)>;

/// Whether a region is a loop that only asks for the thread's number.
pub(super) fn is_head(region: &Region) -> bool {
    region.kind == RegionKind::Loop && region.code.is_some() && region.schedule.is_some()
}

/// The return address of a region's call, as measured.
pub(super) fn offset(region: &Region) -> u64 {
    region.code.as_ref().map_or(0, |code| code.offset)
}

/// Records that the worksharing of a combined construct is a part of that construct.
pub(super) fn note_part(kind: RegionKind, construct: &Descriptor, meaning: &mut Meaning) {
    let is_combined = construct.kind().is_some_and(RegionKind::is_parallel);
    if is_combined && matches!(kind, RegionKind::Loop | RegionKind::Sections) {
        *meaning = Meaning::PartOfItsParallel;
    }
}

/// Turns a region into that of a construct.
pub(super) fn set(region: &mut Region, construct: &Descriptor) {
    let end = construct.end_lines();
    let construct = construct.clone();
    let kind = construct.kind().unwrap_or(region.kind);
    (region.kind, region.region_type) = match (region.kind, kind) {
        (RegionKind::TaskExec | RegionKind::UntiedTaskExec, RegionKind::UntiedTask) => {
            (RegionKind::UntiedTaskExec, "taskuntiedexec".to_owned())
        }
        (RegionKind::TaskExec | RegionKind::UntiedTaskExec, _) => {
            (RegionKind::TaskExec, "taskexec".to_owned())
        }
        (RegionKind::Section, _) => (RegionKind::Section, "section".to_owned()),
        // A part of a construct that is one region in the source stays what it is.
        (part, RegionKind::Target | RegionKind::Teams | RegionKind::Atomic) if part != kind => {
            (part, region.region_type.clone())
        }
        _ => (kind, construct.region_type),
    };
    region.end = end;
    region.file = construct.begin.file;
    region.begin = [construct.begin.first, construct.begin.last];
    region.column = construct.column;
    region.name = construct.name;
    region.function = construct.function;
    region.directive = construct.directive;
    region.ordinal = construct.ordinal;
    region.schedule = construct.schedule;
    region.num_sections = construct.num_sections;
    region.code = None;
    region.near = false;
}
