//! Results of other tools, and of Flashrig itself.

mod any_bytes;
mod fio;
mod flashrig;
mod full;
mod logs;
mod real_fio;
mod schema;
