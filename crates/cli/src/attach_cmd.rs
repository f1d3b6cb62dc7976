//! `flashrig attach` and `flashrig detach`: a card as a disk of this machine.

use crate::args::{AttachArgs, DetachArgs};
use crate::card_dir;
use crate::error::{ControlFailure, Failure, OptionWithout};
use crate::output::{pretty, print, print_error};
use crate::table::{Align, Table, wrap};
use crate::units::capacity;
use attach::{AttachError, Attached, Kind, Made, Records, Source, State};
use control::{Client, ClientError, Export};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn attach(args: &AttachArgs) -> Result<ExitCode, Failure> {
    let records = Records::default();
    let Some(source) = &args.source else {
        let all = attach::list(&records);
        print(&if args.json { pretty(&value(&all)) } else { listed(&all) })?;
        return Ok(ExitCode::SUCCESS);
    };
    // All that is said goes to standard error, so that a script gets nothing but the device.
    let made = match card_named(source) {
        Some(socket) => of_card(&Client::new(socket)?, source, args, &records)?,
        None if args.volume.is_some() => {
            return Err(OptionWithout { option: "--volume", what: "what is no served card" }.into());
        }
        None => {
            let source = Source::parse(source).map_err(AttachError::from)?;
            attach::attach(&source, args.read_only, &records, print_error)?
        }
    };
    print(&if args.json { pretty(&value(&made)) } else { format!("{}\n", made.device.display()) })?;
    Ok(ExitCode::SUCCESS)
}

/// The control socket of a card that is named by its folder, or by the name that it is served under.
fn card_named(named: &str) -> Option<PathBuf> {
    let path = Path::new(named);
    let is_name = !named.contains('/') && !path.exists() && control::default_socket(named).exists();
    (is_name || card_dir::is_card(path)).then(|| control::find_socket(Some(path)).ok()).flatten()
}

/// Takes the best way to a served card, and says which, and why no better one.
fn of_card(client: &Client, named: &str, args: &AttachArgs, records: &Records) -> Result<Made, Failure> {
    let exports = client.exports().map_err(|error| match error {
        ClientError::NoServer { .. } => Failure::from(ControlFailure::NotServed { card: named.into() }),
        other => other.into(),
    })?;
    let export = chosen(&exports, args.volume.as_deref(), named)?;
    let mut why_not = Vec::new();
    match ublk_disk(export, args.read_only) {
        Ok(device) => {
            print_error(&format!("ublk: {named} is {}, which its server has made", device.display()));
            let command = format!("flashrig serve {named} --ublk");
            return Ok(Made { device, kind: Kind::Ublk, on: named.into(), command });
        }
        Err(why) => why_not.push(format!("no ublk: {why}")),
    }
    let mut failed = None;
    match nbd_source(export) {
        None => why_not.push("no NBD: the server was started without --nbd".into()),
        Some(source) => {
            print_error(&format!("taking NBD; {}", why_not.join("; ")));
            let source = Source::parse(&source).map_err(AttachError::from)?;
            match attach::attach(&source, args.read_only, records, print_error) {
                Ok(made) => return Ok(made),
                Err(error) => {
                    why_not.push(format!("no NBD: {error}"));
                    failed = Some(error);
                }
            }
        }
    }
    match attach::mounted_as(&export.name) {
        Some(mount) => {
            print_error(&format!("taking FUSE and a loop device; {}", why_not.join("; ")));
            let source = Source::parse(&mount.display().to_string()).map_err(AttachError::from)?;
            Ok(attach::attach(&source, args.read_only, records, print_error)?)
        }
        None => Err(match failed {
            Some(error) => error.into(),
            None => ControlFailure::NoWay { card: named.into(), why: why_not.join("; ").as_str().into() }.into(),
        }),
    }
}

/// The export that is meant.
fn chosen<'a>(exports: &'a [Export], volume: Option<&str>, card: &str) -> Result<&'a Export, ControlFailure> {
    let names = || exports.iter().map(|export| export.name.as_str()).collect::<Vec<_>>().join(", ");
    match (exports, volume) {
        ([one], None) => Ok(one),
        ([], None) => Err(ControlFailure::NoVolumes { card: card.into() }),
        (_, None) => Err(ControlFailure::WhichVolume { card: card.into(), names: names().as_str().into() }),
        (_, Some(name)) => exports.iter().find(|export| export.name == name).ok_or_else(|| {
            ControlFailure::UnknownVolume { volume: name.into(), card: card.into(), names: names().as_str().into() }
        }),
    }
}

