//! A controller of a subsystem, from its first connection until commands can be sent.

use crate::nvme::initiator::{
    Ask, ControllerFacts, HostDialog, Names, NamespaceFacts, PROPERTY_CONFIGURATION, PROPERTY_STATUS, namespaces,
};
use crate::nvme::{RANDOM_BYTES, Secrets, Status};
use crate::remote::address::{ModuleAddress, ShelfAddress};
use crate::remote::error::RemoteError;
use crate::remote::host_name::{HostName, HostNames};
use crate::remote::link::Link;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

/// Enables a controller, with entries of the usual sizes.
const ENABLE: u32 = 4 << 20 | 6 << 16 | 1;
const READY: u32 = 1;
const FATAL: u32 = 2;
/// The bits of a Connect's completion that ask for authentication.
const WANTS_AUTHENTICATION: u64 = 3 << 16;
/// The identifier of a controller that is to be made.
const DYNAMIC: u16 = 0xFFFF;
const ADMIN_ENTRIES: u16 = 32;
const IO_ENTRIES: u16 = 128;
/// The time between two looks at a controller that is not ready.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The room for a message of an authentication, which the largest group fills by half.
const MESSAGE_BYTES: u32 = 4096;

/// The options of all connections to shelves.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// The name of this host.
    pub host: HostName,
    /// The modules at which it has another name.
    pub hosts: HostNames,
    /// The secret of this host, and that of the shelves.
    pub secrets: Option<Secrets>,
    /// The time after which a shelf that gives no sign of life is lost.
    pub timeout: Duration,
}

impl Default for RemoteOptions {
    fn default() -> RemoteOptions {
        let (host, hosts) = (HostName::of_machine(), HostNames::default());
        RemoteOptions { host, hosts, secrets: None, timeout: Duration::from_secs(1) }
    }
}

impl RemoteOptions {
    /// The name of this host at a module.
    #[must_use]
    pub fn host_at(&self, module: &ModuleAddress) -> HostName {
        self.hosts.of(module).unwrap_or_else(|| self.host.clone())
    }
}

/// An admin queue of a controller that is ready.
#[derive(Debug)]
pub(crate) struct Admin {
    pub link: Link,
    pub controller: u16,
}

