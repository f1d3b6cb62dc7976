//! The options of all commands that ask a modelled card.

use clap::{Args, ValueHint};

/// Options of a model, but for the card's name and the model's size.
#[derive(Debug, Args)]
pub struct ModelledArgs {
    /// Override a number of the card or the host: table.key=value; may be given again
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub settings: Vec<String>,
    /// The machine in front of the card: a built-in host or a TOML file
    #[arg(long, value_name = "HOST", default_value = "default", value_hint = ValueHint::FilePath)]
    pub host: String,
    /// Share of the host's data that compression takes away, on a card that compresses [default: as the host's file says]
    #[arg(long, value_name = "SHARE")]
    pub compressible: Option<String>,
    /// Root seed; the same seed gives the same figures
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl ModelledArgs {
    /// All settings of the card and the host.
    pub fn all_settings(&self) -> Vec<String> {
        let compressible = self.compressible.iter().map(|share| format!("host.compressible={share}"));
        self.settings.iter().cloned().chain(compressible).collect()
    }
}
