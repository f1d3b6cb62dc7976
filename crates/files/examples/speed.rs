//! Programs all units of modules in a folder one after the other on all dies, and reads them, and prints MB/s. To be held
//! against `dd oflag=direct bs=1M`.
//!
//! `cargo run --profile dist -p files --example speed -- FOLDER [MODULES] [MEGABYTES] [OUTSTANDING]`

use files::{Files, Options};
use media::{BlockAt, Ended, Media, Shape, Unit, UnitAt};
use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().expect("a folder"));
    let mut number = |otherwise: u32| words.next().map_or(otherwise, |word| word.parse().expect("a number"));
    let (modules, megabytes, dies) = (number(3), number(256), number(16));
    let unit_bytes = 32 << 10;
    let rows = 64;
    let blocks = (u64::from(megabytes) * 1_000_000 / (u64::from(dies) * rows * unit_bytes)).max(1) as u32;
    let shape = Shape {
        modules,
        dies_per_module: dies,
        blocks_per_die: blocks,
        rows_per_block: rows as u32,
        unit_sectors: 8,
        payload_bytes: 4096,
        rows_sharing_cells: 1,
    };
    let paths: Vec<PathBuf> = (0..modules).map(|slot| folder.join(format!("speed-{slot}"))).collect();
    let began = Instant::now();
    let mut files = Files::create(shape, &paths, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    println!("create {:.2} s; {:?}", began.elapsed().as_secs_f64(), files.notes());
    let mut unit = Unit::new(&shape);
    for sector in 0..unit.sectors() {
        unit.payload_mut(sector).fill(sector as u8 + 1);
        unit.spare_mut(sector).fill(0x5a);
    }
    let units = u64::from(blocks) * rows * u64::from(dies);
    let megabytes = (units * u64::from(modules) * unit_bytes) as f64 / 1e6;
    let place = |module: u32, die: u32, number: u64| UnitAt {
        block: BlockAt { module, die, block: (number / rows) as u32 },
        row: (number % rows) as u32,
    };
    for pass in ["program new", "program again"] {
        let began = Instant::now();
        let mut ended = Vec::new();
        if pass == "program again" {
            for number in 0..blocks {
                for (module, die) in (0..modules).flat_map(|module| (0..dies).map(move |die| (module, die))) {
                    files.begin_erase(BlockAt { module, die, block: number });
                }
                for (module, die) in (0..modules).flat_map(|module| (0..dies).map(move |die| (module, die))) {
                    while files.is_under_way(module, die) {
                        files.wait(None, &mut ended).expect("the ring answers");
                    }
                    files.erase(BlockAt { module, die, block: number }).expect("it erases");
                }
            }
            ended.clear();
            println!("erase {} blocks {:.2} s", blocks * dies * modules, began.elapsed().as_secs_f64());
        }
        let began = Instant::now();
        let per_die = u64::from(blocks) * rows;
        let mut next = vec![0; (modules * dies) as usize];
        let mut running = modules * dies;
        for (module, die) in (0..modules).flat_map(|module| (0..dies).map(move |die| (module, die))) {
            files.begin_program(place(module, die, 0), &unit);
        }
        while running > 0 {
            files.wait(None, &mut ended).expect("the ring answers");
            for ended in ended.drain(..) {
                let Ended::Die { module, die } = ended else { continue };
                let number = &mut next[(module * dies + die) as usize];
                files.program(place(module, die, *number), &unit).expect("it programs");
                *number += 1;
                match *number < per_die {
                    true => files.begin_program(place(module, die, *number), &unit),
                    false => running -= 1,
                }
            }
        }
        (0..modules).for_each(|module| files.sync(module).expect("it syncs"));
        println!("{pass} {:.0} MB/s", megabytes / began.elapsed().as_secs_f64());
    }
    let began = Instant::now();
    for module in 0..modules {
        for number in 0..20 {
            let at = BlockAt { module, die: number % dies, block: 0 };
            let _ = files.is_bad(at);
            files.sync(module).expect("it syncs");
        }
    }
    println!("sync of nothing {:.3} ms", began.elapsed().as_secs_f64() * 1e3 / f64::from(20 * modules));
    drop(files);
    let began = Instant::now();
    let named: Vec<Option<PathBuf>> = paths.iter().cloned().map(Some).collect();
    let mut files = Files::open(&named).unwrap_or_else(|error| panic!("{error}"));
    println!("open {:.3} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    for number in 0..u64::from(blocks) * rows {
        for die in 0..dies {
            for module in 0..modules {
                files.read(place(module, die, number), &mut unit).expect("it reads");
            }
        }
    }
    println!("scan, one by one, {:.0} MB/s", megabytes / began.elapsed().as_secs_f64());
    drop(files);
    paths.iter().for_each(|path| drop(std::fs::remove_file(path)));
}
