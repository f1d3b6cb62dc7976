//! The result of one run.

use super::{cache, oltp, replica, tail, tpcc, trace};
use crate::table::{Table, wrap};
use crate::units::{counted, duration, grouped, mb_per_s, mib_per_s, percent, three_digits};
use load::{format_db_time, format_slob_table};
use results::{
    Application, Compression, Flash, Handle, IoClass, MapUse, RunResult, Sim, SteadyState, ThermalReport,
    TransactionsPer, ZoneUse,
};

/// The device and the load in words; the result itself has them as JSON only.
#[derive(Clone, Debug)]
pub struct RunHeading {
    pub device: String,
    /// The load and its host.
    pub load: String,
    /// The run was stopped before its end.
    pub partial: bool,
}

/// Everything about a run.
pub fn result(heading: &RunHeading, result: &RunResult) -> String {
    let mut out = format!("{}{}", wrap("", 2, &heading.device), wrap("", 2, &heading.load));
    if heading.partial {
        let measured = three_digits(sim(result).virtual_seconds);
        out.push_str(&format!("PARTIAL: stopped by Ctrl-C after {measured} virtual seconds of measurement\n"));
    }
    let mut block = |text: String| {
        if !text.is_empty() {
            out.push('\n');
            out.push_str(&text);
        }
    };
    block(throughput(result));
    block(latency(result));
    if let Some(trace_report) = &result.trace {
        let capacity_bytes = result.target["scaled_user_bytes"].as_u64().unwrap_or(0);
        let depth = result.load["depth"].as_u64().unwrap_or(0);
        block(trace::report(trace_report, capacity_bytes, depth, result.load["speed"] != "max"));
    }
    match &result.application {
        Some(Application::Slob(report)) => {
            block(format_slob_table(std::slice::from_ref(report)));
            block(report.db_time.as_ref().map_or(String::new(), format_db_time));
        }
        Some(Application::Oltp(report)) => block(oltp::report(report)),
        Some(Application::Tpcc(report)) => block(tpcc::report(report)),
        Some(Application::Replica(report)) => block(replica::report(report)),
        None => {}
    }
    if let Some(per) = &result.transactions_per {
        block(transactions_per(per));
    }
    if let Some(cache_report) = &result.cache {
        block(cache::report(cache_report));
    }
    if let Some(flash_report) = &result.flash {
        block(flash(flash_report));
    }
    if let Some(report) = &result.thermal {
        block(thermal(report));
    }
    block(steady(result.steady_state.as_ref()) + &speed(&sim(result)));
    if let Some(report) = &result.tail {
        block(tail::report(report));
    }
    out
}

/// A line of what the device alone gives for what it takes.
fn transactions_per(per: &TransactionsPer) -> String {
    let known: Vec<String> = per.known().map(|(unit, tps)| format!("{} for each {unit}", three_digits(tps))).collect();
    if known.is_empty() {
        return String::new();
    }
    wrap("", 2, &format!("transactions a second of the device alone: {}", known.join(", ")))
}

/// The figures of a model's result; `run` makes no other.
fn sim(result: &RunResult) -> Sim {
    result.sim.expect("a model's result says how it was simulated")
}

/// Kinds of request that there were.
fn classes(result: &RunResult) -> impl Iterator<Item = (&'static str, &IoClass)> {
    let all = [("read", &result.read), ("write", &result.write), ("flush", &result.sync)];
    all.into_iter().filter(|(_, class)| class.total_ios > 0)
}

fn throughput(result: &RunResult) -> String {
    let mut table = Table::labelled(5);
    table.row(["", "requests", "IOPS", "MB/s", "MiB/s"]);
    for (name, class) in classes(result) {
        let mut row = vec![name.to_owned(), grouped(class.total_ios), three_digits(class.iops)];
        if class.io_bytes > 0 {
            row.extend([mb_per_s(class.bw_bytes), mib_per_s(class.bw_bytes)]);
        }
        table.row(row);
    }
    if classes(result).next().is_none() { "no request finished\n".to_owned() } else { table.render() }
}

