//! The schema of a card's file: every table and key, and the values that a key takes.
//!
//! The limits keep products of numbers within 64 bits and virtual time within centuries, so that nothing behind the
//! profile has to doubt them.

use crate::text::listed;
use crate::units::{parse_bytes, parse_share};
use results::words::grouped;
use std::fmt;

/// A value in its normal form.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text or a name.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A whole number: a count, bytes, nanoseconds, bytes a second.
    Count(u64),
    /// A share, dollars, watts.
    Real(f64),
}

/// The kind of values that a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Kind {
    /// A text on one line.
    Text,
    /// One of some names.
    Choice(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// A whole number.
    Count {
        min: u64,
        max: u64,
    },
    Nanoseconds {
        min: u64,
    },
    /// A size, as a number or a text with a unit.
    Bytes {
        min: u64,
        max: u64,
    },
    /// A capacity in units of 10^9 bytes.
    Gigabytes,
    /// A throughput, as a number or a text with a unit.
    BytesPerSecond,
    /// At least 0 and below 1.
    Share,
    Amount,
    /// A number above 0.
    Positive,
}

/// Longest time of one operation: a second.
const MAX_NS: u64 = 1_000_000_000;
/// Slowest and fastest path.
const RATES: (u64, u64) = (1_000_000, 1_000_000_000_000);
/// Largest capacity: an exbibyte.
const MAX_BYTES: u64 = 1 << 60;
const MAX_AMOUNT: f64 = 1e9;
/// Smallest number above 0: products and quotients of two stay finite.
const MIN_POSITIVE: f64 = 1e-9;

impl Kind {
    /// The value that a TOML value stands for.
    pub(crate) fn of_toml(&self, value: &toml_edit::Value) -> Option<Value> {
        use toml_edit::Value as Toml;
        match (self, value) {
            (
                Kind::Text | Kind::Choice(_) | Kind::Bytes { .. } | Kind::BytesPerSecond | Kind::Share,
                Toml::String(s),
            ) => self.of_text(s.value()),
            (Kind::Flag, Toml::Boolean(b)) => Some(Value::Flag(*b.value())),
            (Kind::Gigabytes | Kind::Share | Kind::Amount | Kind::Positive, Toml::Float(f)) => self.of_real(*f.value()),
            (Kind::Gigabytes | Kind::Share | Kind::Amount | Kind::Positive, Toml::Integer(i)) => {
                self.of_real(*i.value() as f64)
            }
            (_, Toml::Integer(i)) => self.of_count(u64::try_from(*i.value()).ok()?),
            _ => None,
        }
    }

    /// The value that a text stands for: a TOML string, or what follows `=` in a setting.
    pub(crate) fn of_text(&self, text: &str) -> Option<Value> {
        match self {
            Kind::Text => {
                (!text.trim().is_empty() && !text.chars().any(char::is_control)).then(|| Value::Text(text.to_string()))
            }
            Kind::Choice(names) => names.contains(&text).then(|| Value::Text(text.to_string())),
            Kind::Flag => text.parse().ok().map(Value::Flag),
            Kind::Count { .. } | Kind::Nanoseconds { .. } => self.of_count(text.replace('_', "").parse().ok()?),
            Kind::Bytes { .. } => self.of_count(parse_bytes(text).ok()?),
            Kind::BytesPerSecond => self.of_count(parse_bytes(text.strip_suffix("/s").unwrap_or(text)).ok()?),
            Kind::Share => self.of_real(parse_share(text).ok()?),
            Kind::Gigabytes | Kind::Amount | Kind::Positive => self.of_real(text.parse().ok()?),
        }
    }

    fn of_count(&self, number: u64) -> Option<Value> {
        let (min, max) = match *self {
            Kind::Count { min, max } | Kind::Bytes { min, max } => (min, max),
            Kind::Nanoseconds { min } => (min, MAX_NS),
            Kind::BytesPerSecond => RATES,
            _ => return None,
        };
        (min..=max).contains(&number).then_some(Value::Count(number))
    }

