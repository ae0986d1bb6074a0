//! The compiler wrapper for C++: its name says so.

fn main() -> std::process::ExitCode {
    instrumenter::wrapper::main()
}
