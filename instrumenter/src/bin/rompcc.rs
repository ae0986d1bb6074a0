//! The compiler wrapper alone: `rompcc`, and by links `rompcxx`, `rompfc` and the names of
//! compilers. A build starts it for each of its commands, so it is linked statically where that
//! is possible (`packaging/build`). `romp` can't be linked statically.

fn main() -> std::process::ExitCode {
    instrumenter::wrapper::main()
}
