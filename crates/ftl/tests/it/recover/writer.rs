//! Writes bands as a card does, on emulated flash.

use format::{BandRecord, Checkpoint, CheckpointHead, Role, Spare, SummaryEntry};
use format::{encode_summary, entries_per_sector, payload_crc, set_hole, set_holes_as_of};
use ftl::recover::{self, BandIdentity, Found, FoundBand, ScanError, scan, unit_at};
use ftl::{BandId, Layout, Ppa, StripeId};
use media::{BlockAt, Fault, Flash, Media, Physics, Shape, Unit, UnitAt};

pub const CARD: u64 = 0x0123_4567_89ab_cdef;
pub const PAYLOAD: usize = 128;

/// How the card is made.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub modules: u32,
    pub dies_per_module: u32,
    pub bands: u32,
    pub rows: u32,
    pub unit_sectors: u32,
    pub width: u32,
    pub parity: u32,
    pub cell_rows: u32,
    pub slc_bits: u32,
    pub user_sectors: u32,
    pub plp: bool,
    pub volatile: bool,
}

pub const SMALL: Made = Made {
    modules: 3,
    dies_per_module: 1,
    bands: 8,
    rows: 8,
    unit_sectors: 1,
    width: 3,
    parity: 1,
    cell_rows: 1,
    slc_bits: 1,
    user_sectors: 64,
    plp: false,
    volatile: false,
};

/// Two groups of dies, two sectors a unit.
pub const GROUPS: Made = Made { dies_per_module: 2, unit_sectors: 2, rows: 6, user_sectors: 200, ..SMALL };

/// The contents of a sector of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Data(u32, u64),
    Lost(u32, u64),
    /// Segment, version, as of, LBAs.
    Holes(u32, u64, u64, Vec<u32>),
    Padding,
}

impl Content {
    fn parts(&self, made: &Made) -> (Role, u32, u64, Vec<u8>) {
        let mut payload = vec![0; PAYLOAD];
        match self {
            Content::Data(lba, version) => {
                payload.copy_from_slice(&data(*lba, *version));
                (Role::Data, *lba, *version, payload)
            }
            Content::Lost(lba, version) => (Role::Lost, *lba, *version, payload),
            Content::Holes(segment, version, as_of, lbas) => {
                set_holes_as_of(&mut payload, *as_of);
                let first = segment * made.segment_lbas();
                lbas.iter().for_each(|lba| set_hole(&mut payload, lba - first));
                (Role::Holes, *segment, *version, payload)
            }
            Content::Padding => (Role::Padding, 0, 0, payload),
        }
    }
}

/// Payload of a version of an LBA.
pub fn data(lba: u32, version: u64) -> Vec<u8> {
    let mut payload: Vec<u8> = (0..PAYLOAD as u32).map(|i| (i * 7 + lba * 13) as u8 ^ (version as u8)).collect();
    payload[..4].copy_from_slice(&lba.to_le_bytes());
    payload[4..12].copy_from_slice(&version.to_le_bytes());
    payload
}

impl Made {
    pub fn segment_lbas(&self) -> u32 {
        format::hole_segment_lbas(PAYLOAD)
    }

    pub fn shape(&self) -> Shape {
        Shape {
            modules: self.modules,
            dies_per_module: self.dies_per_module,
            blocks_per_die: self.bands,
            rows_per_block: self.rows,
            unit_sectors: self.unit_sectors,
            payload_bytes: PAYLOAD as u32,
            rows_sharing_cells: self.cell_rows,
        }
    }

    pub fn layout(&self) -> Layout {
        let dies = self.modules * self.dies_per_module;
        Layout {
            dies,
            width: self.width,
            parity_units: self.parity,
            unit_sectors: self.unit_sectors,
            rows: self.rows,
            groups: dies / self.width,
            run: 1,
            stripe_sectors: self.width * self.unit_sectors,
            band_sectors: dies * self.rows * self.unit_sectors,
            summary_entries: entries_per_sector(PAYLOAD) as u32,
        }
    }
}

/// A band that is being filled.
#[derive(Clone, Debug)]
pub struct Open {
    pub band: u32,
    pub sequence: u64,
    pub stream: u8,
    pub slc: bool,
    pub masks: Vec<u64>,
    pub next: u32,
    entries: Vec<SummaryEntry>,
}

/// A stripe that is ready to be programmed: where its units go.
pub type Units = Vec<(UnitAt, Unit)>;

#[derive(Clone, Debug)]
pub struct Writer {
    pub made: Made,
    pub layout: Layout,
    pub flash: Flash,
    pub modules: Vec<Option<u32>>,
    pub sequence: u64,
    pub version: u64,
}

