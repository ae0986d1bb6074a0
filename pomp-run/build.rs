//! Makes the library show its own names only, and call the runtime that the program calls instead
//! of one that it is linked with.

fn main() {
    // A routine that is an entry of our own must not be among them: programs would get this one.
    let asked = ["get_level", "get_team_size", "get_num_procs"];
    println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libromp_run.so");
    for name in asked {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym=omp_{name}=romp_run_{name}");
    }
    // Tools look for this one of the library's own names, and find our function.
    let collector = "__omp_collector_api=romp_run_collector_api";
    println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym={collector}");
}
