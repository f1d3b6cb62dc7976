//! A running card.

use super::printable;
use crate::table::{Align, Table, wrap};
use crate::units::{capacity, counted, duration, grouped, io_size, percent, three_digits};
use control::{BeyondParity, Connection, Drive, Export, Pulled, Smart, StatusReply, Volume, Volumes};
use live::{Gc, Latency, ModuleStatus, Settings, StartStatus, Status, Timing};

/// The name of the card, and its health.
pub fn title(reply: &StatusReply) -> String {
    let status = &reply.status;
    let timing = match status.timing {
        Timing::None => "as fast as its medium",
        Timing::Model => "as fast as its own flash",
    };
    let (name, card) = (printable(&reply.name), printable(&reply.card));
    format!("{name} ({card}), {}, {timing}: {}", capacity(status.size_bytes), state(status))
}

/// In a few words.
fn state(status: &Status) -> String {
    if !status.powered {
        return "no power".to_owned();
    }
    if status.stopped {
        return "stopped, more is gone than parity stands for".to_owned();
    }
    let mut words = Vec::new();
    if status.degraded {
        words.push("degraded");
    }
    if status.read_only {
        words.push("read-only");
    }
    if status.pace.is_behind() {
        words.push("behind the clock");
    }
    if words.is_empty() { "well".to_owned() } else { words.join(", ") }
}

/// `43 %`, or that there is none.
pub fn progress(share: Option<f64>) -> String {
    share.map_or("none".to_owned(), percent)
}

/// `paced towards 3 free bands above the reserve of 6`.
pub fn collection(status: &Status) -> String {
    let gc = match status.settings.gc {
        Gc::Paced => "paced",
        Gc::StopTheWorld => "stop-the-world",
    };
    let target = status.settings.target_free_bands;
    format!("{gc}, target {target} above the reserve of {}", status.reserve_bands)
}

/// Prints the card's status.
pub fn status(reply: &StatusReply) -> String {
    let status = &reply.status;
    let mut out = wrap("", 2, &title(reply));
    out.push('\n');
    let mut table = Table::labelled(7);
    table.row(["", "requests", "bytes", "p50", "p99", "p99.9", "slowest"]);
    let stats = &status.stats;
    for (name, latency) in
        [("read", &stats.reads), ("write", &stats.writes), ("flush", &stats.flushes), ("trim", &stats.trims)]
    {
        table.row(requests(name, latency));
    }
    out.push_str(&table.render());
    out.push_str(&format!("errors: {}\n\n", grouped(stats.errors)));
    let mut table = Table::new([Align::Left; 2]);
    let mut row = |name: &str, text: String| table.row([name.to_owned(), text]);
    if status.shards > 1 {
        row("shards", grouped(status.shards.into()));
    }
    row("filled", percent(status.fill));
    row("write amplification", three_digits(status.write_amplification));
    row("free bands", format!("{} of {}", grouped(status.free_bands.into()), grouped(status.bands.into())));
    row("collection", format!("{}{}", collection(status), if status.collects { "; at work" } else { "" }));
    row("rebuild", progress(status.rebuild));
    if let Some(rate) = status.settings.rebuild_bytes_per_s {
        row("rebuild limit", format!("{}/s", capacity(rate)));
    }
    row("scrub", progress(status.scrub));
    row("lateness", lateness(status));
    if let Some(ns) = status.recovery_ns {
        row("last start", format!("{} on flash of its own", duration(ns as f64)));
    }
    row("power cuts", grouped(status.power_cuts));
    if let Some(log) = status.log.as_ref().filter(|log| log.records > 0) {
        let flushes = three_digits(log.flushes as f64 / log.records as f64);
        row("log", format!("{}, {flushes} flushes in each", counted(log.records, "record")));
    }
    if let Some(log) = status.log.as_ref().filter(|log| log.replayed_sectors > 0) {
        row("log at the start", format!("{} found there only", counted(log.replayed_sectors, "sector")));
    }
    for (name, sectors) in [
        ("clients turned away", reply.clients_turned_away),
        ("sectors that did not fit", status.mismatched_sectors),
        ("sectors rebuilt", status.rebuilt_sectors),
        ("sectors lost", status.lost_sectors),
        ("reads hedged", status.hedged_reads),
    ] {
        if sectors > 0 {
            row(name, grouped(sectors));
        }
    }
    out.push_str(&table.render());
    if let Some(start) = &status.start {
        out.push_str(&wrap("start  ", 7, &start_line(start)));
    }
    out
}

