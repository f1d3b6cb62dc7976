//! Cards that are served: their exports, and those who may ask how they stand.

use crate::args::ServeArgs;
use crate::error::{Failure, ServeFailure};
use crate::nvme_secrets;
use crate::ublk_disks::UblkDisks;
use crate::units::capacity;
use crate::view;
use control::{
    Access, Connection, ControlServer, Controller, Frontend, Frontends, MetricsServer, Served, WebAddress, WebServer,
};
use live::{Live, Timing, VolumeStatus};
use serve::{Address, Backing, Export, Limits, Protocol, Security, Server, Services, TlsFiles};
use std::path::PathBuf;
use std::sync::Arc;

/// The doors of a server: to clients of cards, to operators, to those who look.
pub struct Doors {
    /// The addresses for clients.
    pub services: Services,
    /// TLS for NBD clients.
    pub security: Security,
    /// The resources that clients may use up.
    pub limits: Limits,
    /// The users who may be operators.
    pub access: Access,
    /// The address of the live view.
    pub web: Option<WebAddress>,
}

impl Doors {
    /// The doors that the options of a command ask for.
    pub fn of(args: &ServeArgs) -> Result<Doors, Failure> {
        let security = match (&args.tls_certificate, &args.tls_key) {
            (Some(certificate), Some(key)) => Security::from_files(&TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
                client_authority: args.tls_client_authority.clone(),
            })?,
            _ => Security::Plain,
        };
        let access = match &args.control_group {
            None => Access::Owner,
            Some(group) => Access::Group(
                control::group(group).map_err(|source| ServeFailure::Group { group: group.as_str().into(), source })?,
            ),
        };
        let web = args.web.as_ref().map(|address| WebAddress::new(address, args.web_insecure)).transpose()?;
        let usual = Limits::default();
        let memory_bytes = args.client_memory.map_or(usual.memory_bytes, |bytes| bytes.0);
        let limits = Limits { connections: args.max_clients as usize, memory_bytes, ..usual };
        let secrets = nvme_secrets::of_server(args.nvme_secret.as_ref(), args.nvme_controller_secret.as_ref())?;
        let (nbd, nvme, insecure) = (args.nbd.clone(), args.nvme.clone(), args.insecure);
        let services = Services { nbd, nvme, secrets, insecure, ..Services::default() };
        Ok(Doors { services, security, limits, access, web })
    }
}

/// Says where clients find the exports.
pub fn tell_addresses(server: &Server, exports: &[Export]) {
    for address in server.addresses(Protocol::Nbd) {
        eprintln!("flashrig: NBD at {address}");
    }
    for address in server.addresses(Protocol::Nvme) {
        eprintln!("flashrig: NVMe at {address}");
        for (export, nqn) in exports.iter().zip(server.subsystems()) {
            eprintln!("flashrig: {}: {nqn}", export.name);
        }
    }
}

/// A card that runs.
pub struct Running {
    /// The whole card; one that is divided exports its volumes in its place.
    pub export: Export,
    /// The card itself.
    pub live: Arc<Live>,
    /// Name of its profile.
    pub card: String,
    /// Path of its control socket, unless another place was named; disks have nothing to be controlled.
    pub socket: Option<PathBuf>,
    /// The controller that this server is of a card that others serve as well.
    pub controller: Option<Arc<dyn Controller>>,
}

impl Running {
    /// The card, or its volumes.
    pub fn exports(&self) -> Vec<Export> {
        exports_of(&self.export, &self.live)
    }
}

/// The card itself, or its volumes.
fn exports_of(card: &Export, live: &Arc<Live>) -> Vec<Export> {
    let Some(volumes) = live.volumes() else { return vec![card.clone()] };
    let of_volume = |volume: VolumeStatus| Export {
        description: format!("{}, a volume of {}", card.description, card.name),
        id: volume.uuid,
        reservations: card.reservations.as_ref().map(|path| path.with_extension(format!("volume-{}", volume.id))),
        backing: Backing::Card { live: Arc::clone(live), volume: Some(volume.id) },
        name: volume.name,
        ..card.clone()
    };
    volumes.volumes.into_iter().map(of_volume).collect()
}

/// Says which volumes a card is divided into.
pub fn tell_volumes(card: &str, live: &Live) {
    let Some(volumes) = live.volumes() else { return };
    for volume in &volumes.volumes {
        let (size, allocated) = (capacity(volume.size_bytes), capacity(volume.allocated_bytes));
        eprintln!("flashrig: {card}: volume {}, {size}, {allocated} of it on the card", volume.name);
    }
    if volumes.volumes.is_empty() {
        eprintln!("flashrig: {card}: no volumes yet: flashrig volume create makes one");
    }
}

/// Says what the start of a card has cost, when it is over; `false`: it is not yet.
pub fn tells_start(Running { export, live, .. }: &Running) -> bool {
    match live.status().start {
        Some(start) if !start.is_over() => return false,
        Some(start) => eprintln!("flashrig: {}: start: {}", export.name, view::start_line(&start)),
        None => {}
    }
    true
}

/// Says that a card has stopped, and the remedy; `false`: it goes on.
pub fn tells_stop(Running { export, live, .. }: &Running) -> bool {
    let has_stopped = live.has_stopped();
    if has_stopped {
        eprintln!(
            "flashrig: {}: the card has stopped: more is gone than parity stands for; serve it again when enough of its \
             modules answer",
            export.name
        );
    }
    has_stopped
}

