//! Traces that are read and written.

mod samples;
mod written;