/// `0.21 s: headers 0.05 s, log 0.02 s; 12 MB read`, with the parts that took a hundredth of it.
pub fn start_line(start: &StartStatus) -> String {
    let parts = start.parts.iter().filter(|part| part.seconds * 100.0 >= start.seconds);
    let parts: Vec<String> = parts.map(|part| format!("{} {}", part.name, duration(part.seconds * 1e9))).collect();
    format!("{}: {}; {} read", duration(start.seconds * 1e9), parts.join(", "), capacity(start.read_bytes))
}

/// Says how far it is behind the clock.
pub fn lateness(status: &Status) -> String {
    let pace = &status.pace;
    let (most, share) = (duration(pace.most_behind_ns as f64), percent(pace.late_share));
    format!("{most} at most in the last minute, {share} of events over 1 ms")
}

fn requests(name: &str, latency: &Latency) -> [String; 7] {
    let time = |ns: u64| if latency.count == 0 { "-".to_owned() } else { duration(ns as f64) };
    [
        name.to_owned(),
        grouped(latency.count),
        capacity(latency.bytes),
        time(latency.p50_ns),
        time(latency.p99_ns),
        time(latency.p999_ns),
        time(latency.max_ns),
    ]
}

/// Slots, and what is in them.
pub fn modules(modules: &[ModuleStatus]) -> String {
    let mut table = Table::new([Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right]);
    table.row(["slot", "state", "module", "bad blocks", "mean cycles", "most cycles"]);
    for module in modules {
        let of_flash = |number: u64| if module.present { grouped(number) } else { "-".to_owned() };
        table.row([
            module.slot.to_string(),
            in_words(module),
            module.module.map_or("-".to_owned(), |number| number.to_string()),
            of_flash(module.bad_blocks),
            of_flash(module.mean_cycles),
            of_flash(module.max_cycles.into()),
        ]);
    }
    table.render()
}

fn in_words(module: &ModuleStatus) -> String {
    let state = module.state.name().replace('-', " ");
    if module.present { state } else { format!("{state}, empty") }
}

/// Characters of a drive's name that a table shows.
const DRIVE: usize = 34;

/// The drives that modules lie on, by their own account; nothing where there are none.
pub fn drives(drives: &[Drive]) -> String {
    if drives.is_empty() {
        return String::new();
    }
    let mut columns = [Align::Right; 8];
    columns[1] = Align::Left;
    let mut table = Table::new(columns);
    table.row(["slot", "drive", "health", "°C", "used", "spare", "errors", "hours"]);
    for drive in drives {
        let name = drive.by_id.as_ref().unwrap_or(&drive.path);
        // The serial number, at the end of a name, tells drives of a kind apart.
        let name = printable(&name.file_name().unwrap_or(name.as_os_str()).to_string_lossy());
        let long = name.chars().count().saturating_sub(DRIVE);
        let name = if long == 0 { name } else { format!("…{}", name.chars().skip(long + 1).collect::<String>()) };
        let health = drive.health.unwrap_or_default();
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            drive.slot.to_string(),
            name,
            or_none(health.passed.map(|passed| if passed { "well" } else { "failing" }.to_owned())),
            or_none(health.temperature_c.map(|degrees| degrees.to_string())),
            or_none(health.used_percent.map(|share| format!("{share} %"))),
            or_none(health.spare_percent.map(|share| format!("{share} %"))),
            or_none(health.media_errors.map(grouped)),
            or_none(health.power_on_hours.map(grouped)),
        ]);
    }
    let mut out = format!("\n{}", table.render());
    let mut reasons: Vec<&str> = drives.iter().filter_map(|drive| drive.unknown.as_deref()).collect();
    reasons.dedup();
    if let [reason] = reasons[..] {
        out.push_str(&wrap("", 2, &format!("health of drives: {}", printable(reason))));
        out.push('\n');
    }
    out
}

/// One of them.
pub fn module(module: &ModuleStatus) -> String {
    format!("slot {}: {}\n", module.slot, in_words(module))
}

/// A slot whose module was pulled, and the price where there is one.
pub fn pulled(pulled: &Pulled) -> String {
    let text = module(&pulled.module);
    let Some(BeyondParity { lacking, parity, lost_bytes }) = pulled.beyond_parity else { return text };
    let missing = format!("{lacking} modules are missing or not rebuilt, and parity stands for {parity}");
    format!("{text}{missing}:\n{} of the host's data can't be read\n", capacity(lost_bytes))
}

