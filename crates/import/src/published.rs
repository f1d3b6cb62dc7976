//! Published tables as results, so that they can be laid over a review as one more series.
//!
//! A table is here when it has figures against something that a sweep of ours has too. Bounds ("at least 1,000 MB/s")
//! and peaks over a range of sessions are no points; `flashrig validate` holds the model against those.

use crate::shell::{self, Origin, fact};
use crate::{ImportError, Problem, Table};
use results::{Axis, IoClass, LatencySummary, Point, Price, ReviewResult, Sweep};
use serde_json::json;

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;
const FILL_BLOCK_BYTES: u64 = 16 << 10;
const SLOB_BLOCK_BYTES: u64 = 8 << 10;
const BLOG_2010: &str = "ssdperformanceblog, December 2010";
const FLASHDBA_2012: &str = "flashdba, 2012";

/// Names that [`published`] knows.
pub const PUBLISHED: &[&str] = &[
    "published:tachion-400-fill",
    "published:tachion-400-fill-gib",
    "published:duo-320-fill",
    "published:violin-3205",
];

/// A published table by its name, one of [`PUBLISHED`].
pub fn published(name: &str) -> Result<ReviewResult, ImportError> {
    match name {
        "published:tachion-400-fill" => Ok(TACHION.review(name, &percent_sweep("tachion_400_mib_per_s"))),
        "published:tachion-400-fill-gib" => Ok(TACHION.review(name, &gib_sweep())),
        "published:duo-320-fill" => Ok(DUO.review(name, &percent_sweep("duo_320_mib_per_s"))),
        "published:violin-3205" => Ok(VIOLIN.review(name, &violin_sweep())),
        _ => Err(ImportError::new(name, None, Problem::UnknownPublished { known: PUBLISHED })),
    }
}

/// A device that others measured.
struct Device {
    title: &'static str,
    source: &'static str,
    sold_bytes: Option<u64>,
    /// As prices.csv calls it.
    priced_as: Option<&'static str>,
}

const TACHION: Device = Device {
    title: "Virident tachIOn 400 GB SLC, as published",
    source: BLOG_2010,
    sold_bytes: Some(400_000_000_000),
    priced_as: Some("tachIOn 400 GB SLC"),
};
const DUO: Device = Device {
    title: "Fusion-io ioDrive Duo 320 GB SLC, as published",
    source: BLOG_2010,
    sold_bytes: Some(320_000_000_000),
    priced_as: Some("ioDrive Duo 320 GB SLC"),
};
const VIOLIN: Device =
    Device { title: "Violin 3205 SLC array, as published", source: FLASHDBA_2012, sold_bytes: None, priced_as: None };

impl Device {
    fn review(&self, name: &str, sweep: &Sweep) -> ReviewResult {
        let origin = Origin {
            name: name.into(),
            tool: self.source.into(),
            facts: vec![fact("source", "Source", self.source)],
            started: None,
            seconds: 0.0,
        };
        let mut review = shell::review(origin, vec![sweep.clone()]);
        review.target.title = self.title.into();
        review.target.sold_bytes = self.sold_bytes;
        review.price = self.priced_as.and_then(price);
        review
    }
}

fn price(device: &str) -> Option<Price> {
    let table = Table::get("prices");
    let at = table.texts("device").iter().position(|name| name == device)?;
    let amount = table.numbers("usd")[at];
    let source = "published/prices.csv".into();
    amount.is_finite().then(|| Price { amount, currency: "USD".into(), source })
}

fn percent_sweep(column: &str) -> Sweep {
    let table = Table::get("fill-percent");
    fill_sweep(table.numbers("percent_in_use").into_iter().zip(table.numbers(column)))
}

/// The table that has space in use in GiB, of the capacity that is sold.
fn gib_sweep() -> Sweep {
    let table = Table::get("tachion-400-fill");
    let sold_bytes = TACHION.sold_bytes.expect("known") as f64;
    let percents = table.numbers("in_use_gib").into_iter().map(|gib| gib * GIB / sold_bytes * 100.0);
    fill_sweep(percents.zip(table.numbers("mib_per_s")))
}

