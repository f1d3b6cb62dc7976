//! Tables of numbers with a header, such as those in `published/`, as results.
//!
//! Columns that say what was asked: `percent_in_use`, `file_percent` (the part of the device that the load goes to, the rest
//! of what is in use staying as it is), `threads` (or `readers`), `block_bytes`, `read_percent`, `queue_depth`,
//! `mode`. Columns of figures: `mib_per_s`, `mb_per_s`, `iops`; with a device's name in front where there are several
//! (`duo_320_mib_per_s`); `latency_us` (the mean), `p99_us`. All others are left alone.

use crate::fit::error::{FitError, TableProblem};
use results::{Axis, IoClass, LatencySummary, Point, ReviewResult, Sweep};
use serde_json::json;
use std::collections::BTreeMap;

const AXES: &str = "percent_in_use, file_percent, threads, readers, block_bytes, read_percent, queue_depth";
const FIGURES: [(&str, f64); 3] = [("mib_per_s", 1_048_576.0), ("mb_per_s", 1e6), ("iops", 0.0)];
/// Size of a request where the table does not say: what the published measurements used.
const BLOCK_BYTES: f64 = 16_384.0;
/// The same of databases' readers.
const READER_BLOCK_BYTES: f64 = 8_192.0;
/// Rows that are read.
const MAX_ROWS: usize = 10_000;

/// Returns whether a file's beginning looks like such a table.
pub fn is_table(path: &str) -> bool {
    let name = path.rsplit_once(':').map_or(path, |(file, _)| file);
    [path, name].iter().any(|name| name.to_ascii_lowercase().ends_with(".csv"))
}

/// Reads a table; `device` is whose figures of several are meant.
pub fn read_table(file: &str, text: &str, device: Option<&str>) -> Result<ReviewResult, FitError> {
    let wrong = |problem| FitError::Table { file: file.into(), problem };
    let table = Table::parse(text).map_err(wrong)?;
    let column = table.figure_column(device).map_err(wrong)?;
    let sweep = table.sweep(&column).map_err(wrong)?;
    let name = device.unwrap_or(file);
    Ok(shell(name, sweep))
}

struct Table {
    header: Vec<String>,
    /// With their line numbers.
    rows: Vec<(usize, Vec<String>)>,
}

struct FigureColumn {
    at: usize,
    unit_bytes: f64,
}

impl Table {
    fn parse(text: &str) -> Result<Table, TableProblem> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let cells =
            |line: &str| line.split(',').map(|cell| cell.trim().trim_matches('"').to_string()).collect::<Vec<_>>();
        let (_, first) = lines.next().ok_or(TableProblem::Empty)?;
        let header = cells(first.trim_start_matches('\u{feff}')).iter().map(|name| name.to_lowercase()).collect();
        let rows: Vec<_> = lines.take(MAX_ROWS).map(|(i, line)| (i + 1, cells(line))).collect();
        if rows.is_empty() { Err(TableProblem::Empty) } else { Ok(Table { header, rows }) }
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    fn figure_column(&self, device: Option<&str>) -> Result<FigureColumn, TableProblem> {
        for (name, unit_bytes) in FIGURES {
            if let (None, Some(at)) = (device, self.at(name)) {
                return Ok(FigureColumn { at, unit_bytes });
            }
        }
        let mut devices = BTreeMap::new();
        for (at, column) in self.header.iter().enumerate() {
            for (name, unit_bytes) in FIGURES {
                if let Some(device) = column.strip_suffix(name).and_then(|rest| rest.strip_suffix('_')) {
                    devices.insert(device.to_string(), FigureColumn { at, unit_bytes });
                }
            }
        }
        let known = devices.keys().cloned().collect::<Vec<_>>().join(", ");
        match (device, devices.len()) {
            (_, 0) => Err(TableProblem::NoFigure),
            (None, 1) => Ok(devices.into_values().next().expect("there is one")),
            (None, _) => Err(TableProblem::SeveralDevices(known.into())),
            (Some(name), _) => devices
                .remove(name)
                .ok_or_else(|| TableProblem::NoSuchDevice { name: name.into(), known: known.into() }),
        }
    }

    fn number(&self, row: usize, at: usize) -> Result<f64, TableProblem> {
        let (line, cells) = &self.rows[row];
        let cell = cells.get(at).cloned().unwrap_or_default();
        let number = cell.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        let column = self.header[at].clone();
        number.ok_or(TableProblem::NotANumber {
            line: *line,
            column: column.into(),
            cell: cell.chars().take(40).collect::<String>().into(),
        })
    }