/// The settings in force.
pub fn settings(settings: &Settings) -> String {
    let gc = match settings.gc {
        Gc::Paced => "paced",
        Gc::StopTheWorld => "stop-the-world",
    };
    let rate = settings.rebuild_bytes_per_s.map_or("none".to_owned(), |rate| rate.to_string());
    format!("gc={gc}\ntarget_free_bands={}\nrebuild_bytes_per_s={rate}\n", settings.target_free_bands)
}

/// The wear and the faults of a card.
pub fn smart(smart: &Smart) -> String {
    let warning = &smart.critical_warning;
    let words = [
        (warning.available_spare, "spare below its threshold"),
        (warning.reliability_degraded, "reliability degraded"),
        (warning.read_only, "read-only"),
    ];
    let words: Vec<&str> = words.into_iter().filter(|(is_so, _)| *is_so).map(|(_, text)| text).collect();
    let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    let mut table = Table::new([Align::Left; 2]);
    for (name, text) in [
        ("critical_warning", format!("{:#04x} ({words})", warning.value)),
        ("available_spare", format!("{} %", smart.available_spare)),
        ("available_spare_threshold", format!("{} %", smart.available_spare_threshold)),
        ("percentage_used", format!("{} %", smart.percentage_used)),
        ("data_units_read", data_units(smart.data_units_read)),
        ("data_units_written", data_units(smart.data_units_written)),
        ("host_read_commands", grouped(smart.host_read_commands)),
        ("host_write_commands", grouped(smart.host_write_commands)),
        ("controller_busy_time", counted(smart.controller_busy_time, "minute")),
        ("power_cycles", grouped(smart.power_cycles)),
        ("power_on_hours", grouped(smart.power_on_hours)),
        ("unsafe_shutdowns", grouped(smart.unsafe_shutdowns)),
        ("media_errors", grouped(smart.media_errors)),
    ] {
        table.row([name.to_owned(), text]);
    }
    table.render()
}

fn data_units(units: u64) -> String {
    format!("{} ({})", grouped(units), capacity(units.saturating_mul(512_000)))
}

/// Most characters of an address.
const PEER: usize = 21;
/// Letters of a volume's name that a table has room for.
const VOLUME_NAME: usize = 40;

/// The clients that read and write it.
pub fn clients(exports: &[Export], clients: &[Connection]) -> String {
    let mut out = String::new();
    for export in exports {
        let name = if export.name.is_empty() { "the default export" } else { &export.name };
        let read_only = if export.read_only { ", read-only" } else { "" };
        let addresses = export.addresses.join(" ");
        let line = format!("{name}, {}{read_only}: {addresses}", capacity(export.size_bytes));
        out.push_str(&wrap("export ", 2, &printable(&line)));
    }
    if clients.is_empty() {
        out.push_str("nobody is connected\n");
        return out;
    }
    let right = Align::Right;
    let mut table = Table::new([right, Align::Left, Align::Left, right, right, right, right, right]);
    table.row(["id", "from", "via", "since", "requests", "now", "read", "written"]);
    for client in clients {
        table.row([
            client.number.to_string(),
            printable(&client.peer).chars().take(PEER).collect(),
            match (client.protocol.as_str(), client.tls) {
                ("nvme", _) => "NVMe",
                (_, true) => "TLS",
                (_, false) => "NBD",
            }
            .to_owned(),
            duration(client.connected_seconds * 1e9),
            grouped(client.requests),
            grouped(client.in_flight),
            capacity(client.read_bytes),
            capacity(client.written_bytes),
        ]);
    }
    out + &table.render()
}

/// The volumes of a card, and the room that is left.
pub fn volumes(volumes: &Volumes) -> String {
    let right = Align::Right;
    let mut table = Table::new([Align::Left, right, right, right]);
    table.row(["volume", "size", "on the card", "clients"]);
    for volume in &volumes.volumes {
        table.row([
            printable(&volume.name).chars().take(VOLUME_NAME).collect(),
            capacity(volume.size_bytes),
            capacity(volume.allocated_bytes),
            grouped(volume.clients as u64),
        ]);
    }
    let missing = |volume: &Volume| volume.size_bytes.saturating_sub(volume.allocated_bytes);
    let promised: u64 = volumes.volumes.iter().map(missing).sum();
    let free = format!(
        "{} free, in extents of {}{}\n",
        capacity(volumes.free_bytes),
        io_size(volumes.extent_bytes),
        match promised > volumes.free_bytes {
            true => format!(", less than the {} that the volumes may still ask for", capacity(promised)),
            false => String::new(),
        }
    );
    match volumes.volumes.is_empty() {
        true => format!("no volumes\n{free}"),
        false => table.render() + &wrap("", 0, &free),
    }
}