fn latency(result: &RunResult) -> String {
    let mut table = Table::labelled(7);
    table.row(["latency", "mean", "p50", "p95", "p99", "p99.9", "max"]);
    for (name, class) in classes(result) {
        let lat = &class.lat_ns;
        let percentiles = [50.0, 95.0, 99.0, 99.9].map(|percent| duration(lat.at(percent) as f64));
        let mut row = vec![name.to_owned(), duration(lat.mean)];
        row.extend(percentiles);
        row.push(duration(lat.max as f64));
        table.row(row);
    }
    if classes(result).next().is_none() { String::new() } else { table.render() }
}

fn flash(flash: &Flash) -> String {
    let programmed = flash.programmed_pages();
    let waf = match (flash.host_pages, flash.padding_pages) {
        (0, _) => "-, nothing was written".to_owned(),
        (_, 0) => format!("{:.2}", flash.waf),
        // Flushes that pad stripes wear the flash as much as relocations do, and are no part of the usual ratio.
        (host, _) => format!(
            "{:.2}; with padding, parity and metadata {:.2} pages programmed for each of the host's",
            flash.waf,
            programmed as f64 / host as f64
        ),
    };
    let of_map = flash.map.map_or(String::new(), |map| format!(" {} of the map,", grouped(map.programmed_pages)));
    let pages = format!(
        "{} host, {} relocated,{of_map} {} parity, {} padding, {} metadata",
        grouped(flash.host_pages),
        grouped(flash.relocated_pages),
        grouped(flash.parity_pages),
        grouped(flash.padding_pages),
        grouped(flash.metadata_pages),
    );
    let erases = format!(
        "{}; {} free at the end; {}",
        counted(flash.erases, "block"),
        counted(flash.free_bands, "band"),
        counted(flash.bad_blocks, "bad block"),
    );
    let wear = format!("{} to {} P/E cycles, mean {:.1}", flash.wear.min, flash.wear.max, flash.wear.mean);
    let spare = match flash.zones {
        None => format!("{:.1} % of the data capacity", flash.effective_spare_factor * 100.0),
        Some(_) => "none: the card collects nothing".to_owned(),
    };
    let rows = [("WAF", waf), ("4 KiB pages", pages), ("erased", erases), ("wear", wear), ("effective spare", spare)];
    let handle = |(number, handle): (usize, &Handle)| {
        let waf = if handle.host_pages == 0 { "-".to_owned() } else { format!("{:.2}", handle.waf) };
        let (host, relocated) = (grouped(handle.host_pages), grouped(handle.relocated_pages));
        let label = format!("handle {number}");
        wrap(&format!("{label:<17}"), 17, &format!("WAF {waf}; {host} host, {relocated} relocated"))
    };
    let handles = flash.handles.iter().enumerate().map(handle).collect::<String>();
    let map = flash.map.map(|map| ("map", map_use(&map)));
    let zones = flash.zones.map(|zones| ("zones", zone_use(&zones)));
    let compression = flash.compression.map(|compression| ("compression", compressed(&compression)));
    rows.into_iter()
        .chain(map)
        .chain(zones)
        .chain(compression)
        .map(|(label, text)| wrap(&format!("{label:<17}"), 17, &text))
        .collect::<String>()
        + &handles
}

fn zone_use(zones: &ZoneUse) -> String {
    let size = u128::from(zones.capacity_pages) * 4096;
    let offline = if zones.offline > 0 { format!("; {} offline", grouped(zones.offline)) } else { String::new() };
    format!(
        "{} of {} MiB; {} opened, {} filled, {} finished, {} reset, {} closed implicitly{offline}",
        grouped(zones.count),
        grouped((size >> 20) as u64),
        grouped(zones.opened),
        grouped(zones.filled),
        grouped(zones.finished),
        grouped(zones.reset),
        grouped(zones.closed_implicitly),
    )
}