impl Writer {
    pub fn new(made: Made) -> Writer {
        let physics = Physics { volatile_cache: made.volatile, ..Physics::IDEAL };
        Writer {
            made,
            layout: made.layout(),
            flash: Flash::new(made.shape(), physics, 1),
            modules: (0..made.modules).map(Some).collect(),
            sequence: 0,
            version: 0,
        }
    }

    /// The next version.
    pub fn version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    pub fn open(&mut self, band: u32) -> Open {
        self.open_as(band, 0, false)
    }

    pub fn open_as(&mut self, band: u32, stream: u8, slc: bool) -> Open {
        self.sequence += 1;
        let usable = |die: u32| {
            let modules = self.modules.len() as u32;
            self.modules[(die % modules) as usize]
                .is_some_and(|module| !self.flash.is_bad(BlockAt { module, die: die / modules, block: band }))
        };
        let masks = (0..self.layout.groups)
            .map(|group| {
                (0..self.layout.width)
                    .filter(|unit| usable(group * self.layout.width + unit))
                    .fold(0, |mask, unit| mask | 1 << unit)
            })
            .collect();
        Open { band, sequence: self.sequence, stream, slc, masks, next: 0, entries: Vec::new() }
    }

    pub fn stripes(&self, open: &Open) -> u32 {
        self.layout.rows / if open.slc { self.made.slc_bits } else { 1 } * self.layout.groups
    }

    pub fn data_stripes(&self, open: &Open) -> u32 {
        self.layout.data_stripes(self.stripes(open), |group| open.masks[group as usize])
    }

    fn members(&self, open: &Open, index: u32) -> u64 {
        open.masks[(index % self.layout.groups) as usize]
    }

    /// Place of parity in a stripe: as `split_units` has it.
    fn parity(&self, open: &Open, index: u32) -> u64 {
        let members = self.members(open, index);
        if self.layout.parity_units == 0 {
            return 0;
        }
        let wanted = (index / self.layout.groups + index % self.layout.groups) % self.layout.width;
        let from = members & (u64::MAX << wanted);
        1 << if from != 0 { from } else { members }.trailing_zeros()
    }

    /// Sectors of data of the next stripe; 0: it is left out.
    pub fn room(&self, open: &Open) -> usize {
        self.layout.stripe_data_sectors(self.members(open, open.next)) as usize
    }

    /// Builds the next stripe.
    pub fn build(&self, open: &mut Open, contents: &[Content]) -> Units {
        let parts: Vec<_> = contents.iter().map(|content| content.parts(&self.made)).collect();
        for (role, lba, version, _) in &parts {
            let role = if *role == Role::Padding { 0 } else { *role as u8 };
            open.entries.push(SummaryEntry { lba: *lba, role, version: *version });
        }
        self.build_parts(open, &parts)
    }

    fn build_parts(&self, open: &mut Open, parts: &[(Role, u32, u64, Vec<u8>)]) -> Units {
        let index = open.next;
        open.next += 1;
        let (members, parity) = (self.members(open, index), self.parity(open, index));
        assert_eq!(parts.len(), self.layout.stripe_data_sectors(members) as usize);
        let stripe = StripeId { band: BandId(open.band), index };
        let mut spares = vec![
            Spare {
                card: CARD,
                role: Role::Parity,
                slc: open.slc,
                stream: open.stream,
                lba: 0,
                version: 0,
                band: open.band,
                band_sequence: open.sequence,
                stripe: index,
                unit: 0,
                sector: 0,
                members,
                payload_crc: 0,
                member_role: 0,
                member_crc: 0,
            };
            self.layout.unit_sectors as usize
        ];
        let mut sums = Unit::new(&self.made.shape());
        let mut parts = parts.iter();
        let mut units = Units::new();
        for unit in (0..self.layout.width).filter(|unit| members & !parity & 1 << unit != 0) {
            let mut contents = Unit::new(&self.made.shape());
            for (sector, sum) in spares.iter_mut().enumerate() {
                let (role, lba, version, payload) = parts.next().expect("counted");
                let crc = payload_crc(payload);
                let (unit, sector_number) = (unit as u8, sector as u8);
                let spare = Spare {
                    role: *role,
                    lba: *lba,
                    version: *version,
                    unit,
                    sector: sector_number,
                    payload_crc: crc,
                    member_role: 0,
                    member_crc: 0,
                    ..*sum
                };
                spare.encode(contents.spare_mut(sector));
                contents.payload_mut(sector).copy_from_slice(payload);
                sum.lba ^= lba;
                sum.version ^= version;
                sum.member_role ^= *role as u8;
                sum.member_crc ^= crc;
                sums.payload_mut(sector).iter_mut().zip(payload).for_each(|(sum, byte)| *sum ^= byte);
            }
            units.extend(unit_at(&self.modules, self.layout.unit_address(stripe, unit)).map(|at| (at, contents)));
        }
        if parity != 0 {
            let unit = parity.trailing_zeros();
            for (sector, spare) in spares.iter_mut().enumerate() {
                (spare.unit, spare.sector) = (unit as u8, sector as u8);
                spare.payload_crc = payload_crc(sums.payload(sector));
                spare.encode(sums.spare_mut(sector));
            }
            units.extend(unit_at(&self.modules, self.layout.unit_address(stripe, unit)).map(|at| (at, sums)));
        }
        units
    }

