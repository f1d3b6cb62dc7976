//! `flashrig serve`: cards as block devices.

use crate::args::ServeArgs;
use crate::cancel;
use crate::error::Failure;
use crate::units::capacity;
use live::{Live, Start, Timing};
use media::{Flash, Physics};
use profile::Profile;
use serve::{Export, Limits, Security, Server, TlsFiles};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

pub fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    if !args.memory {
        return Err(Failure::NoBacking { card: args.cards[0].clone() });
    }
    let security = match (&args.tls_certificate, &args.tls_key) {
        (Some(certificate), Some(key)) => Security::from_files(&TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            client_authority: args.tls_client_authority.clone(),
        })?,
        _ => Security::Plain,
    };
    cancel::listen()?;
    let mut exports = Vec::new();
    for card in &args.cards {
        exports.push(in_memory(card, args)?);
    }
    let limits = Limits { connections: args.max_clients as usize, ..Limits::default() };
    let mut server = Server::start(exports.clone(), &args.nbd, security, limits)?;
    for export in &exports {
        eprintln!("flashrig: {}: {}, {}", export.name, export.description, capacity(export.live.size_bytes()));
    }
    for address in server.addresses() {
        eprintln!("flashrig: NBD at {address}");
    }
    while !cancel::asked() {
        std::thread::park_timeout(Duration::from_millis(200));
    }
    eprintln!("flashrig: ending: what is under way is answered, what is in a buffer is written");
    server.stop();
    drop(exports);
    Ok(ExitCode::SUCCESS)
}

/// A card whose bytes are gone when it ends.
fn in_memory(name: &str, args: &ServeArgs) -> Result<Export, Failure> {
    let mut profile = Profile::open(name)?;
    for setting in &args.settings {
        profile.set(setting)?;
    }
    let config = profile.with_contents(args.size.map(|size| size.0))?;
    let timing = if args.timing == "model" { Timing::Model } else { Timing::None };
    // Without its times a card's flash does not fade either.
    let physics = match timing {
        Timing::Model => profile.physics()?.unwrap_or(Physics::IDEAL),
        Timing::None => Physics::IDEAL,
    };
    let flash = Flash::new(card::shape(&config), physics, args.seed).without_trace();
    let start = Start { config, timing, id: Some(new_card_id()?), seed: args.seed };
    let live = Live::format(flash, start).map_err(|source| Failure::Live { card: name.into(), source })?;
    let name = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy().into_owned());
    Ok(Export { name, description: profile.title().into(), live: Arc::new(live), read_only: args.read_only })
}

/// A name that no other card has.
fn new_card_id() -> Result<format::CardId, Failure> {
    use std::io::Read;
    let mut id = [0; 16];
    let random = Path::new("/dev/urandom");
    std::fs::File::open(random)
        .and_then(|mut file| file.read_exact(&mut id))
        .map_err(|source| Failure::Unreadable { path: random.into(), source })?;
    Ok(format::CardId(id))
}
