//! `flashrig volume`: a card is divided into volumes, whether it is served or not.

use crate::args::{VolumeArgs, VolumeCommand};
use crate::card_dir::{self, CardDir, new_card_id};
use crate::error::{CardFailure, Failure};
use crate::output::{pretty, print};
use crate::view;
use control::{Client, ClientError, Grow, NewVolume, Volumes, find_socket};
use live::{Live, Start, VolumeChange};
use std::path::Path;
use std::process::ExitCode;

pub fn volume(args: &VolumeArgs) -> Result<ExitCode, Failure> {
    let (VolumeCommand::List { card }
    | VolumeCommand::Create { card, .. }
    | VolumeCommand::Grow { card, .. }
    | VolumeCommand::Delete { card, .. }) = &args.what;
    let volumes = match server(card)? {
        Some(client) => of_served(&client, card, &args.what)?,
        None => of_files(card, &args.what)?,
    };
    let value = || serde_json::to_value(&volumes).expect("the keys are text");
    let text = if args.json { pretty(&value()) } else { view::volumes(&volumes) };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The server of a card; `None`: the folder's card is not served.
fn server(card: &Path) -> Result<Option<Client>, Failure> {
    if !card_dir::is_card(card) {
        return Ok(Some(Client::new(find_socket(Some(card))?)?));
    }
    let client = Client::new(card.join(control::SOCKET_IN_DIR))?;
    match client.status() {
        // A server that was killed leaves its socket.
        Err(ClientError::NoServer { .. }) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(Some(client)),
    }
}

fn of_served(client: &Client, card: &Path, what: &VolumeCommand) -> Result<Volumes, Failure> {
    let volumes = client.volumes().map_err(|error| match error {
        // It would be so also after a wait.
        ClientError::Refused { .. } => Failure::from(CardFailure::ServedWhole { dir: card.into() }),
        error => error.into(),
    })?;
    Ok(match what {
        VolumeCommand::List { .. } => volumes,
        VolumeCommand::Create { name, size, .. } => {
            client.create_volume(&NewVolume { name: name.clone(), size_bytes: size.0 })?
        }
        VolumeCommand::Grow { name, size, .. } => {
            is_there(card, &volumes, name)?;
            client.grow_volume(name, Grow { size_bytes: size.0 })?
        }
        VolumeCommand::Delete { name, destroy_data, .. } => {
            may_be_deleted(card, &volumes, name, *destroy_data)?;
            client.delete_volume(name)?
        }
    })
}

/// Starts the card, and ends it in order.
fn of_files(dir: &Path, what: &VolumeCommand) -> Result<Volumes, Failure> {
    let mut card = CardDir::open(dir)?;
    let creates = matches!(what, VolumeCommand::Create { .. });
    if !card.has_volumes && !creates {
        return Err(CardFailure::NoVolumes { dir: dir.into() }.into());
    }
    let start: Start = card.start(1);
    let id = start.id.expect("a card in a folder has a name");
    let mut live = card.run(start, true, &[], |note| eprintln!("flashrig: {}: {note}", dir.display()))?;
    if !card.has_volumes {
        divide(&mut card, &mut live, id)?;
    }
    let failed = |source: VolumeChange| CardFailure::Volumes { dir: dir.into(), source };
    let before: Volumes = live.volumes().expect("it is divided").into();
    match what {
        VolumeCommand::List { .. } => {}
        VolumeCommand::Create { name, size, .. } => {
            live.create_volume(name, size.0, new_card_id()?.0).map_err(failed)?;
        }
        VolumeCommand::Grow { name, size, .. } => {
            is_there(dir, &before, name)?;
            live.grow_volume(name, size.0).map_err(failed)?;
        }
        VolumeCommand::Delete { name, destroy_data, .. } => {
            may_be_deleted(dir, &before, name, *destroy_data)?;
            live.delete_volume(name).map_err(failed)?;
        }
    }
    let after = live.volumes().expect("it is divided").into();
    live.shut_down();
    Ok(after)
}

/// Divides a card that holds nothing: first on the card, then in its description, so that a cut between leaves a card that
/// is divided again.
fn divide(card: &mut CardDir, live: &mut Live, id: format::CardId) -> Result<(), Failure> {
    let failed = |source: live::VolumeError| CardFailure::Volumes { dir: card.dir.clone(), source: source.into() };
    if !live.is_empty() {
        // A table without a volume is what a cut has left.
        let is_a_table = live.load_volumes(id).is_ok() && live.volumes().is_some_and(|all| all.volumes.is_empty());
        if !is_a_table {
            return Err(CardFailure::NotEmpty { dir: card.dir.clone() }.into());
        }
    } else {
        live.format_volumes(id).map_err(failed)?;
    }
    card.divide()
}

fn is_there<'v>(dir: &Path, volumes: &'v Volumes, name: &str) -> Result<&'v control::Volume, Failure> {
    let known = || volumes.volumes.iter().map(|volume| volume.name.as_str().into()).collect();
    let found = volumes.volumes.iter().find(|volume| volume.name == name);
    found.ok_or_else(|| {
        let source = live::VolumeError::Unknown { name: name.into(), known: known() }.into();
        CardFailure::Volumes { dir: dir.into(), source }.into()
    })
}

fn may_be_deleted(dir: &Path, volumes: &Volumes, name: &str, destroy_data: bool) -> Result<(), Failure> {
    let volume = is_there(dir, volumes, name)?;
    match volume.allocated_bytes {
        allocated_bytes if allocated_bytes > 0 && !destroy_data => {
            Err(CardFailure::VolumeHoldsData { name: name.into(), allocated_bytes }.into())
        }
        _ => Ok(()),
    }
}
