//! The entries of OpenMP runtimes that hand out chunks of loops: the tables. They stand in front of
//! the runtime's own only where the user wants to see chunks, so they are in a library of their own
//! (`pomp-run-chunks`), which reads this file, too.

/// The entries of GCC's runtime that hand out the next chunk: `define!` gets the names.
#[macro_export]
macro_rules! for_gomp_requests {
    ($define:ident) => {
        $define! {
            GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
            GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next
            GOMP_loop_nonmonotonic_runtime_next GOMP_loop_maybe_nonmonotonic_runtime_next
            GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next
            GOMP_loop_ordered_guided_next GOMP_loop_ordered_runtime_next
            GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next
            GOMP_loop_ull_runtime_next
            GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
            GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next
            GOMP_loop_ull_ordered_static_next GOMP_loop_ull_ordered_dynamic_next
            GOMP_loop_ull_ordered_guided_next GOMP_loop_ull_ordered_runtime_next
        }
    };
}

/// The entries of LLVM's runtime that begin loops and hand out chunks: `define!` gets rows, each
/// with the entry, how its words are read, and the type of the loop variable.
#[macro_export]
macro_rules! for_llvm_chunks {
    ($define:ident) => {
        $define! {
            __kmpc_for_static_init_4: begins_static(i32);
            __kmpc_for_static_init_4u: begins_static(u32);
            __kmpc_for_static_init_8: begins_static(i64);
            __kmpc_for_static_init_8u: begins_static(u64);
            __kmpc_dispatch_init_4: begins_dispatch(i32);
            __kmpc_dispatch_init_4u: begins_dispatch(u32);
            __kmpc_dispatch_init_8: begins_dispatch(i64);
            __kmpc_dispatch_init_8u: begins_dispatch(u64);
            __kmpc_dispatch_next_4: request(i32);
            __kmpc_dispatch_next_4u: request(u32);
            __kmpc_dispatch_next_8: request(i64);
            __kmpc_dispatch_next_8u: request(u64);
        }
    };
}