    pub fn program(&mut self, units: &Units) {
        for (at, unit) in units {
            self.flash.program(*at, unit).expect("programmed");
        }
    }

    /// Writes a stripe; the rest of it is padding.
    pub fn stripe(&mut self, open: &mut Open, contents: &[Content]) {
        let mut contents = contents.to_vec();
        contents.resize(self.room(open), Content::Padding);
        let units = self.build(open, &contents);
        self.program(&units);
    }

    /// Writes a stripe of data with new versions; what was written.
    pub fn write(&mut self, open: &mut Open, lbas: &[u32]) -> Vec<(u32, u64)> {
        let written: Vec<(u32, u64)> = lbas.iter().map(|lba| (*lba, self.version())).collect();
        let contents: Vec<Content> = written.iter().map(|(lba, version)| Content::Data(*lba, *version)).collect();
        self.stripe(open, &contents);
        written
    }

    /// Fills the data stripes that are left, each LBA after the other from `first`; what was written.
    pub fn fill(&mut self, open: &mut Open, first: u32) -> Vec<(u32, u64)> {
        let mut written = Vec::new();
        let mut lba = first;
        while open.next < self.data_stripes(open) {
            let room = self.room(open);
            if room == 0 {
                open.next += 1;
                continue;
            }
            let lbas: Vec<u32> = (lba..).take(room).map(|lba| lba % self.made.user_sectors).collect();
            lba += room as u32;
            written.extend(self.write(open, &lbas));
        }
        written
    }

    /// The stripes of the summary.
    pub fn summary(&self, open: &mut Open) -> Vec<Units> {
        assert_eq!(open.next, self.data_stripes(open));
        let per_sector = entries_per_sector(PAYLOAD);
        let mut ordinal = 0;
        let mut stripes = Vec::new();
        while open.next < self.stripes(open) {
            let room = self.room(open);
            if room == 0 {
                open.next += 1;
                continue;
            }
            let parts: Vec<_> = (0..room)
                .map(|_| {
                    let first = (ordinal * per_sector).min(open.entries.len());
                    let last = (first + per_sector).min(open.entries.len());
                    let mut payload = vec![0; PAYLOAD];
                    encode_summary(&open.entries[first..last], &mut payload);
                    ordinal += 1;
                    (Role::Summary, ((ordinal - 1) * per_sector) as u32, open.sequence, payload)
                })
                .collect();
            stripes.push(self.build_parts(open, &parts));
        }
        stripes
    }

    /// Writes the summary.
    pub fn close(&mut self, open: &mut Open) {
        for units in self.summary(open) {
            self.program(&units);
        }
    }

    /// A band filled with LBAs from `first` on; what was written.
    pub fn full_band(&mut self, band: u32, first: u32) -> Vec<(u32, u64)> {
        let mut open = self.open(band);
        let written = self.fill(&mut open, first);
        self.close(&mut open);
        written
    }

    /// Writes a checkpoint of what was found into a band; its version. `owed` are segments with holes that no list
    /// tells of.
    pub fn checkpoint(&mut self, band: u32, found: &Found, owed: &[u32]) -> u64 {
        let checkpoint = self.checkpoint_of(found, owed);
        self.write_checkpoint(band, &checkpoint);
        checkpoint.head.id
    }

    /// A checkpoint of what was found.
    pub fn checkpoint_of(&mut self, found: &Found, owed: &[u32]) -> Checkpoint {
        let version = self.version();
        let record = |band: &FoundBand| {
            let state = if band.has_summary && band.is_complete { recover::BAND_KNOWN } else { 0 };
            BandRecord { sequence: band.sequence, cycles: 0, state }
        };
        let head = CheckpointHead {
            id: version,
            version_start: version,
            next_version: version + 1,
            next_band_sequence: self.sequence + 1,
            ..CheckpointHead::default()
        };
        let bands = found.bands.iter().map(record).collect();
        Checkpoint { head, map: found.map.clone(), bands, owed_segments: owed.to_vec() }
    }

