//! Requests to a running card.

use super::values::{Bytes, ValueError};
use clap::{Args, Subcommand, ValueHint};
use live::{Change, Gc};
use profile::parse_bytes;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The options of `flashrig ctl`.
#[derive(Debug, Args)]
pub struct CtlArgs {
    /// The directory of a card, the path of its control socket, or its name
    #[arg(value_hint = ValueHint::AnyPath)]
    pub card: PathBuf,
    /// The request to the card
    #[command(subcommand)]
    pub what: CtlCommand,
    /// Print JSON in place of text
    #[arg(long, global = true)]
    pub json: bool,
}

/// The requests to a running card.
#[derive(Debug, Subcommand)]
pub enum CtlCommand {
    /// Print how it stands
    Status,
    /// Print its slots, and what is in them
    Modules,
    /// Pull a module, or put one in
    #[command(subcommand)]
    Module(ModuleCommand),
    /// Cut its power, or give it back
    #[command(subcommand)]
    Power(PowerCommand),
    /// Print its health, in the words of NVMe's log
    Smart,
    /// Print who reads and writes it, and under which names it can be asked
    Clients,
    /// Have it read all that it holds; status says how far it is
    Scrub,
    /// Declare a range unused: whole 4 KiB sectors of it read as zeroes
    Trim {
        /// First byte: 0, 64m, 1g
        offset: Bytes,
        /// Number of bytes
        length: Bytes,
    },
    /// Print which controller owns a shared card (flashrig serve --controller)
    Ownership,
    /// Have this controller own the shared card, whether its owner lives or not
    TakeOver,
    /// Have another controller own the shared card: what is under way is answered, and no host gets an error
    Release,
    /// Change how it works from now on: gc=paced, gc=stop-the-world, target_free_bands=N, rebuild_bytes_per_s=SIZE or
    /// none
    Set {
        /// Settings that are changed together or not at all
        #[arg(help = "What, and to what; all of it is changed or nothing", value_name = "KEY=VALUE", required = true)]
        settings: Vec<Setting>,
    },
}

/// The changes to a module.
#[derive(Debug, Subcommand)]
pub enum ModuleCommand {
    /// Take it out, with the card at work
    Pull {
        /// The slot that loses its module
        #[arg(help = "Its slot", value_name = "N")]
        slot: u32,
        /// Take it out also when more modules are missing then than parity stands for
        #[arg(long)]
        force: bool,
    },
    /// Put it back, or another one in its place
    Insert {
        /// The slot that gets a module
        #[arg(help = "The slot", value_name = "N")]
        slot: u32,
        /// The image of a module; of a card in files a file or a device
        #[arg(value_hint = ValueHint::FilePath)]
        path: Option<PathBuf>,
        /// A blank one; of a card in files with a new file's name, or a device
        #[arg(long)]
        new: bool,
        /// The contents of the device may be destroyed
        #[arg(help = "What lies on the device may be destroyed", long, requires_all = ["new", "path"])]
        destroy_data: bool,
    },
}

/// The changes to its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum PowerCommand {
    /// Cut it: what was not durable is lost
    Cut,
    /// Give it back: the card finds itself on its media
    On,
}

/// The options of `flashrig top`.
#[derive(Debug, Args)]
pub struct TopArgs {
    /// The directory of a card, the path of its control socket, or its name [default: the only one there is]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub card: Option<PathBuf>,
    /// Print one frame as text, and end
    #[arg(long)]
    pub once: bool,
    /// Time between two looks: 500ms, 2s
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Duration,
}

fn interval(text: &str) -> Result<Duration, ValueError> {
    let time = humantime::parse_duration(text.trim()).map_err(|_| ValueError::NotAnInterval)?;
    let range = Duration::from_millis(100)..=Duration::from_secs(60);
    if range.contains(&time) { Ok(time) } else { Err(ValueError::NotAnInterval) }
}

/// A setting and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Collection of garbage.
    Gc(Gc),
    /// Free bands that it works towards.
    TargetFreeBands(u32),
    /// Bytes that a rebuild may program in a second.
    RebuildRate(Option<u64>),
}

impl FromStr for Setting {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Setting, ValueError> {
        let (key, value) = text.split_once('=').ok_or(ValueError::NotASetting)?;
        match (key, value) {
            ("gc", "paced") => Ok(Setting::Gc(Gc::Paced)),
            ("gc", "stop-the-world") => Ok(Setting::Gc(Gc::StopTheWorld)),
            ("gc", _) => Err(ValueError::NotAGc),
            ("target_free_bands", _) => value.parse().map(Setting::TargetFreeBands).map_err(|_| ValueError::NotBands),
            ("rebuild_bytes_per_s", "none") => Ok(Setting::RebuildRate(None)),
            ("rebuild_bytes_per_s", _) => Ok(Setting::RebuildRate(Some(parse_bytes(value)?))),
            _ => Err(ValueError::NotASetting),
        }
    }
}

impl Setting {
    /// All of them together; of a key that is given twice the last counts.
    pub fn change(settings: &[Setting]) -> Change {
        settings.iter().fold(Change::default(), |change, setting| match *setting {
            Setting::Gc(gc) => Change { gc: Some(gc), ..change },
            Setting::TargetFreeBands(bands) => Change { target_free_bands: Some(bands), ..change },
            Setting::RebuildRate(rate) => Change { rebuild_bytes_per_s: Some(rate), ..change },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_a_key_and_a_value() {
        let all = ["gc=stop-the-world", "target_free_bands=4", "rebuild_bytes_per_s=100m"];
        let all: Vec<Setting> = all.iter().map(|text| text.parse().unwrap()).collect();
        let change = Setting::change(&all);
        assert_eq!(
            change,
            Change {
                gc: Some(Gc::StopTheWorld),
                target_free_bands: Some(4),
                rebuild_bytes_per_s: Some(Some(100 << 20)),
            }
        );
        assert_eq!("rebuild_bytes_per_s=none".parse(), Ok(Setting::RebuildRate(None)));
        for (text, error) in [
            ("gc", ValueError::NotASetting),
            ("speed=1", ValueError::NotASetting),
            ("gc=", ValueError::NotAGc),
            ("target_free_bands=-1", ValueError::NotBands),
        ] {
            assert_eq!(text.parse::<Setting>(), Err(error));
        }
        assert!("rebuild_bytes_per_s=fast".parse::<Setting>().is_err());
    }
}
