//! `flashrig ctl`: a running card is asked, or told, one thing.

use crate::args::{CtlArgs, CtlCommand, ModuleCommand, PowerCommand, Setting};
use crate::error::{Failure, StreamFailure};
use crate::module_places;
use crate::output::{pretty, print};
use crate::{units, view};
use control::{Client, Insert, OwnershipReply, Part, Pull, Range, find_socket};
use live::ModuleStatus;
use serde::Serialize;
use serde_json::{Value, json};
use serve::remote::ModuleAddress;
use std::path::PathBuf;
use std::process::ExitCode;

pub fn ctl(args: &CtlArgs) -> Result<ExitCode, Failure> {
    let client = Client::new(find_socket(Some(&args.card))?)?;
    let (value, text) = answer(&client, &args.what)?;
    print(&if args.json { pretty(&value) } else { text })?;
    Ok(ExitCode::SUCCESS)
}

/// The answer as JSON and as text.
fn answer(client: &Client, what: &CtlCommand) -> Result<(Value, String), Failure> {
    Ok(match what {
        CtlCommand::Status => {
            let shared = client.ownership()?;
            let of_controller = shared.ownership.as_ref().map(view::ownership);
            // A standby knows nothing of the card.
            if shared.ownership.as_ref().is_some_and(|ownership| ownership.part != Part::Owner) {
                return Ok((value(&shared), of_controller.unwrap_or_default()));
            }
            let (status, drives) = (client.status()?, client.drives()?);
            let text = view::status(&status) + &of_controller.unwrap_or_default() + &view::drives(&drives);
            let mut status = value(&status);
            status["drives"] = value(&drives);
            if let Some(ownership) = &shared.ownership {
                status["ownership"] = value(ownership);
            }
            (status, text)
        }
        CtlCommand::Ownership => ownership(&client.ownership()?),
        CtlCommand::TakeOver => ownership(&client.take_over()?),
        CtlCommand::Release => ownership(&client.release()?),
        CtlCommand::Modules => {
            let modules = client.modules()?;
            (json!({ "modules": modules }), view::modules(&modules))
        }
        CtlCommand::Module(ModuleCommand::Pull { slot, force }) => {
            let pulled = client.pull(*slot, Pull { force: *force })?;
            (value(&pulled), view::pulled(&pulled))
        }
        CtlCommand::Module(ModuleCommand::Insert { slot, path, new, destroy_data }) => {
            let absolute = |path: &PathBuf| match ModuleAddress::is_meant(path) {
                true => Ok(path.clone()),
                false => {
                    std::path::absolute(path).map_err(|source| StreamFailure::Unreadable { path: path.clone(), source })
                }
            };
            let path = path.as_ref().map(absolute).transpose()?;
            if let Some(path) = path.as_ref().filter(|_| *new) {
                module_places::may_be_new(path, *destroy_data)?;
            }
            module(client.insert(*slot, &Insert { new: *new, path })?)
        }
        CtlCommand::Power(PowerCommand::Cut) => (client.power_cut()?, "the power is cut\n".to_owned()),
        CtlCommand::Power(PowerCommand::On) => (client.power_on()?, "the power is back\n".to_owned()),
        CtlCommand::Smart => {
            let smart = client.smart()?;
            (value(&smart), view::smart(&smart))
        }
        CtlCommand::Clients => {
            let (exports, clients) = (client.exports()?, client.clients()?);
            let text = view::clients(&exports, &clients);
            (json!({ "exports": exports, "clients": clients }), text)
        }
        CtlCommand::Scrub => (client.scrub()?, "a scrub is under way\n".to_owned()),
        CtlCommand::Trim { offset, length } => {
            let trimmed = client.trim(Range { offset_bytes: offset.0, len_bytes: length.0 })?;
            let bytes = trimmed["trimmed_bytes"].as_u64().unwrap_or(0);
            let text = format!("trimmed: {} ({} bytes)\n", units::io_size(bytes), units::grouped(bytes));
            (trimmed, text)
        }
        CtlCommand::Set { settings } => {
            let settings = client.set(&Setting::change(settings))?;
            (value(&settings), view::settings(&settings))
        }
    })
}

fn ownership(reply: &OwnershipReply) -> (Value, String) {
    let text = match &reply.ownership {
        None => "the card is not shared: this server has it alone\n".to_owned(),
        Some(ownership) => view::ownership(ownership),
    };
    (value(reply), text)
}

fn module(module: ModuleStatus) -> (Value, String) {
    (value(&module), view::module(&module))
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("what the server says has text keys and finite numbers")
}
