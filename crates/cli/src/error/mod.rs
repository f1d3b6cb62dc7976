//! Failures of commands, each printed as one line. Every subject has a type of its own, and [`Failure`] holds them all.

mod campaign;
mod card;
mod compare;
mod control;
mod database;
mod device;
mod fit;
mod lifetime;
mod media;
mod review;
mod run;
mod serve;
mod shelf;
mod stream;
mod whatif;

pub use campaign::CampaignFailure;
pub use card::{CardFailure, DescriptionError, WayOut};
pub use compare::CompareFailure;
pub use control::ControlFailure;
pub use database::DatabaseFailure;
pub use device::DeviceFailure;
pub use fit::FitFailure;
pub use lifetime::LifetimeFailure;
pub use media::MediaFailure;
pub use review::ReviewFailure;
pub use run::RunFailure;
pub use serve::ServeFailure;
pub use shelf::ShelfFailure;
pub use stream::StreamFailure;
pub use whatif::WhatifFailure;

use ::review::{PointError, ValidateError};
use profile::ProfileError;
use thiserror::Error;

/// An option that this kind of target has no use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{option} has no effect on {what}")]
pub struct OptionWithout {
    pub option: &'static str,
    pub what: &'static str,
}

/// The reason why a command did not do what was asked.
#[derive(Debug, Error)]
#[error(transparent)]
pub enum Failure {
    Profile(#[from] ProfileError),
    OptionWithout(#[from] OptionWithout),
    Campaign(#[from] CampaignFailure),
    Card(#[from] CardFailure),
    Compare(#[from] CompareFailure),
    Control(#[from] ControlFailure),
    Database(#[from] DatabaseFailure),
    Device(#[from] DeviceFailure),
    Fit(#[from] FitFailure),
    Lifetime(#[from] LifetimeFailure),
    Media(#[from] MediaFailure),
    Review(#[from] ReviewFailure),
    Run(#[from] RunFailure),
    Serve(#[from] ServeFailure),
    Shelf(#[from] ShelfFailure),
    Stream(#[from] StreamFailure),
    Whatif(#[from] WhatifFailure),
}

/// Lets `?` lift the errors of other crates to the failure of their subject, and that to [`Failure`].
macro_rules! lifted {
    ($($subject:ident: $($source:ty),+;)+) => {
        $($(impl From<$source> for Failure {
            fn from(source: $source) -> Failure {
                Failure::$subject(source.into())
            }
        })+)+
    };
}

lifted! {
    Card: ::files::FilesError;
    Compare: ::import::ImportError;
    Control: ::control::ClientError, ::attach::AttachError;
    Database: ::database::DatabaseError, ::database::mounted::MountedError;
    Device: ::identify::IdentifyError, ::identify::Refusal, ::drive::DriveError;
    Fit: ::study::fit::FitError;
    Lifetime: ::study::lifetime::LifetimeError;
    Media: ::fsck::SourceError;
    Review: ::review::PlanError, ::review::PointError, ::review::ValidateError, ::study::datasheets::DatasheetError;
    Run: ::load::LoadError, ::load::trace::TraceError, ::target::RunError, ::drive::record::RecordError;
    Serve: ::serve::ServeError, ::serve::TlsError, ::control::ServeError, ::attach::fuse::FuseError;
    Whatif: ::study::whatif::Refusal;
}

impl Failure {
    /// It is no failure: the person asked to stop before there was anything to print.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Failure::Fit(FitFailure::Fit(error)) => error.is_cancelled(),
            Failure::Device(DeviceFailure::Drive(::drive::DriveError::Cancelled)) => true,
            Failure::Run(RunFailure::Run(target::RunError::Cancelled))
            | Failure::Database(DatabaseFailure::Database(::database::DatabaseError::Cancelled)) => true,
            Failure::Review(ReviewFailure::Point(error) | ReviewFailure::Validate(ValidateError::Point(error))) => {
                matches!(error, PointError::Run(target::RunError::Cancelled))
            }
            Failure::Review(ReviewFailure::Datasheet(error)) => error.is_cancelled(),
            _ => false,
        }
    }
}
