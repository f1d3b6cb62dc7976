//! The command as a person types it.

mod architecture;
mod common;
mod compare;
mod create_places;
mod ctl;
mod examples;
mod fit;
mod fsck;
mod generated;
mod interruption;
mod json;
mod lifetime;
mod page;
mod readme;
mod record;
mod refusals;
mod replay;
mod review_database;
mod review_database_card;
mod review_device;
mod review_file;
mod review_model;
mod serve_files;
mod stored_cards;
mod torture;
mod whatif;
