//! A card keeps its times, its order and its contents.

mod collection;
mod common;
mod completion;
mod contents;
mod determinism;
mod durability;
mod energy;
mod explain;
mod health;
mod latency;
mod map_cache;
mod model_state;
mod reads_first;
mod slc_cache;
mod slow_medium;
mod thermal;
mod throughput;
