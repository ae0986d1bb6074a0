//! The entries of OpenMP runtimes that hand out chunks of loops: the tables. They stand in front of the
//! runtime's own (`pomp-run`).

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

/// The entries of LLVM's runtime that hand out the next chunk: `define!` gets rows, each with the entry and the
/// type of the loop variable.
#[macro_export]
macro_rules! for_llvm_requests {
    ($define:ident) => {
        $define! {
            __kmpc_dispatch_next_4(i32) __kmpc_dispatch_next_4u(u32)
            __kmpc_dispatch_next_8(i64) __kmpc_dispatch_next_8u(u64)
        }
    };
}
