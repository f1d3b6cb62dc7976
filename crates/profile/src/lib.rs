//! What does a card's file say?
//!
//! A profile is a TOML file that describes a device, and for each number how it is known. This crate reads it, checks
//! it, and lowers it to the configurations that the models take.
//!
//! ```
//! use profile::{DeviceConfig, Profile};
//!
//! let mut card = Profile::builtin("tachion-400")?;
//! card.set("ftl.victim=fifo")?;
//! let DeviceConfig::Card(config) = card.lower(1.0 / 64.0)? else { panic!("a tachIOn is one card") };
//! assert_eq!(config.nand.geometry.dies(), 128);
//! # Ok::<(), profile::ProfileError>(())
//! ```
//!
//! # The file
//!
//! A value is plain (`read_ns = 25_000`) or says where it comes from:
//!
//! ```toml
//! read_ns = { value = 25_000, basis = "datasheet", source = "tR of SLC dies of 2009" }
//! ```
//!
//! The basis is `measured`, `datasheet`, `derived` or `assumed`. Sizes may be texts: `"400GB"` is decimal, `"512KiB"` and
//! `"512k"` are binary; throughputs too (`"1.4GB/s"`), and shares (`"10%"`).
//!
//! A flash card (`kind = "flash"`) has the tables below; keys in brackets may be missing.
//!
//! | table | says | keys |
//! |---|---|---|
//! | `card` | what is sold, all of its cards together | `kind`, `title`, `user_bytes` or `user_gb`, `power_loss_protection`, `reads_first`, \[`vendor`, `year`, `interface`, `price_usd`, `power_watts`, `rack_units`, `count` with `host_stripe_bytes`, or with `host_layout = "mirror"`, or with both and `"raid5"`, of which `dead_cards` may be gone, in RAID 5 one that a spare takes over at `rebuild_bytes_per_s`, `acknowledge_flush_early`, `missing_module`: the number of one that is gone, of a model\] |
//! | `geometry` | how the flash of one card nests | `modules`, `channels_per_module`, `dies_per_channel`, `planes_per_die`, `blocks_per_plane`, `pages_per_block`, `page_bytes`, `spare_bytes`, `multi_plane`, \[`independent_planes`: pages on different planes of a die are read at the same time, in models\] |
//! | `timing` | how fast it is | `read_ns`, `program_ns`, `erase_ns`, `bus_bytes_per_s`, \[`suspend_ns` with `max_suspends`; `slc_read_ns`, `slc_program_ns`, `slc_erase_ns` with an SLC cache; in models `read_types_percent` and `program_types_percent`: the first of the rows that share cells takes so much less than the mean, the last so much more; `chance_percent`: standard deviation of each time of the array\] |
//! | `endurance` | how it wears | `rated_cycles`, `factory_bad_ppm`, `erase_fail_ppm_at_rated` |
//! | `ftl` | flash management | `victim` (`greedy`, `cost-benefit`, `fifo`, `random-d` with `d`), `gc` (`paced` with `target_free_bands`, of which there are at least as many as hold three times the buffer and what relocation has under way, `stop-the-world` with `start_free_bands` and `stop_free_bands`), `reserve_bands`, `stripe_width`, `parity_units`, `separate_streams`, `static_wear_spread_cycles`, \[`reserve`: share of the user capacity given up at format\] |
//! | `link` | the way to the host | `read_bytes_per_s`, `write_bytes_per_s`, `half_duplex`, `read_command_ns`, `write_command_ns`, `latency_ns`, \[`write_latency_ns`: the latency of a write, where it is another\], \[`queue_depth`: requests that the card has at once\], \[`housekeeping_bytes`, `housekeeping_ns`: after so many bytes written, commands wait so long\] |
//! | \[`fabric`\] | how hosts reach an array | `through` (`direct`, `fibre_channel`, `iscsi`, `infiniband`), `controller_cores`; each fabric has a table of its name with `read_bytes_per_s`, `write_bytes_per_s`, `latency_ns`, and `controller_ns` of a core for a request |
//! | `buffer` | write buffer | `bytes` |
//! | `relocation` | the way of relocated sectors | `path` (`internal`, `host` with `sector_ns`), `sectors_under_way` |
//! | \[`map_cache`\] | memory that holds only a part of the map, in models | `bytes`, \[`page_covers`: bytes of the host's whose entries are in a page of the map, else 1,024 mapping units; `hit_ns`: time of a lookup in it\] |
//! | \[`slc_cache`\] | bands used with one bit a cell | `bands`, `bits_per_cell` |
//! | \[`placement`\] | handles by which the host places its writes, in models | `handles`, \[`isolation` (`initial`: what is moved may mix, `persistent`: it never does), `by`: what the host names them by: `heat` of a skewed load's parts, `thread` of a sequential load with regions of their own, `file`: a database's data and log\] |
//! | \[`compression`\] | a controller that compresses what the host writes, in models | `granule`: sizes on flash are multiples of it, \[`header`: bytes beside the data of each sector, `best_ratio`: the smallest share of a sector that is ever left\] |
//! | \[`thermal`\] | heat, in models | `idle_watts` whatever the card does, `die_read_watts`, `die_program_watts` and `die_erase_watts` of each die at work beside that, `nanojoules_per_byte` that a channel carries; `joules_per_kelvin` (heat capacity), `kelvin_per_watt` (thermal resistance), `ambient_celsius`, \[`start_celsius`: the temperature at first, else that of the surroundings; levels of throttling, `light_celsius` with `light_percent` of the card's speed, `heavy_celsius` with `heavy_percent`, `critical_celsius` with `critical_percent`, which end `hysteresis_kelvin` below where they begin\] |
//! | \[`cache`\] | the card is a cache, in models | `of`: the device behind it, \[`mode` (`writeback`, `writethrough`, `writearound`, `passthrough`), `policy` (`lru`, `fifo`, `clock`, `s3-fifo`), `size`, `block`, `promote` (`first-miss`, `second-miss`), `sequential_cutoff`, `dirty_share`, `dirty_limit`\] |
//!
//! An array of disks (`kind = "disks"`) has `card` without the keys of flash, `disk` and `array`; a volume of a cloud
//! (`kind = "volume"`) has such a `card` and `volume`; a host's file has `host`. The keys are those of [`disk::DiskConfig`],
//! [`disk::ArrayConfig`], [`disk::VolumeConfig`] and [`device::HostConfig`]; those of bursts may be missing together.
//!
//! A number that only one choice of `ftl` needs may stand there for the other choice too: then `--set` can switch.
//!
//! # Invariants
//!
//! - No text makes this crate panic: every mistake is a [`ProfileError`], one line with file, line and the nearest
//!   valid name.
//! - The device that [`Profile::lower`] returns satisfies the checks of its model.
//! - Scaling keeps dies, pages and the effective spare factor; at scale 1 nothing is rounded.

mod builtin;
mod cache;
mod capacity;
mod compression;
mod device_config;
mod disks;
mod drive_array;
mod error;
mod explain;
mod fabric;
mod figures;
mod flash;
mod host;
mod map_cache;
mod nearest;
mod placement;
mod profile;
mod reliability;
mod scale;
mod schema;
mod settings;
mod sources;
mod summary;
mod text;
mod thermal;
mod units;
mod volume;
mod zones;

pub use cache::{CacheConfig, CacheMode, CachePolicy, Promotion};
pub use capacity::Capacities;
pub use device_config::{CachedConfig, DeviceConfig};
pub use drive_array::{DriveArray, MeasuredArray};
pub use error::{KnownKey, Place, Problem, ProfileError};
pub use figures::Figures;
pub use host::Host;
pub use profile::Profile;
pub use schema::Kind;
pub use settings::Basis;
pub use summary::Summary;
pub use text::Excerpt;
pub use units::{UnitError, parse_bytes, parse_share};
