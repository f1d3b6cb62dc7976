//! A card becomes a disk of this machine, and is taken away again.

mod devices;
mod fuse;
