//! The proof is only as good as the oracle: a correct card passes, and each wrong one is found out.

mod bugs;
mod cuts;
mod fake;
mod lives;
mod shrinking;
