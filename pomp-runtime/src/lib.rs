//! The POMP measurement library: sources -> measure -> sinks.