    fn of_real(&self, number: f64) -> Option<Value> {
        match self {
            Kind::Share => (0.0..1.0).contains(&number).then_some(Value::Real(number)),
            Kind::Amount => (0.0..=MAX_AMOUNT).contains(&number).then_some(Value::Real(number)),
            Kind::Positive => (MIN_POSITIVE..=MAX_AMOUNT).contains(&number).then_some(Value::Real(number)),
            Kind::Gigabytes => {
                let bytes = (number * 1e9).round();
                (1.0..=MAX_BYTES as f64).contains(&bytes).then_some(Value::Count(bytes as u64))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Text => write!(f, "a text without control characters"),
            Kind::Choice(names) => write!(f, "one of {}", listed(names)),
            Kind::Flag => write!(f, "true or false"),
            Kind::Count { min, max } => write!(f, "a whole number from {min} to {}", grouped(*max)),
            Kind::Nanoseconds { min } => write!(f, "nanoseconds, a whole number from {min} to {}", grouped(MAX_NS)),
            Kind::Bytes { min, max } => {
                write!(f, "bytes (8192, \"512KiB\", \"400GB\") from {} to {}", grouped(*min), grouped(*max))
            }
            Kind::Gigabytes => write!(f, "10^9 bytes, a number above 0"),
            Kind::BytesPerSecond => {
                let (min, max) = RATES;
                write!(f, "bytes a second (133_000_000, \"1.4GB\") from {} to {}", grouped(min), grouped(max))
            }
            Kind::Share => write!(f, "a share (0.1, \"10%\", \"1/64\") from 0 to below 1"),
            Kind::Amount => write!(f, "a number from 0 to {}", grouped(MAX_AMOUNT as u64)),
            Kind::Positive => write!(f, "a number above 0, to {}", grouped(MAX_AMOUNT as u64)),
        }
    }
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

/// A table of a file.
#[derive(Debug)]
pub(crate) struct TableSchema {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [Key],
}

impl TableSchema {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }
}

/// All tables of one sort of file.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) tables: &'static [TableSchema],
}

impl Schema {
    pub(crate) fn table(&self, name: &str) -> Option<&'static TableSchema> {
        self.tables.iter().find(|t| t.name == name)
    }
}

/// Victim policies, as files name them.
pub(crate) const VICTIMS: &[&str] = &["greedy", "cost-benefit", "fifo", "random-d"];
/// GC modes, as files name them.
pub(crate) const GC_MODES: &[&str] = &["paced", "stop-the-world"];
/// RAID levels, as files name them.
pub(crate) const RAID_LEVELS: &[&str] = &["raid0", "raid1", "raid10", "raid5"];
/// Ways of relocated sectors, as files name them.
pub(crate) const RELOCATION_PATHS: &[&str] = &["internal", "host"];
pub(crate) const HOST_LAYOUTS: &[&str] = &["stripe", "mirror", "raid5"];
pub(crate) const FABRICS: &[&str] = &["direct", "fibre_channel", "iscsi", "infiniband"];
const FABRIC_KEYS: &[Key] =
    &[rate("read_bytes_per_s"), rate("write_bytes_per_s"), time("latency_ns", 0), time("controller_ns", 0)];
pub(crate) const CACHE_MODES: &[&str] = &["writeback", "writethrough", "writearound", "passthrough"];
pub(crate) const CACHE_POLICIES: &[&str] = &["lru", "fifo", "clock", "s3-fifo"];
pub(crate) const PROMOTIONS: &[&str] = &["first-miss", "second-miss"];
/// Isolations of placed data that are moved, as files name them.
pub(crate) const ISOLATIONS: &[&str] = &["initial", "persistent"];
/// Rules by which a host places its writes, as files name them.
pub(crate) const PLACED_BY: &[&str] = &["heat", "thread", "file"];
/// Ways in which a host writes to zones, as files name them.
pub(crate) const ZONE_WRITES: &[&str] = &["pointer", "append"];
/// Kinds of device, as files name them.
pub(crate) const DEVICE_KINDS: &[&str] = &["flash", "disks", "volume"];

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind }
}

const fn counted(name: &'static str, min: u64, max: u64) -> Key {
    key(name, Kind::Count { min, max })
}

const fn time(name: &'static str, min: u64) -> Key {
    key(name, Kind::Nanoseconds { min })
}

const fn bytes(name: &'static str, min: u64, max: u64) -> Key {
    key(name, Kind::Bytes { min, max })
}

const fn rate(name: &'static str) -> Key {
    key(name, Kind::BytesPerSecond)
}

/// Bands, blocks of a plane: dies have some thousands.
const MAX_BANDS: u64 = 1 << 24;

