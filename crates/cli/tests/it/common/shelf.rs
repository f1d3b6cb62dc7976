//! Shelves that tests start and kill.

use super::command;
use super::server::Server;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Room for a module of the smallest card; the files are sparse.
const MODULE_BYTES: u64 = 512 << 20;

/// A shelf in a process of its own.
pub struct Shelf {
    pub process: Server,
    pub address: String,
    pub modules: Vec<PathBuf>,
}

impl Shelf {
    pub fn start(dir: &Path, name: &str, modules: u32) -> Shelf {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let modules: Vec<PathBuf> = (0..modules).map(|number| folder.join(format!("m{number}"))).collect();
        for path in &modules {
            std::fs::File::create(path).unwrap().set_len(MODULE_BYTES).unwrap();
        }
        Shelf::at("127.0.0.1:0", modules, &[])
    }

    pub fn at(listen: &str, modules: Vec<PathBuf>, more: &[&str]) -> Shelf {
        let said = modules[0].with_file_name("said");
        let errors = std::fs::File::create(&said).unwrap();
        let mut shelf = command();
        shelf.arg("shelf").args(&modules).args(["--listen", listen, "--log", "none"]).args(more);
        let mut process = Server(shelf.stdout(Stdio::null()).stderr(errors).spawn().unwrap(), said.clone());
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&said).unwrap();
            if let Some(address) = text.lines().find_map(|line| line.strip_prefix("flashrig: NVMe at ")) {
                return Shelf { process, address: address.to_owned(), modules };
            }
            assert!(process.0.try_wait().unwrap().is_none(), "the shelf has ended: {text}");
            assert!(began.elapsed() < Duration::from_secs(60), "the shelf does not listen: {text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills it, and starts it again at the same port.
    pub fn again(self, while_gone: impl FnOnce()) -> Shelf {
        let Shelf { mut process, address, modules } = self;
        process.0.kill().unwrap();
        process.0.wait().unwrap();
        while_gone();
        Shelf::at(&address, modules, &[])
    }
}
