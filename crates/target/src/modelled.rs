//! The modelled devices behind one name.

use crate::error::RunError;
use crate::{Cached, Gone, Instant, Mirrored, Raid5, Striped, Zoned};
use card::{CardConfig, MediaCounters, ModelCard};
use device::{ByteRange, Completion, Compressible, Device, Request, RequestId, SECTOR_BYTES, Time};
use disk::{Array, Volume};
use ftl::{CompressionCounters, Counters, MapCounters, ReadOnly};
use profile::DeviceConfig;
use results::{Compression, Flash, MapUse, ThermalReport, Wear};

/// A modelled device.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Modelled {
    /// A flash card.
    Card(Box<ModelCard>),
    /// A card with zones, and the host that writes them.
    Zoned(Box<Zoned>),
    /// Cards striped by the host.
    Striped(Striped),
    /// Cards mirrored by the host.
    Mirrored(Mirrored),
    /// Cards in RAID 5 by the host.
    Raid5(Raid5<ModelCard>),
    Disks(Box<Array>),
    /// A volume of a cloud.
    Volume(Box<Volume>),
    /// Flash as the cache of another device.
    Cached(Box<Cached<Modelled, Modelled>>),
}

impl Modelled {
    /// Builds the device for at most `max_requests` requests at once.
    pub fn new(config: &DeviceConfig, max_requests: u32, explain: bool, seed: u64) -> Result<Modelled, RunError> {
        let all_for = |cards: &[CardConfig], requests: u32| {
            let cards = cards.iter().enumerate();
            let made = cards.map(|(i, of)| ModelCard::new(of, requests, explain, seed.wrapping_add(i as u64)));
            made.collect::<Result<Vec<_>, _>>()
        };
        let all = |cards: &[CardConfig]| all_for(cards, max_requests);
        Ok(match config {
            DeviceConfig::Card(config) => match config.ftl.zones {
                Some(zones) => {
                    let depth = Zoned::depth(max_requests, zones.max_active);
                    let card = ModelCard::new(config, depth, explain, seed)?;
                    Modelled::Zoned(Box::new(Zoned::new(card, max_requests)))
                }
                None => Modelled::Card(Box::new(ModelCard::new(config, max_requests, explain, seed)?)),
            },
            DeviceConfig::Striped { cards, stripe_bytes } => {
                Modelled::Striped(Striped::new(all(cards)?, *stripe_bytes, max_requests))
            }
            DeviceConfig::Mirrored { cards } => Modelled::Mirrored(Mirrored::new(all(cards)?, max_requests)),
            DeviceConfig::Raid5 { cards, chunk_bytes, without_first, rebuild_bytes_per_s } => {
                let cards = all_for(cards, Raid5::<ModelCard>::depth(max_requests))?;
                let gone = without_first.then_some(Gone { card: 0, rebuild_bytes_per_s: *rebuild_bytes_per_s });
                Modelled::Raid5(Raid5::new(cards, *chunk_bytes, gone, max_requests, explain))
            }
            DeviceConfig::Disks(config) => Modelled::Disks(Box::new(Array::new(*config, max_requests, explain, seed)?)),
            DeviceConfig::Volume(config) => {
                Modelled::Volume(Box::new(Volume::new(*config, max_requests, explain, seed)?))
            }
            DeviceConfig::Cached(config) => {
                let depth = Cached::<Modelled, Modelled>::depth(max_requests);
                let front = Modelled::new(&config.front, depth, explain, seed)?;
                let back = Modelled::new(&config.back, depth, explain, seed)?;
                Modelled::Cached(Box::new(Cached::new(front, back, config.cache, max_requests, explain)))
            }
        })
    }

    /// The flash cards, of a cache those in front; none for disks and volumes.
    pub fn cards(&self) -> &[ModelCard] {
        match self {
            Modelled::Card(card) => std::slice::from_ref(card),
            Modelled::Zoned(zoned) => std::slice::from_ref(zoned.card()),
            Modelled::Striped(striped) => striped.cards(),
            Modelled::Mirrored(mirrored) => mirrored.cards(),
            Modelled::Raid5(raid) => raid.cards(),
            Modelled::Cached(cached) => cached.front().cards(),
            Modelled::Disks(_) | Modelled::Volume(_) => &[],
        }
    }

