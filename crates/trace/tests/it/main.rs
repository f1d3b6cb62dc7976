//! Traces that are read, written and recorded.

mod recording;
mod samples;
mod written;
