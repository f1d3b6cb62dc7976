//! The state of a card's media, in words.

use crate::table::{Align, Table, wrap};
use crate::units::{capacity, duration, grouped};
use fsck::{Blocks, CardFacts, CopyState, LostSector, ModuleState, Modules, Report, Start, Stripes, VerdictState};
use std::fmt::Write;

/// Lost sectors and stripes that are printed; JSON has more.
const MAX_PRINTED: usize = 20;
/// Column of what follows a label.
const INDENT: usize = 13;
/// Bytes of a sector.
const SECTOR_BYTES: u64 = device::SECTOR_BYTES;

/// A report as text.
pub fn card_on_media(report: &Report) -> String {
    let mut out = String::new();
    if let Some(card) = &report.card {
        out += &facts(card);
        out.push('\n');
    }
    out += &modules(&report.modules);
    out.push('\n');
    let mut line = |label: &str, text: String| out += &wrap(&format!("{label:INDENT$}"), INDENT, &text);
    if let Some(bands) = &report.bands {
        let silent = if bands.silent > 0 { format!(", {} silent", bands.silent) } else { String::new() };
        line(
            "bands",
            format!(
                "{}: {} free, {} by checkpoint, {} by summary, {} scanned, {} dirty{silent}; holding: {} host, {} relocation, {} checkpoint",
                bands.total,
                bands.free,
                bands.by_checkpoint,
                bands.by_summary,
                bands.scanned,
                bands.dirty,
                bands.of_host,
                bands.of_relocation,
                bands.of_checkpoints
            ),
        );
    }
    if let Some(found) = &report.stripes {
        line("stripes", stripes(found));
        if report.everything_read {
            line("read", sectors_read(found));
        }
    }
    if let Some(sectors) = &report.sectors {
        let [mapped, holes, unreadable] = [sectors.mapped, sectors.holes, sectors.unreadable].map(grouped);
        line("sectors", format!("{mapped} mapped, {holes} holes, {unreadable} unreadable"));
    }
    if report.card.is_some() {
        line("checkpoints", checkpoints(report));
    }
    if let Some(found) = &report.blocks {
        line("blocks", blocks(found));
    }
    if let Some(found) = &report.start {
        line("start", start(found));
    }
    if let Some(found) = &report.stripes {
        out += &damaged(found);
    }
    out += &lost(&report.lost_sectors);
    let _ = writeln!(out, "\nverdict: {}", verdict(report.verdict.state));
    for reason in &report.verdict.reasons {
        out += &wrap("  ", 4, reason);
    }
    if report.card.is_some() && !report.everything_read {
        out += "  read as much as a start reads; --verify reads every stripe\n";
    }
    out
}

fn facts(card: &CardFacts) -> String {
    let mut out = format!("card {}, format version {}\n", card.id, card.format_version);
    let of = |count: u32, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut line = |text: String| out += &wrap("  ", 2, &text);
    line(format!(
        "{} of {}, {} of {}, units of {} of {} bytes",
        of(card.modules, "module", "modules"),
        of(card.dies_per_module, "die", "dies"),
        of(card.bands, "band", "bands"),
        of(card.rows_per_block, "row", "rows"),
        of(card.unit_sectors, "sector", "sectors"),
        card.payload_bytes
    ));
    let slc = if card.slc_bits_per_cell > 1 {
        format!("; SLC bands use 1/{} of it", card.slc_bits_per_cell)
    } else {
        String::new()
    };
    let cells = if card.rows_sharing_cells > 1 {
        format!("; {} rows share cells", card.rows_sharing_cells)
    } else {
        String::new()
    };
    line(format!("stripes of {}, {} of parity{cells}{slc}", of(card.stripe_width, "unit", "units"), card.parity_units));
    let protection = if card.power_loss_protection { "with" } else { "without" };
    line(format!(
        "{} sectors for the host ({}), {protection} power-loss protection",
        grouped(card.user_sectors),
        capacity(card.user_sectors.saturating_mul(SECTOR_BYTES))
    ));
    let end = if card.clean { "shut down in order" } else { "not shut down in order" };
    line(format!(
        "generation {}, {end}; {} starts, {} of them after no orderly end",
        card.generation, card.power_cycles, card.unsafe_shutdowns
    ));
    out
}