/// A card's file.
pub(crate) static CARD: Schema = Schema {
    tables: &[
        TableSchema {
            name: "card",
            keys: &[
                key("kind", Kind::Choice(DEVICE_KINDS)),
                key("title", Kind::Text),
                key("vendor", Kind::Text),
                counted("year", 1950, 2100),
                key("interface", Kind::Text),
                bytes("user_bytes", 4096, MAX_BYTES),
                key("user_gb", Kind::Gigabytes),
                key("price_usd", Kind::Amount),
                key("power_watts", Kind::Amount),
                key("rack_units", Kind::Amount),
                counted("count", 1, 64),
                bytes("host_stripe_bytes", 4096, 1 << 30),
                key("host_layout", Kind::Choice(HOST_LAYOUTS)),
                counted("dead_cards", 0, 1 << 10),
                rate("rebuild_bytes_per_s"),
                key("power_loss_protection", Kind::Flag),
                key("acknowledge_flush_early", Kind::Flag),
                key("reads_first", Kind::Flag),
                counted("missing_module", 0, 1 << 12),
            ],
        },
        TableSchema {
            name: "geometry",
            keys: &[
                counted("modules", 1, 1 << 12),
                counted("channels_per_module", 1, 1 << 12),
                counted("dies_per_channel", 1, 1 << 12),
                counted("planes_per_die", 1, 64),
                counted("blocks_per_plane", 1, MAX_BANDS),
                counted("pages_per_block", 1, 1 << 16),
                bytes("page_bytes", 4096, 1 << 20),
                bytes("spare_bytes", 0, 1 << 18),
                key("multi_plane", Kind::Flag),
                key("independent_planes", Kind::Flag),
                counted("rows_sharing_cells", 1, 8),
            ],
        },
        TableSchema {
            name: "timing",
            keys: &[
                time("read_ns", 1),
                time("program_ns", 1),
                time("erase_ns", 1),
                time("slc_read_ns", 1),
                time("slc_program_ns", 1),
                time("slc_erase_ns", 1),
                rate("bus_bytes_per_s"),
                time("suspend_ns", 0),
                counted("max_suspends", 1, 1 << 16),
                counted("read_types_percent", 0, 95),
                counted("program_types_percent", 0, 95),
                counted("chance_percent", 0, 25),
            ],
        },
        TableSchema {
            name: "endurance",
            keys: &[
                counted("rated_cycles", 1, 1 << 30),
                counted("factory_bad_ppm", 0, 100_000),
                counted("erase_fail_ppm_at_rated", 0, 1_000_000),
                counted("program_fail_ppm_at_rated", 0, 1_000_000),
                counted("spare_threshold_percent", 0, 100),
            ],
        },
        TableSchema {
            name: "errors",
            keys: &[
                key("fresh", Kind::Share),
                key("rated_cycles", Kind::Share),
                key("retention_year", Kind::Share),
                key("disturb_read", Kind::Share),
                counted("ecc_bits", 0, 1 << 15),
                counted("read_retries", 0, 64),
                key("retry_factor", Kind::Share),
                counted("refresh_at_bits", 1, 1 << 15),
            ],
        },
        TableSchema {
            name: "patrol",
            keys: &[counted("interval_days", 1, 36_500), counted("block_reads", 1, 1 << 30)],
        },
        TableSchema {
            name: "ftl",
            keys: &[
                key("victim", Kind::Choice(VICTIMS)),
                counted("d", 1, 1 << 16),
                key("gc", Kind::Choice(GC_MODES)),
                counted("target_free_bands", 1, MAX_BANDS),
                counted("start_free_bands", 1, MAX_BANDS),
                counted("stop_free_bands", 1, MAX_BANDS),
                counted("reserve_bands", 2, MAX_BANDS),
                key("reserve", Kind::Share),
                counted("stripe_width", 1, 64),
                counted("parity_units", 0, 1),
                key("separate_streams", Kind::Flag),
                bytes("mapping_unit", 4096, 1 << 18),
                counted("static_wear_spread_cycles", 0, 1 << 30),
            ],
        },
        TableSchema {
            name: "link",
            keys: &[
                rate("read_bytes_per_s"),
                rate("write_bytes_per_s"),
                key("half_duplex", Kind::Flag),
                time("read_command_ns", 0),
                time("write_command_ns", 0),
                time("latency_ns", 0),
                time("write_latency_ns", 0),
                counted("queue_depth", 1, 65_536),
                bytes("housekeeping_bytes", 4096, 1 << 40),
                time("housekeeping_ns", 1),
            ],
        },
        TableSchema {
            name: "fabric",
            keys: &[key("through", Kind::Choice(FABRICS)), counted("controller_cores", 1, 1 << 10)],
        },
        TableSchema { name: "fibre_channel", keys: FABRIC_KEYS },
        TableSchema { name: "iscsi", keys: FABRIC_KEYS },
        TableSchema { name: "infiniband", keys: FABRIC_KEYS },
        TableSchema {
            name: "buffer",
            keys: &[
                bytes("bytes", 4096, 1 << 40),
                key("capacitor_joules", Kind::Amount),
                key("drain_watts", Kind::Amount),
            ],
        },
        TableSchema {
            name: "relocation",
            keys: &[
                key("path", Kind::Choice(RELOCATION_PATHS)),
                time("sector_ns", 0),
                counted("sectors_under_way", 1, 1 << 24),
            ],
        },
        TableSchema {
            name: "map_cache",
            keys: &[bytes("bytes", 4096, 1 << 40), bytes("page_covers", 1 << 16, 1 << 30), time("hit_ns", 0)],
        },
        TableSchema {
            name: "slc_cache",
            keys: &[counted("bands", 1, MAX_BANDS), counted("bits_per_cell", 2, 8), rate("fold_bytes_per_s")],
        },
        TableSchema {
            name: "placement",
            keys: &[
                counted("handles", 1, ftl::MAX_HANDLES as u64),
                key("isolation", Kind::Choice(ISOLATIONS)),
                key("by", Kind::Choice(PLACED_BY)),
            ],
        },
        TableSchema {
            name: "zones",
            keys: &[
                counted("bands", 1, 1 << 10),
                counted("count", 1, MAX_BANDS),
                counted("max_open", 1, ftl::MAX_ACTIVE_ZONES as u64),
                counted("max_active", 1, ftl::MAX_ACTIVE_ZONES as u64),
                key("writes", Kind::Choice(ZONE_WRITES)),
                time("append_ns", 0),
                key("unwritten", Kind::Share),
            ],
        },
        TableSchema {
            name: "compression",
            keys: &[bytes("granule", 64, 4096), bytes("header", 0, 512), key("best_ratio", Kind::Share)],
        },
        TableSchema {
            name: "thermal",
            keys: &[
                key("idle_watts", Kind::Amount),
                key("die_read_watts", Kind::Amount),
                key("die_program_watts", Kind::Amount),
                key("die_erase_watts", Kind::Amount),
                key("nanojoules_per_byte", Kind::Amount),
                key("joules_per_kelvin", Kind::Positive),
                key("kelvin_per_watt", Kind::Positive),
                key("ambient_celsius", Kind::Amount),
                key("start_celsius", Kind::Amount),
                key("hysteresis_kelvin", Kind::Amount),
                key("light_celsius", Kind::Amount),
                counted("light_percent", 1, 100),
                key("heavy_celsius", Kind::Amount),
                counted("heavy_percent", 1, 100),
                key("critical_celsius", Kind::Amount),
                counted("critical_percent", 1, 100),
            ],
        },
        TableSchema {
            name: "cache",
            keys: &[
                key("of", Kind::Text),
                key("mode", Kind::Choice(CACHE_MODES)),
                key("policy", Kind::Choice(CACHE_POLICIES)),
                bytes("size", 4096, MAX_BYTES),
                bytes("block", 4096, 1 << 20),
                key("promote", Kind::Choice(PROMOTIONS)),
                bytes("sequential_cutoff", 0, 1 << 40),
                key("dirty_share", Kind::Share),
                key("dirty_limit", Kind::Share),
            ],
        },
        TableSchema {
            name: "disk",
            keys: &[
                bytes("capacity_bytes", 1 << 20, 1_000_000_000_000_000),
                counted("rpm", 100, 100_000),
                time("track_seek_ns", 1),
                time("average_seek_ns", 1),
                time("full_seek_ns", 1),
                time("write_settle_ns", 0),
                rate("outer_bytes_per_s"),
                rate("inner_bytes_per_s"),
                rate("interface_bytes_per_s"),
                time("command_ns", 0),
                counted("queue_depth", 1, 1 << 10),
                bytes("write_cache_bytes", 0, 1 << 40),
            ],
        },
        TableSchema {
            name: "array",
            keys: &[
                counted("disks", 1, 1 << 10),
                key("level", Kind::Choice(RAID_LEVELS)),
                bytes("chunk_bytes", 4096, 1 << 30),
                bytes("controller_cache_bytes", 0, 1 << 40),
                time("controller_ns", 0),
            ],
        },
        TableSchema {
            name: "volume",
            keys: &[
                bytes("capacity_bytes", 1 << 20, 1_000_000_000_000_000),
                counted("iops", 1, 1_000_000_000),
                rate("bytes_per_s"),
                bytes("io_bytes", 512, 1 << 30),
                time("read_ns", 1),
                time("write_ns", 1),
                time("spread_ns", 0),
                counted("burst_iops", 1, 1_000_000_000),
                rate("burst_bytes_per_s"),
                counted("burst_s", 1, 1_000_000),
                key("full_at_start", Kind::Flag),
            ],
        },
    ],
};

/// A host's file.
pub(crate) static HOST: Schema = Schema {
    tables: &[TableSchema {
        name: "host",
        keys: &[
            key("title", Kind::Text),
            counted("cores", 1, 1 << 16),
            time("session_ns", 0),
            time("submit_ns", 0),
            time("complete_ns", 0),
            key("contention", Kind::Share),
            counted("count", 1, 1 << 10),
            rate("link_bytes_per_s"),
            key("compressible", Kind::Share),
            key("compressible_spread", Kind::Share),
        ],
    }],
};