/// Percent in use and MiB/s.
fn fill_sweep(figures: impl Iterator<Item = (f64, f64)>) -> Sweep {
    let point = |(percent, mib_per_s): (f64, f64)| {
        let bw_bytes = mib_per_s * MIB;
        let write = IoClass { iops: bw_bytes / FILL_BLOCK_BYTES as f64, bw_bytes, ..IoClass::default() };
        let load = json!({ "kind": "published", "mode": "rndwr", "block_bytes": FILL_BLOCK_BYTES });
        Point { x: percent, load, fill: percent / 100.0, write, ..Point::default() }
    };
    Sweep {
        name: "fill".into(),
        phase: "fill".into(),
        title: format!("16 KiB random writes against space in use ({BLOG_2010})"),
        note: "as published; requests a second are bytes over block size, the number of threads was not stated".into(),
        axis: Axis::FillPercent,
        points: figures.map(point).collect(),
    }
}

fn violin_sweep() -> Sweep {
    let table = Table::get("violin-3205-slob");
    let columns = ["readers", "waits", "time_s", "latency_us", "iops"].map(|column| table.numbers(column));
    let points = (0..columns[0].len()).map(|i| {
        let [readers, waits, _, latency_us, iops] = [0, 1, 2, 3, 4].map(|column| columns[column][i]);
        let read = IoClass {
            total_ios: waits as u64,
            io_bytes: waits as u64 * SLOB_BLOCK_BYTES,
            iops,
            bw_bytes: iops * SLOB_BLOCK_BYTES as f64,
            // The mean alone was published: minimum and maximum are not known, and there are no percentiles.
            lat_ns: LatencySummary { mean: latency_us * 1e3, n: waits as u64, ..LatencySummary::default() },
            histogram: None,
        };
        let load = json!({ "kind": "published", "mode": "rndrd", "block_bytes": SLOB_BLOCK_BYTES, "threads": readers });
        let seconds = if iops > 0.0 { waits / iops } else { 0.0 };
        Point { x: readers, load, seconds, read, ..Point::default() }
    });
    Sweep {
        name: "threads-rndrd".into(),
        phase: "threads".into(),
        title: format!("8 KiB random reads against SLOB readers ({FLASHDBA_2012})"),
        note: "readers of a database on a host with 8 cores, as published; of latencies the mean alone was".into(),
        axis: Axis::Threads,
        points: points.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_tables_have_the_figures_that_were_published() {
        for name in PUBLISHED {
            let review = published(name).unwrap();
            assert_eq!(review.name, *name);
            let [sweep] = &review.sweeps[..] else { panic!("{name}") };
            assert!(sweep.points.windows(2).all(|pair| pair[0].x < pair[1].x), "{name}");
            assert!(sweep.points.iter().all(|point| point.bw_bytes() > 0.0 && point.iops() > 0.0), "{name}");
        }
        let fill = |name: &str| published(name).unwrap().sweep("fill").unwrap().points.clone();
        let duo = fill("published:duo-320-fill");
        assert_eq!((duo.len(), duo[8].x, duo[8].bw_bytes()), (9, 100.0, 99.0 * MIB));
        let gib = fill("published:tachion-400-fill-gib");
        assert!((gib[3].x - 96.64).abs() < 0.01 && gib[3].bw_bytes() == 417.33 * MIB);
        let violin = published("published:violin-3205").unwrap();
        let point = &violin.sweep("threads-rndrd").unwrap().points[0];
        assert_eq!((point.x, point.read.iops, point.read.lat_ns.mean), (1.0, 7_139.2, 107_000.0));
        assert_eq!(published("published:duo-320-fill").unwrap().price.unwrap().amount, 11_670.0);
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_are_known() {
        let message = published("published:violin").unwrap_err().to_string();
        assert!(message.starts_with("published:violin: no published table") && message.contains("violin-3205"));
    }
}
