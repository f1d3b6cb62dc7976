//! The discovery log page (NVMe Base 2.0, section 5.16.1.23; NVMe TCP Transport 1.0, section 3.4).

use crate::nvme::bytes::{put, put_u16, put_u64};
use crate::nvme::limits::MAX_QUEUE_ENTRIES;
use crate::nvme::subsystem::Subsystem;
use std::net::SocketAddr;

/// Bytes of the head of the page, and of each entry.
const ENTRY_BYTES: usize = 1024;

/// The page for a host that has reached the discovery controller at an address: the subsystems are reached there as well.
pub fn page(subsystems: &[Subsystem], generation: u64, local: SocketAddr) -> Vec<u8> {
    let subsystems: Vec<&Subsystem> = subsystems.iter().filter(|one| !one.namespaces.is_empty()).collect();
    let mut page = vec![0; ENTRY_BYTES * (1 + subsystems.len())];
    put_u64(&mut page, 0, generation);
    put_u64(&mut page, 8, subsystems.len() as u64);
    for (entry, subsystem) in page[ENTRY_BYTES..].chunks_exact_mut(ENTRY_BYTES).zip(subsystems) {
        let address = local.ip().to_canonical();
        // Transport TCP, the address family, and an NVM subsystem.
        entry[0] = 3;
        entry[1] = if address.is_ipv4() { 1 } else { 2 };
        entry[2] = 2;
        // A secure channel is not required, and flow control of submission queues can be switched off.
        entry[3] = 2 | 1 << 2;
        put_u16(entry, 4, 1);
        // Controllers are made dynamically.
        put_u16(entry, 6, 0xFFFF);
        put_u16(entry, 8, MAX_QUEUE_ENTRIES);
        put(entry, 32, &[b' '; 32]);
        put(entry, 32, local.port().to_string().as_bytes());
        put(entry, 256, subsystem.nqn.as_bytes());
        put(entry, 512, &[b' '; 256]);
        put(entry, 512, address.to_string().as_bytes());
    }
    page
}
