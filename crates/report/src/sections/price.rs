//! Cost of a byte and of a request a second.

use super::Section;
use crate::devices::{Devices, clip};
use crate::figures::{best_iops, price_per_gb};
use crate::plot::Table;
use crate::unit::{THIN, Unit, capacity, three_digits};
use results::ReviewResult;

/// Price, price per GB, price per thousand random reads and writes a second.
pub fn section(devices: &Devices) -> Option<Section> {
    let mut section = Section::new("price", "Price");
    let mut rows = Vec::new();
    for (i, name, result) in devices.iter() {
        let Some(price) = &result.price else { continue };
        let currency = clip(&price.currency, 12);
        let money = |amount: f64| format!("{}{THIN}{currency}", three_digits(amount));
        let per_iops = |sweep: &str| match best_iops(result, sweep) {
            Some((iops, threads)) => {
                format!("{} ({}, {threads} threads)", money(price.amount / iops * 1e3), Unit::Iops.show(iops))
            }
            None => "–".into(),
        };
        rows.push(vec![
            if devices.compared() { name.to_string() } else { clip(&result.target.title, 200) },
            money(price.amount),
            sold(result),
            price_per_gb(result).map_or("–".into(), money),
            per_iops("threads-rndrd"),
            per_iops("threads-rndwr"),
        ]);
        if !price.source.trim().is_empty() {
            section.note(devices.labelled(i, &format!("Price from: {}", clip(&price.source, 300))));
        }
    }
    if rows.is_empty() {
        return None;
    }
    section
        .note("Requests a second are the most that any number of threads got, in the steady state that was measured.");
    let columns = ["Device", "Price", "Capacity", "Per GB", "Per 1,000 random reads/s", "Per 1,000 random writes/s"];
    let columns = columns.map(String::from).to_vec();
    section.tables.push(Table { caption: "Price".into(), columns, rows, text_columns: 0 });
    Some(section)
}

fn sold(result: &ReviewResult) -> String {
    result.target.sold_bytes.map_or("–".into(), capacity)
}
