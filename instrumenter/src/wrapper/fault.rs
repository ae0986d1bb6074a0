//! Injected faults of the instrumenter: in test builds, `ROMP_FAULT` names a fault, so that
//! tests can check that real builds survive it. Release builds ignore the variable.

use crate::wrapper::instrumenting::Instrument;

/// The instrumenter, or a broken one.
pub(crate) fn instrumenter() -> Instrument {
    #[cfg(debug_assertions)]
    if let Some(broken) = injected::chosen() {
        return broken;
    }
    crate::instrument
}

#[cfg(debug_assertions)]
mod injected {
    use super::Instrument;
    use crate::{Instrumented, Options, Source};

    /// The faults by name.
    const FAULTS: &[(&str, Instrument)] = &[
        ("text", text),
        ("panic", panic),
        ("link", link),
        ("all", all),
    ];

    pub(super) fn chosen() -> Option<Instrument> {
        let name = std::env::var("ROMP_FAULT").ok()?;
        let row = FAULTS.iter().find(|(known, _)| *known == name)?;
        Some(row.1)
    }

    /// Adds text that compilers reject, wherever something is instrumented.
    fn text(source: &Source, options: &Options) -> Instrumented {
        with(source, options, "\n} this is no source {\n")
    }

    /// Adds text that compilers accept and linkers reject.
    fn link(source: &Source, options: &Options) -> Instrumented {
        let caller = "void *romp_fault(void); static void *(*volatile romp_called)(void) \
                      __attribute__((__used__)) = romp_fault;";
        with(source, options, &format!("\n{caller}\n"))
    }

    /// Simulates a defect that shows as a panic.
    fn panic(_: &Source, _: &Options) -> Instrumented {
        // The usual panic report would be a second message.
        std::panic::resume_unwind(Box::new("injected"))
    }

    /// Drops the end of every source.
    fn all(source: &Source, options: &Options) -> Instrumented {
        let mut made = crate::instrument(source, options);
        made.applied.text.truncate(made.text().len() / 2);
        made.applied.text.extend(b"\n\"");
        made
    }

    fn with(source: &Source, options: &Options, more: &str) -> Instrumented {
        let mut made = crate::instrument(source, options);
        if made.text() != source.text {
            made.applied.text.extend(more.as_bytes());
        }
        made
    }
}
