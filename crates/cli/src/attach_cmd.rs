//! `flashrig attach` and `flashrig detach`: a card as a disk of this machine.

use crate::args::{AttachArgs, DetachArgs};
use crate::error::Failure;
use crate::output::{pretty, print, print_error};
use crate::table::{Align, Table, wrap};
use crate::units::capacity;
use attach::{AttachError, Attached, Kind, Records, Source, State};
use serde::Serialize;
use serde_json::{Value, json};
use std::process::ExitCode;

pub fn attach(args: &AttachArgs) -> Result<ExitCode, Failure> {
    let records = Records::default();
    let Some(source) = &args.source else {
        let all = attach::list(&records);
        print(&if args.json { pretty(&value(&all)) } else { listed(&all) })?;
        return Ok(ExitCode::SUCCESS);
    };
    let source = Source::parse(source).map_err(AttachError::from)?;
    // The command goes to standard error, so that a script gets nothing but the device.
    let made = attach::attach(&source, args.read_only, &records, print_error)?;
    print(&if args.json { pretty(&value(&made)) } else { format!("{}\n", made.device.display()) })?;
    Ok(ExitCode::SUCCESS)
}

pub fn detach(args: &DetachArgs) -> Result<ExitCode, Failure> {
    let records = Records::default();
    let (undone, mut errors) = match &args.target {
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
        };
        let state = match attached.state {
            State::Free => "free",
            State::InUse => "in use",
            State::Dead => "server gone",
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