fn modules(modules: &Modules) -> String {
    let mut table = Table::new([Align::Right, Align::Right, Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row(["slot", "place", "state", "gen.", "headers", "module"]);
    for slot in &modules.slots {
        let copies: Vec<&str> = slot.copies.iter().map(|copy| copy_word(copy.state)).collect();
        table.row([
            slot.slot.to_string(),
            slot.place.map_or("-".to_owned(), |place| place.to_string()),
            state_word(slot.state).to_owned(),
            slot.generation.map_or("-".to_owned(), |generation| generation.to_string()),
            copies.join(" "),
            slot.module.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let mut out = table.render();
    for slot in &modules.slots {
        if let Some(why) = &slot.why {
            out += &wrap(&format!("slot {}: ", slot.slot), 4, why);
        }
        for (number, copy) in slot.copies.iter().enumerate() {
            if let Some(error) = &copy.error {
                out += &wrap(&format!("slot {} header copy {number}: ", slot.slot), 4, error);
            }
        }
    }
    for (place, module) in &modules.missing {
        let _ = writeln!(out, "module {place} is in no slot: {module}");
    }
    out
}

fn state_word(state: ModuleState) -> &'static str {
    match state {
        ModuleState::Trusted => "trusted",
        ModuleState::Stale => "stale",
        ModuleState::Rebuilding => "filling",
        ModuleState::Blank => "blank",
        ModuleState::Replaced => "replaced",
        ModuleState::Unknown => "?",
        ModuleState::NoAnswer => "silent",
        ModuleState::Empty => "empty",
    }
}

fn copy_word(state: CopyState) -> &'static str {
    match state {
        CopyState::Good => "good",
        CopyState::Bad => "bad",
        CopyState::None => "none",
    }
}

fn stripes(found: &Stripes) -> String {
    let kinds = [
        (found.whole, "whole"),
        (found.degraded, "degraded"),
        (found.torn, "torn"),
        (found.inconsistent, "inconsistent"),
        (found.beyond_redundancy, "beyond redundancy"),
        (found.stale, "stale with erased members"),
    ];
    let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(count, what)| format!("{} {what}", grouped(count))).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
    let bands = if found.bands_read == 1 { "band" } else { "bands" };
    format!("{} written in the {} {bands} read{kinds}", grouped(found.written), found.bands_read)
}

fn sectors_read(found: &Stripes) -> String {
    let mut text = format!("{} sectors good", grouped(found.good_sectors));
    for (what, count) in &found.bad_sectors {
        let _ = write!(text, ", {} {what}", grouped(*count));
    }
    if !found.bad_sectors.is_empty() {
        let _ = write!(text, "; {} of the bad ones can be rebuilt", grouped(found.rebuildable_sectors));
    }
    text
}

fn checkpoints(report: &Report) -> String {
    let found = report.checkpoints.iter().map(|checkpoint| {
        let state = if checkpoint.good { "good" } else { checkpoint.error.as_deref().unwrap_or("not whole") };
        format!("{} ({} parts, {state})", checkpoint.id, checkpoint.parts)
    });
    let found: Vec<String> = found.collect();
    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
}

fn blocks(found: &Blocks) -> String {
    let wear = &found.cycles;
    let named: Vec<String> =
        found.bad_at.iter().take(MAX_PRINTED).map(|(slot, die, block)| format!("{slot}/{die}/{block}")).collect();
    let named = if named.is_empty() { String::new() } else { format!(" (slot/die/block {})", named.join(" ")) };
    format!(
        "{}, {} bad{named}; the others erased {} to {} times, {:.1} on average",
        grouped(found.asked),
        found.bad,
        wear.least,
        wear.most,
        wear.mean
    )
}

fn start(found: &Start) -> String {
    let mut text = format!(
        "reads {} units, {} on the busiest die: about {} at {} a read",
        grouped(found.reads),
        grouped(found.busiest_die_reads),
        duration(found.estimate_ns as f64),
        duration(found.read_ns as f64)
    );
    let counts = [
        (found.rebuilt_sectors, "sectors rebuilt to know them"),
        (found.dropped_sectors, "sectors dropped that never were durable"),
        (found.out_of_range_sectors, "sectors with addresses that the card doesn't have"),
        (found.sectors_to_move, "sectors to move first"),
        (found.bands_to_empty.into(), "bands to empty"),
        (found.bands_to_erase.into(), "bands to erase before use"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {} {what}", grouped(count));
    }
    if let Some(place) = found.module_to_rebuild {
        let _ = write!(text, "; module {place} to be filled");
    }
    text
}

fn damaged(found: &Stripes) -> String {
    if found.named.is_empty() {
        return String::new();
    }
    let mut named: Vec<String> = found
        .named
        .iter()
        .take(MAX_PRINTED)
        .map(|(band, stripe, state)| format!("{band}:{stripe} {}", super::fsck_detail::stripe_word(*state)))
        .collect();
    let total = found.torn + found.inconsistent + found.beyond_redundancy;
    if total > named.len() as u64 {
        named.push(format!("and {} more", grouped(total - named.len() as u64)));
    }
    wrap(&format!("{:INDENT$}", "damaged"), INDENT, &format!("stripes {}", named.join(", ")))
}

fn lost(sectors: &[LostSector]) -> String {
    if sectors.is_empty() {
        return String::new();
    }
    let mut table = Table::new([Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left]);
    table.row(["lost LBA", "band", "stripe", "unit", "sector", ""]);
    for lost in sectors.iter().take(MAX_PRINTED) {
        let numbers = [lost.lba, lost.band, lost.stripe, lost.unit, lost.sector].map(|number| number.to_string());
        let why = if lost.was_lost_before { "lost before" } else { "beyond redundancy" };
        table.row(numbers.into_iter().chain([why.to_owned()]));
    }
    let more = sectors.len().saturating_sub(MAX_PRINTED);
    let more = if more > 0 { format!("and {} more; --json has all\n", grouped(more as u64)) } else { String::new() };
    format!("\n{}{more}", table.render())
}

fn verdict(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Clean => "clean",
        VerdictState::Recoverable => "recoverable",
        VerdictState::Degraded => "degraded",
        VerdictState::SectorsLost => "sectors lost",
        VerdictState::RefusesToStart => "refuses to start",
    }
}
