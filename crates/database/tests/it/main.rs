//! The method on a real PostgreSQL and a real MariaDB, and its end.

mod common;
mod crash;
mod life;
mod mysql;
mod review;