    /// Writes the parts of a checkpoint into a band.
    pub fn write_checkpoint(&mut self, band: u32, checkpoint: &Checkpoint) {
        let mut bytes = checkpoint.encode();
        bytes.resize(bytes.len().next_multiple_of(PAYLOAD), 0);
        let parts: Vec<_> = (0..)
            .zip(bytes.chunks(PAYLOAD))
            .map(|(part, payload)| (Role::Checkpoint, part, checkpoint.head.id, payload.to_vec()))
            .collect();
        let mut open = self.open_as(band, 2, false);
        let mut parts = parts.into_iter();
        while parts.len() > 0 {
            let mut stripe: Vec<_> = parts.by_ref().take(self.room(&open)).collect();
            stripe.resize(self.room(&open), (Role::Padding, 0, 0, vec![0; PAYLOAD]));
            let units = self.build_parts(&mut open, &stripe);
            self.program(&units);
        }
    }

    pub fn at(&self, band: u32, die: u32, row: u32) -> UnitAt {
        let modules = self.made.modules;
        UnitAt { block: BlockAt { module: die % modules, die: die / modules, block: band }, row }
    }

    /// No sector of the unit can be read any more.
    pub fn spoil(&mut self, at: UnitAt) {
        for sector in 0..self.made.unit_sectors {
            self.flash.inject(Fault::FlipBits { at, sector, bits: 10_000 });
        }
    }

    pub fn scan_with(&mut self, change: impl Fn(&mut recover::Card)) -> Result<Found, ScanError> {
        let mut card = card_of(&self.made, &self.layout, &self.modules);
        change(&mut card);
        scan(&mut self.flash, &card)
    }

    pub fn scan(&mut self) -> Result<Found, ScanError> {
        self.scan_with(|_| {})
    }

    pub fn scan_all(&mut self) -> Result<Found, ScanError> {
        self.scan_with(|card| card.use_summaries = false)
    }

    /// The identity of a band, and the number of units that were read for it.
    pub fn identify(&mut self, band: u32) -> (BandIdentity, u64) {
        let before = self.flash.reads();
        let card = card_of(&self.made, &self.layout, &self.modules);
        let identity = recover::identify(&mut self.flash, &card, BandId(band), 0).unwrap();
        (identity, self.flash.reads() - before)
    }

    /// The version that the map has of an LBA, as it is read; the error if it can't be.
    pub fn read(&mut self, found: &Found, lba: u32) -> Option<Result<u64, recover::SectorError>> {
        let ppa = found.map[lba as usize];
        if ppa == u32::MAX {
            return None;
        }
        let at = recover::SectorAt::of(&self.layout, Ppa(ppa));
        let band = found.bands[at.stripe.band.0 as usize];
        let opening = recover::Opening { sequence: band.sequence, slc: band.slc, stream: band.stream };
        let members = found.units(at.stripe.band)[self.layout.group_of(at.stripe.index) as usize];
        let card = card_of(&self.made, &self.layout, &self.modules);
        let mut scratch = recover::Scratch::new(&self.made.shape());
        let read = recover::read_sector(&mut self.flash, &card, &opening, members, at, &mut scratch);
        Some(read.map(|read| {
            assert_eq!(read.lba, lba);
            if read.role == Role::Data {
                assert_eq!(scratch.payload(&read), data(lba, read.version));
            }
            read.version
        }))
    }

    /// All versions by LBA, each read; 0 where there is none.
    pub fn versions(&mut self, found: &Found) -> Vec<u64> {
        (0..self.made.user_sectors)
            .map(|lba| self.read(found, lba).map_or(0, |read| read.expect("what is found can be read")))
            .collect()
    }
}

/// The card that was made so.
fn card_of<'a>(made: &Made, layout: &'a Layout, modules: &'a [Option<u32>]) -> recover::Card<'a> {
    recover::Card {
        layout,
        modules,
        bands: made.bands,
        card: CARD,
        user_sectors: made.user_sectors,
        payload_bytes: PAYLOAD as u32,
        slc_bits_per_cell: made.slc_bits,
        watermark: Default::default(),
        power_loss_protection: made.plp,
        log_begins: 0,
        use_checkpoints: true,
        use_summaries: true,
    }
}

/// The last version of each LBA.
pub fn last(made: &Made, written: &[(u32, u64)]) -> Vec<u64> {
    let mut versions = vec![0; made.user_sectors as usize];
    for (lba, version) in written {
        let newest = &mut versions[*lba as usize];
        *newest = (*newest).max(*version);
    }
    versions
}
