//! A small card in memory with a control socket, in a directory.

use control::{Access, Connection, ControlServer, Export, Frontend, Frontends, Served, serve};
use live::{Bell, Live, Request, Start, Timing};
use media::{Flash, Physics};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

pub const SIZE: u64 = 64 << 20;

struct Rings(SyncSender<()>);

impl Bell for Rings {
    fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

struct Nbd;

impl Frontends for Nbd {
    fn status(&self) -> Frontend {
        let addresses = vec!["nbd://127.0.0.1:10809/disk".to_owned(), "nbd+unix:///disk?socket=/run/x.sock".to_owned()];
        let export = |name: &str| Export {
            name: name.to_owned(),
            size_bytes: SIZE,
            read_only: true,
            addresses: addresses.clone(),
        };
        let client = |number, export: Option<&str>| Connection {
            number,
            protocol: "nvme".into(),
            peer: "[2001:db8:85a3:8d3:1319:8a2e:370:7348]:54321\u{1b}[2J".into(),
            export: export.map(str::to_owned),
            tls: true,
            connected_seconds: 3_600.0,
            requests: 123_456_789,
            in_flight: 128,
            read_bytes: 999_990_000_000,
            written_bytes: 999_990_000_000,
        };
        Frontend {
            exports: vec![export("disk"), export("")],
            clients: vec![client(1, None), client(2, Some("disk"))],
            turned_away: 0,
        }
    }
}

/// Until it is dropped.
pub struct Card {
    pub live: Arc<Live>,
    _server: ControlServer,
}

impl Card {
    /// At `control.sock` in a directory, which is made.
    pub fn serve_in(dir: &Path) -> Card {
        let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(SIZE)).unwrap();
        let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
        let flash = Flash::new(card::shape(&start.config), Physics::IDEAL, 1);
        let live = Arc::new(Live::format(flash, start).unwrap());
        let served = Served {
            live: Arc::clone(&live),
            name: "disk".into(),
            card: "tachion-400".into(),
            frontends: Some(Arc::new(Nbd)),
            controller: None,
        };
        let server = serve(served, &dir.join(control::SOCKET_IN_DIR), Access::Owner).unwrap();
        Card { live, _server: server }
    }

    /// Writes all of it so many times.
    pub fn overwrite(&self, times: u32) {
        let (sender, rings) = sync_channel(1);
        let mut port = self.live.port(Arc::new(Rings(sender)));
        let bytes = vec![7; 1 << 20];
        for offset_bytes in (0..times).flat_map(|_| (0..SIZE).step_by(bytes.len())) {
            let mut replies = Vec::new();
            port.submit(&[Request::write(0, offset_bytes, &bytes)], &mut replies);
            while replies.is_empty() {
                rings.recv_timeout(std::time::Duration::from_secs(20)).expect("a reply");
                port.replies(&mut replies);
            }
        }
    }
}
