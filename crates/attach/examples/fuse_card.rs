//! Mounts a card in memory and waits for the end of standard input: what the benchmark starts.
//!
//!     fuse_card MOUNTPOINT MIB [THREADS]

use live::{Live, Start, Timing};
use media::{Flash, Physics};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize| args.get(at).map(|text| text.parse::<u64>().expect("a number"));
    let size = number(2).expect("fuse_card MOUNTPOINT MIB [THREADS]") << 20;
    let config = profile::Profile::builtin("memory-16").unwrap().with_contents(Some(size)).unwrap();
    let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1);
    let start = Start { config, timing: Timing::None, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
    let live = Arc::new(Live::format(flash, start).unwrap());
    let options = attach::fuse::Options {
        threads: number(3).map(|threads| threads as usize),
        ..attach::fuse::Options::default()
    };
    let mounted = match attach::fuse::mount(Arc::clone(&live), Path::new(&args[1]), &options) {
        Ok(mounted) => mounted,
        Err(error) => {
            eprintln!("fuse_card: {error}");
            std::process::exit(2);
        }
    };
    println!("{}", mounted.file().display());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    drop(mounted);
    eprintln!("{:?}", live.status().stats);
}
