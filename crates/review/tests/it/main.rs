//! The method of a review, on models and on files.

mod method;
