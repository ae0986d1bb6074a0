//! Has the library show its own names only, and ask the runtime that the program calls
//! instead of one that it is linked with.

fn main() {
    let asked = ["get_level", "get_num_threads", "get_team_size"];
    println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libromp_run.so");
    for name in asked {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym=omp_{name}=romp_run_{name}");
    }
    // Of the library's own names tools look for this one, and find ours.
    let collector = "__omp_collector_api=romp_run_collector_api";
    println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym={collector}");
}