    /// The same cards, to change them.
    fn cards_mut(&mut self) -> &mut [ModelCard] {
        match self {
            Modelled::Card(card) => std::slice::from_mut(card),
            Modelled::Zoned(zoned) => std::slice::from_mut(zoned.card_mut()),
            Modelled::Striped(striped) => striped.cards_mut(),
            Modelled::Mirrored(mirrored) => mirrored.cards_mut(),
            Modelled::Raid5(raid) => raid.cards_mut(),
            Modelled::Cached(cached) => cached.front_mut().cards_mut(),
            Modelled::Disks(_) | Modelled::Volume(_) => &mut [],
        }
    }

    /// The host's writes are as compressible as this from now on: cards that compress store them in less.
    pub fn compress(&mut self, compressible: Compressible) {
        if let Modelled::Cached(cached) = self {
            cached.back_mut().compress(compressible);
        }
        self.cards_mut().iter_mut().for_each(|card| card.ftl_mut().compress(compressible));
    }

    /// Puts on flash what is half open, before anything is timed.
    pub fn settle_now(&mut self) {
        self.cards_mut().iter_mut().for_each(|card| card.ftl_mut().settle_now());
    }

    /// Begins to measure, where the device itself does.
    pub fn start_measurement(&mut self, now: Time) {
        if let Modelled::Cached(cached) = self {
            cached.start_measurement(now);
        }
        self.cards_mut().iter_mut().for_each(|card| card.begin_thermal_account(now));
    }

    /// The heat of the hottest card since measurement began; `None` where no card has a temperature.
    pub fn thermal_since_start(&self, now: Time) -> Option<ThermalReport> {
        let accounts = self.cards().iter().filter_map(|card| card.thermal_account(now));
        let account = accounts.max_by(|a, b| a.highest_celsius.total_cmp(&b.highest_celsius))?;
        let seconds = now.since_ns(account.since) as f64 * 1e-9;
        let [light_s, heavy_s, critical_s] = account.throttled_ns.map(|ns| ns as f64 * 1e-9);
        Some(ThermalReport {
            highest_celsius: account.highest_celsius,
            end_celsius: account.celsius,
            mean_watts: if seconds > 0.0 { account.taken_joules / seconds } else { 0.0 },
            light_s,
            heavy_s,
            critical_s,
            series: account.seconds,
        })
    }

    /// Returns the counts of flash management since the start, over all cards.
    pub fn counters(&self) -> Counters {
        self.cards().iter().map(|c| c.ftl().counters()).fold(Counters::default(), |a, b| Counters {
            host_sectors: a.host_sectors + b.host_sectors,
            relocated_sectors: a.relocated_sectors + b.relocated_sectors,
            parity_sectors: a.parity_sectors + b.parity_sectors,
            padding_sectors: a.padding_sectors + b.padding_sectors,
            metadata_sectors: a.metadata_sectors + b.metadata_sectors,
            erases: a.erases + b.erases,
            retired_blocks: a.retired_blocks + b.retired_blocks,
            map: a.map.plus(&b.map),
            compression: match (a.compression, b.compression) {
                (Some(a), Some(b)) => Some(a.plus(&b)),
                (one, other) => one.or(other),
            },
        })
    }

    /// Media operations since the start, over all cards.
    pub fn media(&self) -> MediaCounters {
        self.cards().iter().map(ModelCard::media).fold(MediaCounters::default(), |a, b| MediaCounters {
            reads: a.reads + b.reads,
            programs: a.programs + b.programs,
            erases: a.erases + b.erases,
        })
    }

    /// Returns the activity of the flash since `earlier`; `None` for disks.
    pub fn flash_since(&self, earlier: &Counters) -> Option<Flash> {
        let cards = self.cards();
        let first = cards.first()?;
        let c = self.counters().since(earlier);
        let pages = |room: u64| c.pages(room).round() as u64;
        let wear: Vec<(u32, u32)> = cards.iter().map(|c| c.ftl().blocks().wear_range()).collect();
        Some(Flash {
            waf: c.waf(),
            host_pages: c.host_sectors,
            relocated_pages: pages(c.relocated_sectors),
            parity_pages: pages(c.parity_sectors),
            padding_pages: pages(c.padding_sectors),
            metadata_pages: pages(c.metadata_sectors),
            erases: c.erases,
            free_bands: cards.iter().map(|c| u64::from(c.ftl().free_bands())).sum(),
            bad_blocks: cards.iter().map(|c| c.ftl().blocks().bad_count()).sum(),
            effective_spare_factor: first.ftl().effective_spare_factor(),
            wear: Wear {
                min: wear.iter().map(|w| w.0).min().unwrap_or(0),
                max: wear.iter().map(|w| w.1).max().unwrap_or(0),
                mean: cards.iter().map(|c| c.ftl().blocks().wear_mean()).sum::<f64>() / cards.len() as f64,
            },
            zones: None,
            handles: Vec::new(),
            map: self.map_use(&c.map),
            compression: c.compression.map(|compression| compression_of(&c, &compression)),
        })
    }

