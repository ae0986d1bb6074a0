//! Checks whether the results of the analyses of saved profiles are consistent:
//! `cargo run -p profile --example contradictions -- FILE...`

#[path = "../tests/sums/mod.rs"]
mod sums;

use profile::analysis::Report;
use profile::load::load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args_os().skip(1) {
        let profile = load(file.as_ref())?;
        for contradiction in sums::contradictions(&Report::new(&profile)) {
            println!("{}: {contradiction}", file.display());
        }
    }
    Ok(())
}
