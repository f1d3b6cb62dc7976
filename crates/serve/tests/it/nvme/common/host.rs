//! The PDUs of a host, byte by byte, and what they are answered with.

/// The digests that both sides have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    pub header: bool,
    pub data: bool,
}

pub const SUBSYSTEM: &str = "nqn.2014-08.org.nvmexpress:uuid:07070707-0707-0707-0707-070707070707";
pub const DISCOVERY: &str = "nqn.2014-08.org.nvmexpress.discovery";
pub const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555";
pub const HOST_ID: [u8; 16] = [0x11; 16];

/// A submission queue entry with SGLs.
#[derive(Clone, Copy, Debug)]
pub struct Entry(pub [u8; 64]);

pub fn entry(opcode: u8, id: u16, namespace: u32) -> Entry {
    let mut bytes = [0; 64];
    bytes[0] = opcode;
    bytes[1] = 1 << 6;
    bytes[2..4].copy_from_slice(&id.to_le_bytes());
    bytes[4..8].copy_from_slice(&namespace.to_le_bytes());
    // No data: a transport data block of length 0.
    bytes[39] = 0x5A;
    Entry(bytes)
}

impl Entry {
    pub fn byte(mut self, at: usize, value: u8) -> Entry {
        self.0[at] = value;
        self
    }

    pub fn dword(mut self, number: usize, value: u32) -> Entry {
        self.0[number * 4..number * 4 + 4].copy_from_slice(&value.to_le_bytes());
        self
    }

    pub fn blocks(mut self, first: u64, count: u32) -> Entry {
        self.0[40..48].copy_from_slice(&first.to_le_bytes());
        self.0[48..50].copy_from_slice(&((count - 1) as u16).to_le_bytes());
        self
    }

    /// Data in data PDUs.
    pub fn transport(mut self, length: u32) -> Entry {
        self.0[32..36].copy_from_slice(&length.to_le_bytes());
        self.0[39] = 0x5A;
        self
    }

    /// Data in the capsule.
    pub fn capsule(mut self, offset: u64, length: u32) -> Entry {
        self.0[24..32].copy_from_slice(&offset.to_le_bytes());
        self.0[32..36].copy_from_slice(&length.to_le_bytes());
        self.0[39] = 0x01;
        self
    }
}

pub fn initialize(digests: Digests) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    (bytes[2], bytes[4]) = (128, 128);
    bytes[11] = u8::from(digests.header) | u8::from(digests.data) << 1;
    bytes
}

fn header(kind: u8, header_bytes: usize, flags: u8, data: usize, digests: Digests) -> Vec<u8> {
    let has_data = data > 0;
    let offset = header_bytes + if digests.header { 4 } else { 0 };
    let whole = offset + data + if digests.data && has_data { 4 } else { 0 };
    let flags = flags | u8::from(digests.header) | u8::from(digests.data && has_data) << 1;
    let mut bytes = vec![kind, flags, header_bytes as u8, if has_data { offset as u8 } else { 0 }];
    bytes.extend((whole as u32).to_le_bytes());
    bytes
}

fn seal(mut bytes: Vec<u8>, data: &[u8], digests: Digests) -> Vec<u8> {
    if digests.header {
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    }
    bytes.extend(data);
    if digests.data && !data.is_empty() {
        bytes.extend(crc32c::crc32c(data).to_le_bytes());
    }
    bytes
}

/// A command capsule.
pub fn command(entry: Entry, data: &[u8], digests: Digests) -> Vec<u8> {
    let mut bytes = header(4, 72, 0, data.len(), digests);
    bytes.extend(entry.0);
    seal(bytes, data, digests)
}

/// Data of a command that were asked for.
pub fn data(id: u16, tag: u16, offset: u32, data: &[u8], is_last: bool, digests: Digests) -> Vec<u8> {
    let mut bytes = header(6, 24, u8::from(is_last) << 2, data.len(), digests);
    bytes.extend(id.to_le_bytes());
    bytes.extend(tag.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    seal(bytes, data, digests)
}

/// The data of a Connect.
pub fn names(controller: u16, subsystem: &str, host: &str) -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    bytes[..16].copy_from_slice(&HOST_ID);
    bytes[16..18].copy_from_slice(&controller.to_le_bytes());
    bytes[256..256 + subsystem.len()].copy_from_slice(subsystem.as_bytes());
    bytes[512..512 + host.len()].copy_from_slice(host.as_bytes());
    bytes
}