    fn sweep(&self, column: &FigureColumn) -> Result<Sweep, TableProblem> {
        let fills = self.at("percent_in_use").or(self.at("fill_percent"));
        let (files, readers) = (self.at("file_percent"), self.at("readers"));
        let threads = self.at("threads").or(readers);
        let (blocks, shares, depths) = (self.at("block_bytes"), self.at("read_percent"), self.at("queue_depth"));
        // A drive whose rest is in use is as full at any size of the file.
        let axis = match (files.or(fills), threads, blocks, shares, depths) {
            (Some(at), ..) => (Axis::FillPercent, at),
            (_, Some(at), ..) => (Axis::Threads, at),
            (_, _, Some(at), ..) => (Axis::BlockBytes, at),
            (_, _, _, Some(at), _) => (Axis::ReadPercent, at),
            (.., Some(at)) => (Axis::QueueDepth, at),
            _ => return Err(TableProblem::NoAxis(AXES)),
        };
        let modes = self.at("mode");
        let mut points = Vec::new();
        for row in 0..self.rows.len() {
            let optional = |at: Option<usize>| at.map(|at| self.number(row, at)).transpose();
            let read_percent = optional(shares)?;
            let told = modes.and_then(|at| self.rows[row].1.get(at)).cloned();
            let mode = told.unwrap_or_else(|| {
                match (read_percent, files.or(fills), readers) {
                    (Some(share), ..) if share >= 100.0 => "rndrd",
                    (Some(share), ..) if share > 0.0 => "rndrw",
                    (Some(_), ..) | (None, Some(_), _) => "rndwr",
                    (None, None, Some(_)) => "rndrd",
                    _ => "rndwr",
                }
                .into()
            });
            let block = optional(blocks)?.unwrap_or(if readers.is_some() { READER_BLOCK_BYTES } else { BLOCK_BYTES });
            let figure = self.number(row, column.at)?;
            let bw_bytes = if column.unit_bytes > 0.0 { figure * column.unit_bytes } else { figure * block };
            let lat_ns =
                LatencySummary { mean: optional(self.at("latency_us"))?.unwrap_or(0.0) * 1e3, ..Default::default() };
            let class = IoClass { total_ios: 1, iops: bw_bytes / block, bw_bytes, lat_ns, ..IoClass::default() };
            let fill = match (optional(fills)?, optional(files)?) {
                (fill, Some(file)) if file <= 0.0 || file > fill.unwrap_or(100.0) => {
                    return Err(TableProblem::FileBeyondFill { line: self.rows[row].0 });
                }
                (fill, _) => fill.unwrap_or(0.0) / 100.0,
            };
            let load = json!({
                "kind": "table", "mode": mode, "block_bytes": block as u64,
                "threads": optional(threads)?.map(|n| n as u64),
                "queue_depth": optional(depths)?.map(|n| n as u64), "read_percent": read_percent,
                "file_share": optional(files)?.map(|percent| percent / 100.0),
            });
            let mut point = Point { x: self.number(row, axis.1)?, load, fill, ..Point::default() };
            if mode == "rndrd" || mode == "seqrd" {
                point.read = class
            } else {
                point.write = class
            }
            points.push(point);
        }
        let name = match axis.0 {
            Axis::FillPercent => "fill",
            Axis::Threads => "threads",
            Axis::BlockBytes => "blocks",
            Axis::ReadPercent => "mix",
            _ => "depth",
        };
        let (title, note) = ("as a table has it".into(), String::new());
        Ok(Sweep { name: name.into(), phase: name.into(), title, note, axis: axis.0, points })
    }
}

fn shell(name: &str, sweep: Sweep) -> ReviewResult {
    let mut review = import::published(import::PUBLISHED[0]).expect("a table that is compiled in");
    review.name = name.to_string();
    review.target.name = name.to_string();
    review.target.title = String::new();
    review.target.sold_bytes = None;
    review.target.facts = Vec::new();
    review.price = None;
    review.sweeps = vec![sweep];
    review
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILL: &str = include_str!("../../../../published/fill-percent.csv");
    const VIOLIN: &str = include_str!("../../../../published/violin-3205-slob.csv");

    #[test]
    fn tables_say_what_the_published_ones_say() {
        let of = |name: &str| import::published(name).unwrap().sweeps[0].points.clone();
        let figures = |points: &[Point]| points.iter().map(|p| (p.x, p.bw_bytes(), p.fill)).collect::<Vec<_>>();
        let duo = read_table("fill.csv", FILL, Some("duo_320")).unwrap();
        assert_eq!(figures(&duo.sweeps[0].points), figures(&of("published:duo-320-fill")));
        let violin = read_table("violin.csv", VIOLIN, None).unwrap();
        let points = &violin.sweeps[0].points;
        assert_eq!(figures(points), figures(&of("published:violin-3205")));
        assert_eq!((points[0].read.lat_ns.mean, points[5].load["threads"].as_u64()), (107_000.0, Some(64)));
    }

    #[test]
    fn a_table_that_says_too_little_is_refused_with_what_is_missing() {
        let error = |text: &str, device| read_table("t.csv", text, device).unwrap_err().to_string();
        assert!(error(FILL, None).contains("duo_320, tachion_400"));
        assert!(error(FILL, Some("duo")).contains("no device 'duo'"));
        assert!(error("", None).contains("no rows"));
        assert!(error("a,b\n1,2\n", None).contains("mib_per_s"));
        assert!(error("a,mib_per_s\n1,2\n", None).contains("percent_in_use"));
        assert!(error("threads,mib_per_s\n1,x\n", None).contains("line 2: 'x'"));
        for row in ["0,50,9", "60,50,9", "101,,9"] {
            let text = format!("file_percent,percent_in_use,mib_per_s\n{row}\n");
            assert!(error(&text, None).starts_with("t.csv: line 2: "), "{}", error(&text, None));
        }
    }

    #[test]
    fn the_part_of_a_full_drive_that_a_load_goes_to_is_a_column() {
        let table = read_table("t.csv", "file_percent,percent_in_use,mib_per_s\n10,100,90\n50,100,60\n", None).unwrap();
        let points = &table.sweeps[0].points;
        let told = points.iter().map(|p| (p.x, p.fill, p.load["file_share"].as_f64().unwrap(), p.write.bw_bytes));
        let mib = 1_048_576.0;
        assert_eq!(told.collect::<Vec<_>>(), [(10.0, 1.0, 0.1, 90.0 * mib), (50.0, 1.0, 0.5, 60.0 * mib)]);
    }
}