/// The disk that the server has made, or the reason why there is none to be taken.
fn ublk_disk(export: &Export, read_only: bool) -> Result<PathBuf, String> {
    match export.addresses.iter().find(|address| address.starts_with("/dev/ublkb")) {
        Some(_) if read_only && !export.read_only => Err("the server's disk can be written".into()),
        Some(device) => Ok(device.into()),
        None => Err(match attach::ublk::missing() {
            Some(missing) => missing.to_string(),
            None => "the server was started without --ublk, or its disk was detached".into(),
        }),
    }
}

/// The first address for NBD, as [`Source::parse`] reads it.
fn nbd_source(export: &Export) -> Option<String> {
    export.addresses.iter().find_map(|address| match address.strip_prefix("unix:") {
        Some(socket) => Some(format!("nbd:unix:{socket}:exportname={}", export.name)),
        None if address.starts_with('/') || address.contains("://") => None,
        None => Some(format!("nbd://{address}/{}", export.name)),
    })
}

pub fn detach(args: &DetachArgs) -> Result<ExitCode, Failure> {
    let records = Records::default();
    let (undone, mut errors) = match &args.target {
        Some(target) if args.give_up => (attach::give_up(target, &records)?, Vec::new()),
        Some(target) => (attach::detach(target, &records)?, Vec::new()),
        None => attach::detach_all(&records)?,
    };
    if args.json {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        print(&pretty(&json!({
            "detached": undone.detached,
            "unmounted": undone.unmounted,
            "errors": errors,
        })))?;
    } else {
        let detached = undone.detached.iter().map(|device| format!("detached {}\n", device.display()));
        let unmounted = undone.unmounted.iter().map(|mount| format!("unmounted {}\n", mount.display()));
        let lines: String = detached.chain(unmounted).collect();
        let nothing = lines.is_empty() && errors.is_empty();
        print(if nothing { "nothing is attached\n" } else { &lines })?;
    }
    match errors.pop() {
        None => Ok(ExitCode::SUCCESS),
        Some(last) => {
            errors.iter().for_each(|error| print_error(&format!("error: {error}")));
            Err(last.into())
        }
    }
}

fn listed(all: &[Attached]) -> String {
    if all.is_empty() {
        return "nothing is attached\n".into();
    }
    let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row(["device", "kind", "size", "state", "on"]);
    for attached in all {
        let kind = match attached.kind {
            Kind::Loop => "loop",
            Kind::Nbd => "nbd",
            Kind::Ublk => "ublk",
        };
        let state = match attached.state {
            State::Free => "free",
            State::InUse => "in use",
            State::Dead => "server gone",
            State::Waiting => "waits for its server",
        };
        let device = attached.device.display().to_string();
        table.row([device, kind.into(), capacity(attached.size_bytes), state.into(), attached.on.clone()]);
    }
    let mut text = table.render();
    for user in all.iter().flat_map(|attached| &attached.users) {
        text.push_str(&wrap("    ", 4, user));
    }
    text
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("text keys and finite numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(name: &str, addresses: &[&str]) -> Export {
        let addresses = addresses.iter().map(|address| (*address).to_owned()).collect();
        Export { name: name.into(), size_bytes: 1 << 20, read_only: false, addresses }
    }

    #[test]
    fn the_servers_own_disk_is_taken_unless_it_can_be_written_and_must_not() {
        let both = export("card", &["/dev/ublkb3", "unix:/run/s", "nvme+tcp://127.0.0.1:4420"]);
        assert_eq!(ublk_disk(&both, false), Ok("/dev/ublkb3".into()));
        assert!(ublk_disk(&both, true).unwrap_err().contains("can be written"));
        assert_eq!(ublk_disk(&Export { read_only: true, ..both.clone() }, true), Ok("/dev/ublkb3".into()));
        assert!(ublk_disk(&export("card", &["unix:/run/s"]), false).is_err());
        assert_eq!(nbd_source(&both), Some("nbd:unix:/run/s:exportname=card".into()));
        assert_eq!(nbd_source(&export("log", &["[::1]:10809"])), Some("nbd://[::1]:10809/log".into()));
        assert_eq!(nbd_source(&export("log", &["/dev/ublkb3", "nvme+tcp://127.0.0.1:4420"])), None);
    }

    #[test]
    fn a_volume_is_named_where_there_are_several() {
        let two = [export("data", &[]), export("log", &[])];
        assert_eq!(chosen(&two[..1], None, "card").unwrap().name, "data");
        assert_eq!(chosen(&two, Some("log"), "card").unwrap().name, "log");
        let said = [chosen(&two, None, "card"), chosen(&two, Some("x"), "card"), chosen(&[], None, "card")]
            .map(|refused| refused.unwrap_err().to_string());
        assert!(said[0].contains("--volume") && said[0].contains("data, log"), "{said:?}");
        assert!(said[1].contains("no volume x") && said[1].contains("data, log"), "{said:?}");
        assert!(said[2].contains("flashrig volume create"), "{said:?}");
    }
}
