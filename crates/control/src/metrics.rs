//! Metrics in OpenMetrics text, which Prometheus reads: names and units by its conventions.

use crate::page::{Page, Value};
use crate::served::Served;
use crate::words::{Frontend, Smart};
use device::SECTOR_BYTES;
use live::{BOUNDS_NS, Buckets, Gc, Kind, ModuleState, ModuleStatus, Snapshot};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::{Registry, Unit};

/// The media type of [`metrics`].
pub const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Bytes of a data unit of the log of health.
const DATA_UNIT_BYTES: u64 = 512_000;

/// All metrics of cards, as of now. Their names tell them apart.
pub fn metrics(served: &[Served]) -> String {
    let mut page = Page::default();
    for served in served {
        let moment =
            Moment { snapshot: served.live.snapshot(), frontend: served.frontend(), card: served.card.clone() };
        page.name = served.name.clone();
        moment.note(&mut page);
    }
    let mut registry = Registry::with_prefix("flashrig");
    registry.register_collector(Box::new(page));
    let mut out = String::new();
    encode(&mut out, &registry).expect("a string takes everything");
    out
}

/// A card at one moment.
#[derive(Debug)]
struct Moment {
    snapshot: Snapshot,
    frontend: Frontend,
    card: String,
}

impl Moment {
    fn note(&self, page: &mut Page) {
        self.requests(page);
        self.management(page);
        self.state(page);
        self.modules(page);
        self.health(page);
    }

    fn requests(&self, page: &mut Page) {
        let latencies = &self.snapshot.latencies;
        let each = || Kind::ALL.iter().zip(latencies);
        let answered = |buckets: &Buckets| buckets.counts.iter().sum::<u64>();
        page.counters(
            ("host_requests", None, "Requests of the host that were answered without an error"),
            "op",
            each().map(|(kind, buckets)| (kind.name(), answered(buckets))),
        );
        page.counters(
            ("host", Some(Unit::Bytes), "Bytes of these requests"),
            "op",
            each().map(|(kind, buckets)| (kind.name(), buckets.bytes)),
        );
        let errors = self.snapshot.status.stats.errors;
        page.counter(("host_errors", None, "Requests of the host that did not work"), errors);
        let help = "Time from being asked to being answered";
        for (kind, buckets) in each() {
            page.add(("host_request_duration", Some(Unit::Seconds), help), vec![("op", kind.name().into())], {
                let bounds = BOUNDS_NS.iter().map(|&bound| bound as f64 / 1e9).chain([f64::INFINITY]);
                Value::Histogram { sum: seconds(buckets.sum_ns), counts: bounds.zip(buckets.counts).collect() }
            });
        }
        page.gauge(("clients", None, "Connections of clients"), self.frontend.clients.len() as u64);
        let help = "Connections that were turned away, because there were too many";
        page.counter(("clients_turned_away", None, help), self.frontend.turned_away);
        page.gauge(("exports", None, "Names under which the card can be asked"), self.frontend.exports.len() as u64);
    }

    fn management(&self, page: &mut Page) {
        let status = &self.snapshot.status;
        page.counters(
            ("flash_written", Some(Unit::Bytes), "Bytes programmed since the card's last start, by cause"),
            "cause",
            [
                ("host", status.host_sectors),
                ("relocation", status.relocated_sectors),
                ("parity", status.parity_sectors),
                ("padding", status.padding_sectors),
                ("metadata", status.metadata_sectors),
            ]
            .map(|(cause, sectors)| (cause, sectors * SECTOR_BYTES)),
        );
        page.gauge(("bands", None, "Bands of the card"), u64::from(status.bands));
        page.gauge(("free_bands", None, "Bands that are erased"), u64::from(status.free_bands));
        page.gauge(
            ("reserve_bands", None, "Free bands that only collection may open"),
            u64::from(status.reserve_bands),
        );
        let target = status.settings.target_free_bands;
        let help = "Free bands, above the reserve, that collection works towards";
        page.gauge(("target_free_bands", None, help), u64::from(target));
        page.gauge(("gc_active", None, "Garbage collection is at work"), u64::from(status.collects));
        let stops = status.settings.gc == Gc::StopTheWorld;
        page.gauge(("gc_stops_host", None, "Garbage collection stops the host's writes"), u64::from(stops));
        page.gauge(("fill", Some(ratio()), "Share of the user capacity that holds something"), status.fill);
        for (active, progress, what, share) in [
            ("rebuild_active", "rebuild_progress", "rebuild of a module", status.rebuild),
            ("scrub_active", "scrub_progress", "scrub", status.scrub),
        ] {
            page.gauge((active, None, &format!("A {what} is under way")), u64::from(share.is_some()));
            if let Some(share) = share {
                page.gauge((progress, Some(ratio()), &format!("Share of the {what} that is done")), share);
            }
        }
        if let Some(rate) = status.settings.rebuild_bytes_per_s {
            page.gauge(("rebuild_limit_bytes_per_second", None, "Most that a rebuild programs in a second"), rate);
        }
    }

