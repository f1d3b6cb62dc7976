//! Measures one point on a file or block device that may be overwritten: `drive_point FILE --mode rndrd --block 4k
//! --threads 16 --seconds 5 --json`. For `benches/against-fio.sh`.

use drive::{Drive, DriveOptions};
use load::{FileioConfig, LoadConfig};
use results::{HostInfo, TargetInfo, TargetKind};
use std::os::unix::fs::FileTypeExt;
use target::{Effort, Measurement, Pattern, Silent, State, Target};

fn bytes(text: &str) -> u64 {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        other => panic!("{other}: k, m or g"),
    };
    digits.parse::<u64>().expect("a number of bytes") * unit
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("drive_point FILE [--create SIZE] [--mode MODE] …")?;
    let mut load = FileioConfig { block_bytes: 4096, ..FileioConfig::default() };
    let mut options = DriveOptions::default();
    let (mut seconds, mut json, mut create, mut size) = (5.0, false, None, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word} wants a value"));
        match word.as_str() {
            "--mode" => load.mode = value().parse()?,
            "--block" => load.block_bytes = bytes(&value()) as u32,
            "--threads" => load.threads = value().parse()?,
            "--queue-depth" => load.queue_depth = value().parse()?,
            "--rate" => load.rate_iops = Some(value().parse()?),
            "--fsync-every" => load.fsync_every = value().parse()?,
            "--rw-ratio" => load.rw_ratio = value().parse()?,
            "--seconds" => seconds = value().parse()?,
            "--generators" => options.threads = Some(value().parse()?),
            "--unregistered" => options.register_buffers = false,
            "--create" => create = Some(bytes(&value())),
            "--size" => size = Some(bytes(&value())),
            "--json" => json = true,
            _ => return Err(format!("{word}: no such option").into()),
        }
    }
    let info = TargetInfo {
        kind: TargetKind::File,
        name: path.clone(),
        title: path.clone(),
        capacity_bytes: 0,
        sold_bytes: None,
        facts: Vec::new(),
        power_loss_protection: None,
        volatile_write_cache: None,
        profile: None,
    };
    let host = HostInfo::default();
    let is_block = std::fs::metadata(&path).is_ok_and(|file| file.file_type().is_block_device());
    let mut drive = match create {
        Some(size_bytes) => {
            let mut drive = Drive::create_file(&path, size_bytes, info, host, options)?;
            let effort = Effort { sequential_passes: 1, round_s: 0.0, max_rounds: 0 };
            drive.bring_to(&State { fill: 1.0, pattern: Pattern::None, effort }, &Silent)?;
            drive
        }
        None if is_block => Drive::open_block_device(&path, info, host, options)?,
        None => Drive::open_file(&path, info, host, options)?,
    };
    load.file_bytes = size.unwrap_or(drive.capacity_bytes());
    let measurement = Measurement { load: LoadConfig::Fileio(load), fill: 1.0, seconds: Some(seconds), seed: 1 };
    let result = drive.measure(&measurement, &Silent)?;
    if json {
        println!("{}", serde_json::to_string(&result)?);
        return Ok(());
    }
    for (name, class) in [("read", &result.read), ("write", &result.write), ("sync", &result.sync)] {
        if class.total_ios > 0 {
            let us = |percent| class.lat_ns.at(percent) as f64 / 1e3;
            let (p50, p99, p999) = (us(50.0), us(99.0), us(99.9));
            println!("{name:<5} {:>9.0} /s  p50 {p50:>8.1} us  p99 {p99:>8.1} us  p99.9 {p999:>8.1} us", class.iops);
        }
    }
    let generator = result.generator.unwrap_or_default();
    println!("{generator:?}");
    Ok(())
}
