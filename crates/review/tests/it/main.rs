//! The method.

mod method;