    /// Returns the use of the map; `None` where memory holds all of it.
    fn map_use(&self, counters: &MapCounters) -> Option<MapUse> {
        let of = |card: &ModelCard| {
            let held = card.ftl().config().map_cache?.pages;
            Some((u64::from(held), u64::from(card.ftl().map_pages())))
        };
        let pages: Vec<(u64, u64)> = self.cards().iter().filter_map(of).collect();
        (!pages.is_empty()).then(|| MapUse {
            hits: counters.hits,
            misses: counters.misses,
            read_pages: counters.reads,
            programmed_pages: counters.programmed(),
            held_pages: pages.iter().map(|pages| pages.0).sum(),
            all_pages: pages.iter().map(|pages| pages.1).sum(),
        })
    }
}

/// Returns the work of compression, in bytes.
fn compression_of(counters: &Counters, compression: &CompressionCounters) -> Compression {
    let bytes = |granules: u64| (counters.pages(granules) * SECTOR_BYTES as f64).round() as u64;
    Compression {
        host_bytes: counters.host_sectors * SECTOR_BYTES,
        stored_bytes: bytes(compression.host_granules),
        unused_bytes: bytes(compression.unused_granules),
    }
}

impl Modelled {
    /// The device, whatever it is; a card is asked without this, as most runs are of one.
    fn other(&self) -> &dyn Device<Data = ()> {
        match self {
            Modelled::Card(d) => &**d,
            Modelled::Zoned(d) => &**d,
            Modelled::Striped(d) => d,
            Modelled::Mirrored(d) => d,
            Modelled::Raid5(d) => d,
            Modelled::Disks(d) => &**d,
            Modelled::Volume(d) => &**d,
            Modelled::Cached(d) => &**d,
        }
    }

    fn other_mut(&mut self) -> &mut dyn Device<Data = ()> {
        match self {
            Modelled::Card(d) => &mut **d,
            Modelled::Zoned(d) => &mut **d,
            Modelled::Striped(d) => d,
            Modelled::Mirrored(d) => d,
            Modelled::Raid5(d) => d,
            Modelled::Disks(d) => &mut **d,
            Modelled::Volume(d) => &mut **d,
            Modelled::Cached(d) => &mut **d,
        }
    }
}

impl Instant for Modelled {
    fn write_now(&mut self, range: ByteRange) -> Result<(), ReadOnly> {
        let sectors = |from: u64, to: u64| from / SECTOR_BYTES..to.div_ceil(SECTOR_BYTES);
        let (from, to) = (range.offset_bytes, range.end_bytes());
        match self {
            Modelled::Card(card) => card.ftl_mut().write_block_now(sectors(from, to)),
            Modelled::Mirrored(mirrored) => {
                let cards = mirrored.cards_mut().iter_mut();
                cards.into_iter().try_for_each(|card| card.ftl_mut().write_block_now(sectors(from, to)))
            }
            Modelled::Raid5(raid) => raid.written(range).into_iter().try_for_each(|(card, bytes)| {
                raid.cards_mut()[card].ftl_mut().write_block_now(sectors(bytes.start, bytes.end))
            }),
            Modelled::Striped(striped) => (0..striped.cards().len()).try_for_each(|i| {
                let on_card = sectors(striped.card_offset(i as u64, from), striped.card_offset(i as u64, to));
                striped.cards_mut()[i].ftl_mut().write_block_now(on_card)
            }),
            Modelled::Zoned(_) => unreachable!("zones are no cache, nor behind one"),
            // Disks have no state that writes wear in.
            Modelled::Disks(_) | Modelled::Volume(_) => Ok(()),
            Modelled::Cached(cached) => cached.back_mut().write_now(range),
        }
    }
}

impl Device for Modelled {
    type Data = ();

    #[inline]
    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        match self {
            Modelled::Card(d) => d.submit(now, id, request, done),
            other => other.other_mut().submit(now, id, request, done),
        }
    }

    #[inline]
    fn next_event(&self) -> Time {
        match self {
            Modelled::Card(d) => d.next_event(),
            other => other.other().next_event(),
        }
    }

    #[inline]
    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        match self {
            Modelled::Card(d) => d.advance(now, done),
            other => other.other_mut().advance(now, done),
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.other().capacity_bytes()
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        match self {
            Modelled::Card(d) => d.in_flight(),
            other => other.other().in_flight(),
        }
    }
}
