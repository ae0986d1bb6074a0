//! The compiler wrapper for Fortran: its name says so.

fn main() -> std::process::ExitCode {
    instrumenter::wrapper::main()
}
