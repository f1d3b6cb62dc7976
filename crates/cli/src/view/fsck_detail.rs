//! A sector, a band, a stripe of a card's media.

use crate::table::{Align, COLUMNS, Table, wrap};
use fsck::{BandDetail, ReadsAs, RebuildState, SectorExplained, StripeDetail, StripeState};
use std::fmt::Write;

/// Sectors and why they read as they do.
pub fn sectors(sectors: &[SectorExplained]) -> String {
    let mut out = String::new();
    for (number, sector) in sectors.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        out += &one_sector(sector);
    }
    out
}

fn one_sector(sector: &SectorExplained) -> String {
    let reads = match sector.reads_as {
        ReadsAs::Zeros => "zeros",
        ReadsAs::Data => "data",
        ReadsAs::Error => "an error",
        ReadsAs::Nothing => "nothing",
    };
    let mut out = format!("sector {} reads as {reads}\n", sector.lba);
    out += &wrap("  because ", 4, &sector.because);
    if let Some(holes) = &sector.holes {
        let is_in = if holes.is_hole { "is in" } else { "is not in" };
        let text = format!(
            "it {is_in} list {} of segment {}, which counts as of version {} (band {} stripe {})",
            holes.version, holes.segment, holes.as_of, holes.band, holes.stripe
        );
        out += &wrap("  holes: ", 4, &text);
    }
    if sector.copies.is_empty() {
        return out;
    }
    let mut table =
        Table::new([Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]);
    table.row(["  version", "band", "stripe", "unit", "sector", "stripe is", ""]);
    for copy in &sector.copies {
        let number = |number: u32| number.to_string();
        table.row([
            copy.version.map_or("?".to_owned(), |version| version.to_string()),
            number(copy.band),
            number(copy.stripe),
            number(copy.unit),
            number(copy.sector),
            stripe_word(copy.in_stripe).to_owned(),
            copy.judgement(),
        ]);
    }
    out + &table.render()
}

/// The state of a band, and its stripes.
pub fn band(band: &BandDetail) -> String {
    let mut out = format!("band {}: {}\n", band.band, band.state);
    let Some(sequence) = band.sequence else { return out };
    let stream = match band.stream {
        Some(0) => "host".to_owned(),
        Some(1) => "relocation".to_owned(),
        Some(2) => "checkpoints".to_owned(),
        other => format!("stream {}", other.unwrap_or_default()),
    };
    let mut facts = format!("opening {sequence}, from {stream}");
    if band.slc == Some(true) {
        facts += ", SLC";
    }
    if let Some(complete) = band.is_complete {
        facts += if complete { ", filled" } else { ", not filled" };
    }
    if let Some(has) = band.has_summary {
        facts += if has { ", with its summary" } else { ", without a summary" };
    }
    if let Some(current) = band.current_sectors {
        let _ = write!(facts, ", {current} sectors current");
    }
    out += &wrap("  ", 2, &facts);
    out.push('\n');
    // A character a sector, or, where that is too wide, a character a unit: the worst of its sectors.
    let widest = band.stripes.iter().map(|line| line.units.join(" ").chars().count()).max().unwrap_or(0);
    let is_narrow = widest + 32 <= COLUMNS;
    let mut table = Table::new([Align::Right, Align::Right, Align::Left, Align::Left]);
    table.row(["stripe", "row", "units", "state"]);
    let mut unwritten = 0;
    for line in &band.stripes {
        if line.state == StripeState::Unwritten {
            unwritten += 1;
            continue;
        }
        let units = if is_narrow { line.units.join(" ") } else { line.units.iter().map(|unit| worst(unit)).collect() };
        let state = if is_narrow { stripe_word(line.state) } else { short_word(line.state) };
        table.row([line.stripe.to_string(), line.row.to_string(), units, state.to_owned()]);
    }
    out += &table.render();
    if unwritten > 0 {
        let _ = writeln!(out, "{unwritten} stripes are not written");
    }
    out + "\nD data, H holes, S summary, C checkpoint, P parity, L lost, - padding\n\
           . erased, ! can't be read, ? does not belong there, o other opening, x no answer\n"
}

