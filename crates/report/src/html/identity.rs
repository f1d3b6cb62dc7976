//! Identity of the reviewed device, and of the host.

use super::fold::folded;
use super::table::facts;
use crate::devices::{Devices, clip};
use crate::plot::Table;
use crate::unit::capacity;
use maud::{Markup, html};
use results::{HostInfo, TargetInfo, TargetKind};

/// Names a kind of target for people.
pub fn kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Model => "a model, in virtual time",
        TargetKind::File => "a file on a mounted file system",
        TargetKind::BlockDevice => "a block device",
        TargetKind::Served => "a card that was served, by the clock",
        TargetKind::Directory => "a directory on a mounted device",
        TargetKind::Imported => "imported from another tool",
    }
}

/// Device and host.
pub fn section(devices: &Devices) -> Markup {
    let body = html! {
        @if devices.compared() {
            (super::table::table(&side_by_side(devices)))
        } @else {
            @for (_, _, result) in devices.iter() {
                div.columns {
                    div { h3 { "Device" } (facts(&device(&result.target))) }
                    div { h3 { "Host" } (facts(&host(&result.host))) }
                }
            }
        }
    };
    folded("device", "Device and host", false, &body)
}

fn yes_no(known: Option<bool>, yes: &str, no: &str) -> Option<String> {
    known.map(|known| if known { yes } else { no }.to_string())
}

fn device(target: &TargetInfo) -> Vec<(String, String)> {
    let own = [
        ("Kind", Some(kind(target.kind).to_string())),
        ("Named", Some(clip(&target.name, 200))),
        ("Title", Some(clip(&target.title, 200))),
        ("Under test", (target.capacity_bytes > 0).then(|| capacity(target.capacity_bytes))),
        ("Sold as", target.sold_bytes.map(capacity)),
        ("Power-loss protection", yes_no(target.power_loss_protection, "yes", "no")),
        ("Volatile write cache", yes_no(target.volatile_write_cache, "yes: syncs must empty it", "no")),
    ];
    let own = own.into_iter().filter_map(|(label, value)| Some((label.to_string(), value?)));
    own.filter(|(_, value)| !value.is_empty()).chain(pairs(&target.facts)).collect()
}

fn host(host: &HostInfo) -> Vec<(String, String)> {
    let mut own = vec![("Name".to_string(), clip(&host.name, 200))];
    if host.cores > 0 {
        own.push(("Processors".into(), host.cores.to_string()));
    }
    own.into_iter().filter(|(_, value)| !value.is_empty()).chain(pairs(&host.facts)).collect()
}

fn pairs(facts: &[results::Fact]) -> impl Iterator<Item = (String, String)> {
    facts.iter().map(|fact| (clip(&fact.label, 80), clip(&fact.value, 300)))
}

fn side_by_side(devices: &Devices) -> Table {
    let all: Vec<Vec<(String, String)>> = devices
        .iter()
        .map(|(_, _, result)| {
            let of_host = host(&result.host).into_iter().map(|(label, value)| (format!("Host: {label}"), value));
            device(&result.target).into_iter().chain(of_host).collect()
        })
        .collect();
    let mut labels: Vec<&str> = Vec::new();
    for (label, _) in all.iter().flatten() {
        if !labels.contains(&label.as_str()) {
            labels.push(label);
        }
    }
    let cell = |facts: &Vec<(String, String)>, label: &str| {
        facts.iter().find(|(known, _)| known == label).map_or("–".to_string(), |(_, value)| value.clone())
    };
    let rows = labels
        .iter()
        .map(|&label| std::iter::once(label.to_string()).chain(all.iter().map(|facts| cell(facts, label))).collect());
    let names = devices.iter().map(|(_, name, _)| name.to_string());
    let columns: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    Table { caption: "Side by side".into(), text_columns: columns.len() - 1, rows: rows.collect(), columns }
}