/// The clients of the server, for the control plane.
struct Clients {
    server: std::sync::Weak<Server>,
    disks: Arc<UblkDisks>,
    /// The card that the control plane is of.
    card: (Export, Arc<Live>),
    /// The other cards of the server.
    others: Vec<(Export, Arc<Live>)>,
    addresses: Vec<String>,
}

impl Frontends for Clients {
    fn is_taken(&self, name: &str) -> bool {
        self.others.iter().flat_map(|(card, live)| exports_of(card, live)).any(|export| export.name == name)
    }

    fn volumes_changed(&self) {
        let Some(server) = self.server.upgrade() else { return };
        let cards = self.others.iter().chain([&self.card]);
        let exports: Vec<Export> = cards.flat_map(|(card, live)| exports_of(card, live)).collect();
        self.disks.follow(&exports);
        if let Err(error) = server.set_exports(exports) {
            tracing::error!(card = self.card.0.name, %error, "the volumes have changed, and the exports can't");
        }
    }

    fn status(&self) -> Frontend {
        let server = self.server.upgrade();
        let turned_away = server.as_ref().map_or(0, |server| server.turned_away());
        let clients = server.map(|server| server.clients()).unwrap_or_default();
        let (card, live) = &self.card;
        let exports = exports_of(card, live);
        let is_mine = |name: &String| exports.iter().any(|export| export.name == *name);
        let mine = clients.into_iter().filter(|client| client.export.as_ref().is_none_or(is_mine));
        let described = |export: &Export| control::Export {
            name: export.name.clone(),
            size_bytes: export.size_bytes(),
            read_only: export.read_only,
            addresses: self.disks.address(&export.name).into_iter().chain(self.addresses.clone()).collect(),
        };
        Frontend {
            turned_away,
            exports: exports.iter().map(described).collect(),
            clients: mine
                .map(|client| Connection {
                    number: client.number,
                    protocol: client.protocol.name().into(),
                    peer: client.peer,
                    export: client.export,
                    tls: client.tls,
                    connected_seconds: client.connected_seconds,
                    requests: client.requests,
                    in_flight: client.in_flight,
                    read_bytes: client.read_bytes,
                    written_bytes: client.written_bytes,
                })
                .collect(),
        }
    }
}

/// The addresses of a server, those for NVMe hosts as URIs, because NBD clients can't use them.
fn addresses(server: &Server) -> Vec<String> {
    let nbd = server.addresses(Protocol::Nbd).map(Address::to_string);
    nbd.chain(server.addresses(Protocol::Nvme).map(|address| format!("nvme+tcp://{address}"))).collect()
}

/// Those who answer operators, until this is dropped.
pub struct Operators {
    _controls: Vec<ControlServer>,
    /// The cards that can be controlled, and all.
    controlled: Vec<Served>,
    all: Vec<Served>,
    metrics: Option<MetricsServer>,
    web: Option<WebServer>,
}

impl Operators {
    /// Answers those who look, too.
    pub fn show(&mut self, args: &ServeArgs, doors: &Doors) -> Result<(), Failure> {
        let controlled = std::mem::take(&mut self.controlled);
        self.metrics = args.metrics.as_ref().map(|address| control::metrics_server(controlled, address)).transpose()?;
        if let Some(server) = &self.metrics {
            eprintln!("flashrig: metrics at http://{}/metrics", server.address());
        }
        let all = std::mem::take(&mut self.all);
        self.web = doors.web.as_ref().map(|address| control::web_server(all, address)).transpose()?;
        if let Some(server) = &self.web {
            eprintln!("flashrig: live view at http://{}/", server.address());
        }
        Ok(())
    }
}

/// Whether those who look could be answered now, by a server that will answer them later.
pub fn can_look(args: &ServeArgs, doors: &Doors) -> Result<(), Failure> {
    args.metrics.as_ref().map(|address| control::metrics_server(Vec::new(), address)).transpose()?;
    doors.web.as_ref().map(|address| control::web_server(Vec::new(), address)).transpose()?;
    Ok(())
}

/// Has operators answered.
pub fn operators(
    args: &ServeArgs,
    cards: &[Running],
    (server, disks): (&Arc<Server>, &Arc<UblkDisks>),
    Doors { access, .. }: &Doors,
) -> Result<Operators, Failure> {
    let (mut controls, mut all, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    let both = |running: &Running| (running.export.clone(), Arc::clone(&running.live));
    for (at, running @ Running { export, live, card, socket, controller }) in cards.iter().enumerate() {
        let others = cards.iter().enumerate().filter(|(other, _)| *other != at);
        let clients = Clients {
            server: Arc::downgrade(server),
            disks: Arc::clone(disks),
            card: both(running),
            others: others.map(|(_, other)| both(other)).collect(),
            addresses: addresses(server),
        };
        let served = Served {
            live: Arc::clone(live),
            name: export.name.clone(),
            card: card.clone(),
            frontends: Some(Arc::new(clients)),
            controller: controller.clone(),
        };
        shown.push(served.clone());
        let Some(socket) = socket else { continue };
        let socket = args.control.as_ref().unwrap_or(socket);
        all.push(served.clone());
        controls.push(control::serve(served, socket, *access)?);
        eprintln!("flashrig: flashrig ctl {} status", socket.display());
    }
    Ok(Operators { _controls: controls, controlled: all, all: shown, metrics: None, web: None })
}

/// The live view shows where the time of requests goes.
pub fn explains(args: &ServeArgs) -> bool {
    args.web.is_some()
}

/// How long requests take.
pub fn timing(args: &ServeArgs) -> Timing {
    if args.timing == "model" { Timing::Model } else { Timing::None }
}