/// The character of a unit's worst sector.
fn worst(unit: &str) -> char {
    const ORDER: &str = "!?ox.LHDSCP- ";
    unit.chars().min_by_key(|letter| ORDER.find(*letter)).unwrap_or(' ')
}

/// The state of a stripe, and its units.
pub fn stripe(stripe: &StripeDetail) -> String {
    let mut out = format!("band {} stripe {}: {}\n", stripe.band, stripe.stripe, stripe_word(stripe.state));
    match stripe.sequence {
        Some(sequence) => drop(writeln!(out, "  held against opening {sequence} of the band")),
        None => out += "  the band is not open or closed: nothing in it counts\n",
    }
    for member in &stripe.members {
        let slot = member.slot.map_or("no slot".to_owned(), |slot| format!("slot {slot}"));
        let (parity, bad) =
            (if member.is_parity { ", parity" } else { "" }, if member.is_bad { ", bad block" } else { "" });
        let _ = writeln!(out, "\nunit {}: {slot} die {} row {}{parity}{bad}", member.unit, member.die, member.row);
        for sector in &member.sectors {
            let mut text = sector.why.clone().unwrap_or_else(|| "good".to_owned());
            if let (Some(role), Some(lba), Some(version), Some(sequence)) =
                (&sector.role, sector.lba, sector.version, sector.band_sequence)
            {
                let _ = write!(text, "; {role}, lba {lba}, version {version}, opening {sequence}");
            }
            if let (Some(members), Some(stream), Some(crc)) = (sector.members, sector.stream, sector.payload_crc) {
                let _ = write!(text, ", members {members:#b}, stream {stream}, payload {crc:#010x}");
            }
            if let (Some(crc), true) = (sector.member_crc, member.is_parity) {
                let _ = write!(text, ", of the members {crc:#010x}");
            }
            if sector.is_current == Some(true) {
                text += "; current";
            }
            out += &wrap(&format!("  sector {}: ", sector.sector), 4, &text);
        }
    }
    out.push('\n');
    for (sector, (holds, rebuild)) in stripe.parity_holds.iter().zip(&stripe.rebuild).enumerate() {
        let text = match (rebuild, holds) {
            (RebuildState::NotNeeded, Some(true)) => "nothing is lost, parity is what the others say".to_owned(),
            (RebuildState::NotNeeded, Some(false)) => "nothing is lost, parity is not what the others say".to_owned(),
            (RebuildState::NotNeeded, None) => "nothing is lost, and there is no parity".to_owned(),
            (RebuildState::Possible { unit, role, lba: Some(lba), version: Some(version) }, _) => {
                format!("unit {unit} can be rebuilt: {role}, lba {lba}, version {version}")
            }
            (RebuildState::Possible { unit, role, .. }, _) => format!("unit {unit} can be rebuilt: {role}"),
            (RebuildState::Impossible { units, why }, _) => {
                let units: Vec<String> = units.iter().map(u32::to_string).collect();
                format!("units {} can't be rebuilt: {why}", units.join(", "))
            }
        };
        out += &wrap(&format!("sectors {sector}: "), 4, &text);
    }
    out
}

/// The words for a stripe.
pub fn stripe_word(state: StripeState) -> &'static str {
    match state {
        StripeState::Unwritten => "not written",
        StripeState::Whole => "whole",
        StripeState::Degraded => "degraded",
        StripeState::Torn => "torn",
        StripeState::Inconsistent => "inconsistent",
        StripeState::BeyondRedundancy => "beyond redundancy",
    }
}

/// The same, where there is little room.
fn short_word(state: StripeState) -> &'static str {
    match state {
        StripeState::Whole => "",
        StripeState::Degraded => "deg",
        StripeState::Torn => "torn",
        StripeState::Inconsistent => "inc",
        StripeState::BeyondRedundancy => "bey",
        StripeState::Unwritten => "-",
    }
}
