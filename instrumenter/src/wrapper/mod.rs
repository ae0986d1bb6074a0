//! `rompcc`: recognise the compiler, classify arguments, plan steps, run them.
