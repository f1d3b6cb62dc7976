//! A host on a socket: an initiator of our own, which does what it is told, right or wrong.

use super::host::{self, Digests, ENABLE, Entry, Pdu, Response};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The host's side of a connection.
pub struct Wire {
    pub stream: TcpStream,
    pub digests: Digests,
    received: Vec<u8>,
}

impl Wire {
    /// A connection without a byte on it.
    pub fn open(address: SocketAddr) -> Wire {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        Wire { stream, digests: Digests::default(), received: Vec::new() }
    }

    /// A connection that has exchanged its first PDUs.
    pub fn initialized(address: SocketAddr, digests: Digests) -> Wire {
        let mut wire = Wire::open(address);
        wire.send(&host::initialize(digests));
        assert!(matches!(wire.pdu(), Some(Pdu::Initialized { .. })));
        wire.digests = digests;
        wire
    }

    /// An admin queue of an enabled controller, and the identifier of the controller.
    pub fn admin(address: SocketAddr, subsystem: &str, digests: Digests) -> (Wire, u16) {
        let mut wire = Wire::initialized(address, digests);
        let connected = wire.one(&host::connect(0, 32, 0xFFFF, subsystem, digests));
        assert_eq!(connected.status, (0, 0, false));
        assert_eq!(wire.ask(host::property_set(1, 0x14, ENABLE)).status, (0, 0, false));
        (wire, connected.value as u16)
    }

    /// An I/O queue of a controller.
    pub fn io(address: SocketAddr, subsystem: &str, controller: u16, queue: u16, digests: Digests) -> Wire {
        let mut wire = Wire::initialized(address, digests);
        let connected = wire.one(&host::connect(queue, 128, controller, subsystem, digests));
        assert_eq!(connected.status, (0, 0, false));
        wire
    }

    /// `false` if the other side has gone.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next PDU; `None` when the other side has ended the connection.
    pub fn pdu(&mut self) -> Option<Pdu> {
        loop {
            if let Some((pdu, length)) = host::first_pdu(&self.received, self.digests) {
                self.received.drain(..length);
                return Some(pdu);
            }
            let mut bytes = [0; 64 << 10];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(more) => self.received.extend_from_slice(&bytes[..more]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    panic!("nothing has come for 20 s")
                }
                Err(_) => return None,
            }
        }
    }

    /// The one response to some bytes.
    pub fn one(&mut self, bytes: &[u8]) -> Response {
        assert!(self.send(bytes));
        match self.pdu() {
            Some(Pdu::Response(response)) => response,
            other => panic!("{other:?}"),
        }
    }

    /// The response to a command without data.
    pub fn ask(&mut self, entry: Entry) -> Response {
        let bytes = host::command(entry, &[], self.digests);
        self.one(&bytes)
    }

    /// The data of a command that has some for the host.
    pub fn get(&mut self, entry: Entry) -> Result<Vec<u8>, Response> {
        let bytes = host::command(entry, &[], self.digests);
        assert!(self.send(&bytes));
        match self.pdu() {
            Some(Pdu::Data { data, .. }) => {
                assert!(matches!(self.pdu(), Some(Pdu::Response(response)) if response.status == (0, 0, false)));
                Ok(data)
            }
            Some(Pdu::Response(response)) => Err(response),
            other => panic!("{other:?}"),
        }
    }

    /// A command whose data are asked for.
    pub fn put(&mut self, entry: Entry, data: &[u8], piece: usize) -> Response {
        let bytes = host::command(entry.transport(data.len() as u32), &[], self.digests);
        assert!(self.send(&bytes));
        let (id, tag) = match self.pdu() {
            Some(Pdu::Ready { id, tag, .. }) => (id, tag),
            Some(Pdu::Response(response)) => return response,
            other => panic!("{other:?}"),
        };
        let count = data.len().div_ceil(piece);
        for (number, part) in data.chunks(piece).enumerate() {
            let offset = (number * piece) as u32;
            let bytes = host::data(id, tag, offset, part, number + 1 == count, self.digests);
            assert!(self.send(&bytes));
        }
        match self.pdu() {
            Some(Pdu::Response(response)) => response,
            other => panic!("{other:?}"),
        }
    }

    /// The other side ends the connection, whatever it says before.
    pub fn is_let_go(&mut self) {
        while self.pdu().is_some() {}
    }
}
