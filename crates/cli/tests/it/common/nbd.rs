//! A client of NBD, small and slow.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub struct Client(UnixStream);

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;

impl Client {
    /// Connected to the default export, with simple replies.
    pub fn connect(socket: &Path) -> io::Result<Client> {
        Client::connect_to(socket, "")
    }

    /// Connected to the export of a name.
    pub fn connect_to(socket: &Path, name: &str) -> io::Result<Client> {
        Client::patient(socket, name, Duration::from_secs(60))
    }

    /// The same, waiting so long at most for each answer.
    pub fn patient(socket: &Path, name: &str, patience: Duration) -> io::Result<Client> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(patience))?;
        let mut client = Client(stream);
        client.take(18)?;
        client.0.write_all(&3u32.to_be_bytes())?;
        let mut go = b"IHAVEOPT\0\0\0\x07".to_vec();
        go.extend((name.len() as u32 + 6).to_be_bytes());
        go.extend((name.len() as u32).to_be_bytes());
        go.extend(name.as_bytes());
        go.extend([0; 2]);
        client.0.write_all(&go)?;
        loop {
            let head = client.take(20)?;
            client.take(u32::from_be_bytes(head[16..20].try_into().unwrap()) as usize)?;
            match u32::from_be_bytes(head[12..16].try_into().unwrap()) {
                1 => return Ok(client),
                3 => {}
                0x8000_0006 => return Err(io::ErrorKind::NotFound.into()),
                other if other >= 1 << 31 => return Err(io::Error::other(format!("refused: {other:#x}"))),
                other => panic!("reply {other:#x}"),
            }
        }
    }

    pub fn take(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Asks, and waits for nothing.
    pub fn ask(&mut self, command: u16, cookie: u64, offset: u64, len: u32, payload: &[u8]) -> io::Result<()> {
        let mut request = 0x2560_9513u32.to_be_bytes().to_vec();
        request.extend([0, 0]);
        request.extend(command.to_be_bytes());
        request.extend(cookie.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(len.to_be_bytes());
        request.extend(payload);
        self.0.write_all(&request)
    }

    /// The next answer to something that is no read: its cookie and its error.
    pub fn answer(&mut self) -> io::Result<(u64, u32)> {
        let head = self.take(16)?;
        let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
        Ok((u64::from_be_bytes(head[8..16].try_into().unwrap()), error))
    }

    /// Writes, or flushes, and waits for it.
    pub fn done(&mut self, command: u16, offset: u64, payload: &[u8]) -> io::Result<u32> {
        self.ask(command, 1, offset, payload.len() as u32, payload)?;
        self.answer().map(|(_, error)| error)
    }

    /// Trims, and waits for it.
    pub fn trim(&mut self, offset: u64, len: u32) -> io::Result<u32> {
        self.ask(TRIM, 1, offset, len, &[])?;
        self.answer().map(|(_, error)| error)
    }

    /// Reads; or the error.
    pub fn read(&mut self, offset: u64, len: u32) -> io::Result<Result<Vec<u8>, u32>> {
        self.ask(READ, 1, offset, len, &[])?;
        let (_, error) = self.answer()?;
        if error == 0 { self.take(len as usize).map(Ok) } else { Ok(Err(error)) }
    }
}