impl Admin {
    /// Connects to a subsystem of a shelf. A shelf that hears nothing for `keep_alive_ms` ends the controller; 0: never.
    pub fn open(
        shelf: &ShelfAddress,
        subsystem: &str,
        options: &RemoteOptions,
        keep_alive_ms: u32,
    ) -> Result<Admin, RemoteError> {
        let mut link = Link::open(shelf, options.timeout)?;
        let names = names(subsystem, options);
        let controller = connect(&mut link, &names, (DYNAMIC, 0), ADMIN_ENTRIES, keep_alive_ms, options)?;
        link.get("to enable its controller", &Ask::set_property(PROPERTY_CONFIGURATION, ENABLE), &[])?;
        let deadline = Instant::now() + options.timeout;
        loop {
            let status = link.get("to say whether it is ready", &Ask::property(PROPERTY_STATUS), &[])?.value as u32;
            if status & FATAL != 0 || Instant::now() >= deadline {
                return Err(RemoteError::NotReady);
            }
            if status & READY != 0 {
                return Ok(Admin { link, controller });
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

fn names(subsystem: &str, options: &RemoteOptions) -> Names {
    Names { host_id: options.host.id, host: options.host.nqn.clone(), subsystem: subsystem.into() }
}

/// Connects a queue, and proves both sides where that is asked for. The identifier of the controller.
fn connect(
    link: &mut Link,
    names: &Names,
    (controller, queue): (u16, u16),
    entries: u16,
    keep_alive_ms: u32,
    options: &RemoteOptions,
) -> Result<u16, RemoteError> {
    let (ask, data) = Ask::connect(names, controller, queue, entries, keep_alive_ms);
    let answered = link.ask(&ask, &data)?;
    match answered.status {
        Status::SUCCESS => {}
        // The name of the subsystem, in the data.
        Status::INVALID_PARAMETERS if answered.value & 0x1_FFFF == 1 << 16 | 256 => return Err(RemoteError::NoModule),
        status => return Err(RemoteError::Refused { what: "the connection", status }),
    }
    let is_discovery = &*names.subsystem == crate::nvme::DISCOVERY_NQN;
    match (&options.secrets, answered.value & WANTS_AUTHENTICATION != 0) {
        (Some(secrets), true) => prove(link, names, secrets)?,
        (None, true) => return Err(RemoteError::NoSecret),
        // A host that gives a secret wants to know whom it talks to; a list of names needs none.
        (Some(_), false) if !is_discovery => return Err(RemoteError::SecretUnused),
        (_, false) => {}
    }
    Ok(answered.value as u16)
}

fn prove(link: &mut Link, names: &Names, secrets: &Secrets) -> Result<(), RemoteError> {
    let mut random = [0; RANDOM_BYTES];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
    read.map_err(|source| RemoteError::System { source })?;
    let (mut dialog, mut message) = HostDialog::begin(names.clone(), secrets.clone(), random);
    loop {
        link.get("a message of the authentication", &Ask::authentication_send(message.len() as u32), &message)?;
        if dialog.is_over() {
            return Ok(());
        }
        let answer = link.get("the authentication", &Ask::authentication_receive(MESSAGE_BYTES), &[])?;
        match dialog.take(&answer.data)? {
            Some(next) => message = next,
            None => return Ok(()),
        }
    }
}

/// The properties of a subsystem and of its one namespace.
#[derive(Debug)]
pub(crate) struct Facts {
    pub controller: ControllerFacts,
    pub namespace: NamespaceFacts,
    pub namespace_id: u32,
}

impl Admin {
    /// Asks for the properties of the subsystem that it was opened for.
    pub fn facts(&mut self, subsystem: &str) -> Result<Facts, RemoteError> {
        let page = self.link.get("to identify itself", &Ask::identify_controller(), &[])?.data;
        let controller = ControllerFacts::of(&page)?;
        if &*controller.subsystem != subsystem {
            return Err(RemoteError::Unfit { what: "is another one than was asked for" });
        }
        let ids = namespaces(&self.link.get("to list its namespaces", &Ask::namespaces(), &[])?.data);
        let [namespace_id] = ids[..] else { return Err(RemoteError::Namespaces { count: ids.len() }) };
        let page = self.link.get("to identify its namespace", &Ask::identify_namespace(namespace_id), &[])?.data;
        Ok(Facts { controller, namespace: NamespaceFacts::of(&page)?, namespace_id })
    }
}

/// A module: its admin queue, its I/O queue, and its properties.
#[derive(Debug)]
pub(crate) struct Session {
    pub admin: Link,
    pub io: Link,
    pub controller: ControllerFacts,
    pub namespace: NamespaceFacts,
    pub namespace_id: u32,
}

impl Session {
    pub fn open(address: &ModuleAddress, options: &RemoteOptions, keep_alive_ms: u32) -> Result<Session, RemoteError> {
        let options = &RemoteOptions { host: options.host_at(address), ..options.clone() };
        let mut queue = Admin::open(&address.shelf, &address.subsystem, options, keep_alive_ms)?;
        let Facts { controller, namespace, namespace_id } = queue.facts(&address.subsystem)?;
        let Admin { link: mut admin, controller: id } = queue;
        admin.get("a queue", &Ask::one_queue(), &[])?;
        let mut io = Link::open(&address.shelf, options.timeout)?;
        connect(&mut io, &names(&address.subsystem, options), (id, 1), IO_ENTRIES, 0, options)?;
        io.queue.set_capsule_bytes(controller.capsule_bytes);
        Ok(Session { admin, io, controller, namespace, namespace_id })
    }
}