    fn state(&self, page: &mut Page) {
        let status = &self.snapshot.status;
        let help = "Version of the server, and the profile that the card was made from";
        let labels = vec![("version", env!("CARGO_PKG_VERSION").into()), ("card", self.card.clone())];
        page.add(("build", None, help), labels, Value::Info);
        page.gauge(("size", Some(Unit::Bytes), "Bytes that can be asked for"), status.size_bytes);
        for (name, help, is_so) in [
            ("powered", "The card has power", status.powered),
            ("stopped", "The card has stopped: more is gone than parity stands for", status.stopped),
            ("read_only", "The card takes no writes", status.read_only),
            ("degraded", "A module is missing or being rebuilt", status.degraded),
        ] {
            page.gauge((name, None, help), u64::from(is_so));
        }
        page.counter(("power_cuts", None, "Times the power was cut since the server started"), status.power_cuts);
        for (name, help, count) in [
            (
                "mismatched_sectors",
                "Sectors that a drive read otherwise than they were last written",
                status.mismatched_sectors,
            ),
            ("rebuilt_sectors", "Sectors that were rebuilt from their stripes for a read", status.rebuilt_sectors),
            ("lost_sectors", "Sectors that could be neither read nor rebuilt", status.lost_sectors),
            ("hedged_reads", "Reads for which the rest of the stripe was read as well", status.hedged_reads),
        ] {
            page.counter((name, None, help), count);
        }
        if let Some(log) = &status.log {
            for (name, help, count) in [
                ("log_records", "Records that were written to the write-ahead log", log.records),
                ("log_sectors", "Sectors in the records of the log", log.sectors),
                ("log_flushes", "Flushes and FUA writes that the log answered", log.flushes),
                (
                    "log_flushes_without_room",
                    "Flushes and FUA writes that padded a stripe, for the log had no room for them",
                    log.flushes_without_room,
                ),
            ] {
                page.counter((name, None, help), count);
            }
            let help = "Bytes of the records of the log, on one of their two modules";
            page.counter(("log", Some(Unit::Bytes), help), log.bytes);
            let help = "Sectors that the last start found in the log only";
            page.gauge(("log_replayed_sectors", None, help), log.replayed_sectors);
        }
        if let Some(ns) = status.recovery_ns {
            let help = "Time that the last start took to find the card on its media, on flash of its own";
            page.gauge(("recovery", Some(Unit::Seconds), help), seconds(ns));
        }
        let help = "Most that the card was behind the clock in the last minute";
        page.gauge(("lateness", Some(Unit::Seconds), help), seconds(status.pace.most_behind_ns));
        let help = "Share of the last minute's events that came more than a millisecond late";
        page.gauge(("late_events", Some(ratio()), help), status.pace.late_share);
    }

    fn modules(&self, page: &mut Page) {
        let modules = &self.snapshot.modules;
        page.gauges(
            ("modules", None, "Slots for modules, by what is in them"),
            "state",
            ModuleState::ALL
                .map(|state| (state.name(), modules.iter().filter(|module| module.state == state).count() as u64)),
        );
        let present: Vec<_> = modules.iter().filter(|module| module.present).collect();
        for (name, help, of) in [
            (
                "module_bad_blocks",
                "Erase blocks that are not used any more",
                (|module| module.bad_blocks) as fn(&ModuleStatus) -> u64,
            ),
            ("module_cycles_mean", "Mean program and erase cycles of a module's blocks", |module| module.mean_cycles),
            ("module_cycles_max", "Program and erase cycles of a module's most worn block", |module| {
                module.max_cycles.into()
            }),
        ] {
            let values = present.iter().map(|module| (module.slot.to_string(), of(module)));
            page.gauges((name, None, help), "slot", values);
        }
    }

    fn health(&self, page: &mut Page) {
        let Some(health) = self.snapshot.health else { return };
        let smart = Smart::from(health);
        let warning = smart.critical_warning;
        page.gauges(
            ("smart_critical_warning", None, "What needs attention"),
            "kind",
            [
                ("available_spare", warning.available_spare),
                ("reliability_degraded", warning.reliability_degraded),
                ("read_only", warning.read_only),
            ]
            .map(|(kind, is_so)| (kind, u64::from(is_so))),
        );
        for (name, help, percent) in [
            ("smart_available_spare", "Share of the spare that is left", smart.available_spare),
            ("smart_available_spare_threshold", "Below it there is a warning", smart.available_spare_threshold),
            ("smart_used", "Share of the rated cycles that is used", smart.percentage_used),
        ] {
            page.gauge((name, Some(ratio()), help), f64::from(percent) / 100.0);
        }
        for (name, unit, help, total) in [
            (
                "smart_read",
                Some(Unit::Bytes),
                "Bytes read in the card's life",
                smart.data_units_read.saturating_mul(DATA_UNIT_BYTES),
            ),
            (
                "smart_written",
                Some(Unit::Bytes),
                "Bytes written in the card's life",
                smart.data_units_written.saturating_mul(DATA_UNIT_BYTES),
            ),
            ("smart_host_read_commands", None, "Reads in the card's life", smart.host_read_commands),
            ("smart_host_write_commands", None, "Writes in the card's life", smart.host_write_commands),
            (
                "smart_busy",
                Some(Unit::Seconds),
                "Time with requests in flight, in whole minutes",
                smart.controller_busy_time * 60,
            ),
            ("smart_power_cycles", None, "Starts", smart.power_cycles),
            ("smart_power_on", Some(Unit::Seconds), "Time with power, in whole hours", smart.power_on_hours * 3600),
            ("smart_unsafe_shutdowns", None, "Starts after a power cut", smart.unsafe_shutdowns),
            ("smart_media_errors", None, "Sectors that could not be read", smart.media_errors),
        ] {
            page.counter((name, unit, help), total);
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Returns the unit of shares: Prometheus's convention is the singular.
fn ratio() -> Unit {
    Unit::Other("ratio".into())
}
