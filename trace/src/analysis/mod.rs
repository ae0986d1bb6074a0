//! What only a trace can tell: which iterations are expensive, who came last to a
//! barrier, who held what others waited for.

pub mod iterations;
pub mod waits;