pub fn connect_entry(queue: u16, entries: u16) -> Entry {
    let entry = entry(0x7F, 0, 0).byte(4, 1).capsule(0, 1024);
    entry.dword(10, u32::from(queue) << 16).dword(11, u32::from(entries - 1)).dword(12, 15_000)
}

pub fn connect(queue: u16, entries: u16, controller: u16, subsystem: &str, digests: Digests) -> Vec<u8> {
    command(connect_entry(queue, entries), &names(controller, subsystem, HOST), digests)
}

pub fn property_set(id: u16, offset: u32, value: u64) -> Entry {
    let entry = entry(0x7F, id, 0).byte(4, 0).dword(11, offset);
    entry.dword(12, value as u32).dword(13, (value >> 32) as u32)
}

pub fn property_get(id: u16, offset: u32, wide: bool) -> Entry {
    entry(0x7F, id, 0).byte(4, 4).byte(40, u8::from(wide)).dword(11, offset)
}

/// The value that enables a controller: the sizes of queue entries, and the bit.
pub const ENABLE: u64 = 4 << 20 | 6 << 16 | 1;

/// A PDU of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    Initialized { digests: u8, max_data_bytes: u32 },
    Response(Response),
    Data { id: u16, offset: u32, flags: u8, data: Vec<u8> },
    Ready { id: u16, tag: u16, offset: u32, length: u32 },
    Terminated { status: u16, information: u32, header: Vec<u8> },
}

/// A completion queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    pub id: u16,
    pub value: u64,
    pub head: u16,
    /// The status code type, the status code and the bit against a retry.
    pub status: (u8, u8, bool),
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Takes the first PDU of the server, if it is whole, and checks its digests.
pub fn first_pdu(bytes: &[u8], digests: Digests) -> Option<(Pdu, usize)> {
    if bytes.len() < 8 {
        return None;
    }
    let (kind, flags, header, offset) = (bytes[0], bytes[1], usize::from(bytes[2]), usize::from(bytes[3]));
    let whole = u32_at(bytes, 4) as usize;
    if bytes.len() < whole {
        return None;
    }
    let bytes = &bytes[..whole];
    if digests.header && !matches!(kind, 1 | 3) {
        assert_eq!(flags & 1, 1, "a header digest was agreed on");
        assert_eq!(crc32c::crc32c(&bytes[..header]), u32_at(bytes, header), "the header's digest");
    }
    let pdu = match kind {
        1 => {
            assert_eq!((header, whole), (128, 128));
            Pdu::Initialized { digests: bytes[11], max_data_bytes: u32_at(bytes, 12) }
        }
        3 => Pdu::Terminated { status: u16_at(bytes, 8), information: u32_at(bytes, 10), header: bytes[24..].to_vec() },
        5 => {
            let field = u16_at(bytes, 22) >> 1;
            Pdu::Response(Response {
                id: u16_at(bytes, 20),
                value: u64::from(u32_at(bytes, 8)) | u64::from(u32_at(bytes, 12)) << 32,
                head: u16_at(bytes, 16),
                status: ((field >> 8 & 7) as u8, field as u8, field >> 14 != 0),
            })
        }
        7 => {
            let length = u32_at(bytes, 16) as usize;
            let data = bytes[offset..offset + length].to_vec();
            if digests.data {
                assert_eq!(crc32c::crc32c(&data), u32_at(bytes, offset + length), "the data's digest");
            }
            assert_eq!(whole, offset + length + if digests.data { 4 } else { 0 });
            Pdu::Data { id: u16_at(bytes, 8), offset: u32_at(bytes, 12), flags, data }
        }
        9 => Pdu::Ready {
            id: u16_at(bytes, 8),
            tag: u16_at(bytes, 10),
            offset: u32_at(bytes, 12),
            length: u32_at(bytes, 16),
        },
        other => panic!("a PDU of type {other:#x}"),
    };
    Some((pdu, whole))
}

/// All PDUs of the server.
pub fn pdus(mut bytes: &[u8], digests: Digests) -> Vec<Pdu> {
    let mut all = Vec::new();
    while let Some((pdu, length)) = first_pdu(bytes, digests) {
        all.push(pdu);
        bytes = &bytes[length..];
    }
    assert!(bytes.is_empty(), "{} bytes behind the last PDU", bytes.len());
    all
}
