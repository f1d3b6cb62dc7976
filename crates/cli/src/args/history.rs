//! The options of `flashrig history`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The options of `flashrig history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Folders of reviews, or reviews (NAME.json)
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    pub places: Vec<PathBuf>,
    /// Write the page here [default: no page, only tables]
    #[arg(long, short = 'o', value_name = "PAGE.html", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Write a summary as Markdown; - for standard output
    #[arg(long, value_name = "FILE.md", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Write a picture of the one device that there is
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub svg: Option<PathBuf>,
    /// Write the same picture as PNG
    #[arg(long, value_name = "FILE.png", value_hint = ValueHint::FilePath)]
    pub png: Option<PathBuf>,
    /// All figures, not only the most telling
    #[arg(long)]
    pub all: bool,
    /// Print JSON in place of tables
    #[arg(long)]
    pub json: bool,
}
