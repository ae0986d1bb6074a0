//! The compiler wrapper for C, also called under the names of compilers.

fn main() -> std::process::ExitCode {
    instrumenter::wrapper::main()
}
