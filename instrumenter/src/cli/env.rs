//! `romp env`
use super::Failure;
pub(super) fn run() -> Result<(), Failure> {
    Ok(())
}