fn compressed(compression: &Compression) -> String {
    let mib = |bytes: u64| format!("{} MiB", grouped(bytes >> 20));
    let of_host = compression.host_bytes.max(1) as f64;
    format!(
        "{} of the host are {} on flash, {} of their size; {} left unused at the ends of stripes",
        mib(compression.host_bytes),
        mib(compression.stored_bytes),
        percent(compression.stored_bytes as f64 / of_host),
        mib(compression.unused_bytes),
    )
}

fn map_use(map: &MapUse) -> String {
    let lookups = map.hits + map.misses;
    let share = percent(map.hits as f64 / lookups.max(1) as f64);
    let (held, all) = (grouped(map.held_pages), grouped(map.all_pages));
    let hits =
        if lookups == 0 { "no lookups".to_owned() } else { format!("{share} of {} lookups hit", grouped(lookups)) };
    format!("{hits}; memory holds {held} of {all} pages, {} were read from flash", grouped(map.read_pages))
}

/// The heat of a card and what it was throttled for.
fn thermal(report: &ThermalReport) -> String {
    let levels = [("light", report.light_s), ("heavy", report.heavy_s), ("critical", report.critical_s)];
    let levels: Vec<String> = levels
        .into_iter()
        .filter(|&(_, seconds)| seconds > 0.0)
        .map(|(name, seconds)| format!("{name} for {}", duration(seconds * 1e9)))
        .collect();
    let throttled = if levels.is_empty() { "never".to_owned() } else { levels.join(", ") };
    let celsius =
        format!("{:.1} \u{b0}C at most, {:.1} \u{b0}C at the end", report.highest_celsius, report.end_celsius);
    let rows =
        [("temperature", celsius), ("mean power", format!("{:.2} W", report.mean_watts)), ("throttled", throttled)];
    rows.map(|(label, text)| wrap(&format!("{label:<17}"), 17, &text)).concat()
}

/// The SNIA rule and how far the run was within it.
fn steady(steady: Option<&SteadyState>) -> String {
    let Some(steady) = steady else {
        return "steady: not waited for\n".to_owned();
    };
    let against = |value: f64, limit: f64| {
        let sign = if value <= limit { "<=" } else { ">" };
        format!("{} {sign} {}", percent(value), percent(limit))
    };
    let rounds = counted(steady.rounds.len() as u64, "round");
    let not = if steady.attained { "" } else { "NOT attained after " };
    let (range, slope) = (against(steady.range, 0.2), against(steady.slope, 0.1));
    let before = steady.overwriting.map_or(String::new(), |overwriting| {
        let not = if overwriting.attained { "" } else { "NOT in balance, " };
        let change = against(overwriting.change, 0.01);
        format!("; before: {not}written over {:.1} times, change {change}", overwriting.times)
    });
    wrap("steady: ", 8, &format!("{not}{rounds}, range {range}, slope {slope}{before}"))
}

/// Wall-clock figures, on lines of their own: they differ from run to run.
fn speed(sim: &Sim) -> String {
    let measuring_s = sim.wall_seconds - sim.precondition_wall_seconds;
    let rate = if measuring_s > 0.0 { sim.requests_finished as f64 / measuring_s } else { 0.0 };
    format!(
        "speed:  {} virtual s in {}, {} simulated I/O a second\nsetup:  {} to precondition\n",
        three_digits(sim.virtual_seconds),
        duration(measuring_s * 1e9),
        grouped(two_digits(rate)),
        duration(sim.precondition_wall_seconds * 1e9),
    )
}

/// A wall-clock rate has no more than two digits that the next run repeats.
fn two_digits(rate: f64) -> u64 {
    let rounded = rate.round() as u64;
    let unit = 10_u64.pow(rounded.checked_ilog10().unwrap_or(0).saturating_sub(1));
    rounded / unit * unit
}
