//! What only a trace can tell: which iterations are expensive, when iterations and tasks
//! really ran, who came last to a barrier, who held what others waited for.

mod cell;
pub mod iterations;
pub mod periods;
pub mod times;
pub mod waits;
