//! Harness of the end-to-end tests: finds compilers, builds fixtures, compares runs.
