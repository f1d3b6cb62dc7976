//! The discovery log page (NVMe Base 2.0, section 5.16.1.23; NVMe TCP Transport 1.0, section 3.4).

use crate::nvme::bytes::{put, put_u16, put_u64};
use crate::nvme::limits::MAX_QUEUE_ENTRIES;
use crate::nvme::subsystem::Subsystem;
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// Bytes of the head of the page, and of each entry.
const ENTRY_BYTES: usize = 1024;

/// The page for a host that has reached the discovery controller at an address: the subsystems are reached there as well,
/// and those that are shared at the addresses of the other servers.
pub fn page(subsystems: &[Subsystem], generation: u64, local: SocketAddr, peers: &[SocketAddr]) -> Vec<u8> {
    let canonical = |address: &SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let local = canonical(&local);
    // In this order all servers give a port the same number, whichever of them is asked.
    let ports: BTreeSet<SocketAddr> = peers.iter().map(canonical).chain([local]).collect();
    let there = subsystems.iter().filter(|one| !one.namespaces.is_empty());
    let entries: Vec<(&Subsystem, u16, SocketAddr)> = there
        .flat_map(|subsystem| match subsystem.is_shared {
            true => (1..).zip(&ports).map(|(port, address)| (subsystem, port, *address)).collect(),
            false => vec![(subsystem, 1, local)],
        })
        .collect();
    let mut page = vec![0; ENTRY_BYTES * (1 + entries.len())];
    put_u64(&mut page, 0, generation);
    put_u64(&mut page, 8, entries.len() as u64);
    for (entry, (subsystem, port, reached)) in page[ENTRY_BYTES..].chunks_exact_mut(ENTRY_BYTES).zip(entries) {
        let address = reached.ip();
        // Transport TCP, the address family, and an NVM subsystem.
        entry[0] = 3;
        entry[1] = if address.is_ipv4() { 1 } else { 2 };
        entry[2] = 2;
        // A secure channel is not required, and flow control of submission queues can be switched off.
        entry[3] = 2 | 1 << 2;
        put_u16(entry, 4, port);
        // Controllers are made dynamically.
        put_u16(entry, 6, 0xFFFF);
        put_u16(entry, 8, MAX_QUEUE_ENTRIES);
        put(entry, 32, &[b' '; 32]);
        put(entry, 32, reached.port().to_string().as_bytes());
        put(entry, 256, subsystem.nqn.as_bytes());
        put(entry, 512, &[b' '; 256]);
        put(entry, 512, address.to_string().as_bytes());
    }
    page
}
