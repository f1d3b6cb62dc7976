//! The details of a band, stripe by stripe, and of a stripe, member by member.

use crate::error::FsckError;
use crate::examined::{BandKnown, Examined, OnMedia, Opened};
use crate::stripe::{Cell, CellState, Stripe, StripeState, role_word, units};
use format::Spare;
use ftl::recover::Opening;
use ftl::{BandId, Layout, StripeId};
use media::Media;
use serde::Serialize;

/// A band, stripe by stripe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BandDetail {
    /// The number of the band.
    pub band: u32,
    /// The state of the band: free, dirty, silent or holding.
    pub state: String,
    /// The number of the last opening.
    pub sequence: Option<u64>,
    /// The stream that the sectors came from: 0 host, 1 relocation, 2 checkpoint.
    pub stream: Option<u8>,
    /// The cells are used with one bit each.
    pub slc: Option<bool>,
    /// The band was written to its end.
    pub is_complete: Option<bool>,
    /// The summary can be read.
    pub has_summary: Option<bool>,
    /// The number of sectors of the host and lists of holes whose newest version lies in the band.
    pub current_sectors: Option<u64>,
    /// The stripes of the band, a line each.
    pub stripes: Vec<StripeLine>,
}

/// A stripe in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StripeLine {
    /// The number of the stripe within the band.
    pub stripe: u32,
    /// The row of its units.
    pub row: u32,
    /// Whether the stripe is whole, or what is wrong with it.
    pub state: StripeState,
    /// The units, with a character for each sector. `D` data, `H` holes, `S` summary, `C` checkpoint, `P` parity, `-`
    /// padding, `L` lost; `.` erased, `!` can't be read, `?` does not belong there, `o` of another opening, `x` no
    /// answer; a blank stands for a unit that is no member.
    pub units: Vec<String>,
}

/// A stripe, member by member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StripeDetail {
    /// The band that the stripe belongs to.
    pub band: u32,
    /// The number of the stripe within the band.
    pub stripe: u32,
    /// The opening of the band that the members are checked against; `None` if the band is not known to be opened.
    pub sequence: Option<u64>,
    /// Whether the stripe is whole, or what is wrong with it.
    pub state: StripeState,
    /// The members of the stripe, by unit.
    pub members: Vec<MemberDetail>,
    /// By sector: parity agrees with the other members; `None` where not all of them can be read.
    pub parity_holds: Vec<Option<bool>>,
    /// By sector: whether the lost member can be rebuilt.
    pub rebuild: Vec<RebuildState>,
}

/// Whether the lost sectors of one number in a stripe can be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum RebuildState {
    /// No sector is lost.
    NotNeeded,
    /// The lost sector can be rebuilt.
    Possible {
        /// The unit that is lost.
        unit: u32,
        /// The role of the lost sector.
        role: String,
        /// The LBA, as in the lost spare area.
        lba: Option<u32>,
        /// The version, as in the lost spare area.
        version: Option<u64>,
    },
    /// The lost sectors can't be rebuilt.
    Impossible {
        /// The units that are lost.
        units: Vec<u32>,
        /// The reason why they can't be rebuilt.
        why: String,
    },
}

/// A member of a stripe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberDetail {
    /// The number of the unit within the stripe.
    pub unit: u32,
    /// The member is parity.
    pub is_parity: bool,
    /// The slot of the member's module; `None` if the module is missing or can't be trusted.
    pub slot: Option<u32>,
    /// The die within the module.
    pub die: u32,
    /// The row within the block.
    pub row: u32,
    /// The block is marked bad.
    pub is_bad: bool,
    /// The sectors of the unit.
    pub sectors: Vec<SectorDetail>,
}

/// A sector of a member. The fields from `role` to `member_crc` are those of its spare area, if that can be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectorDetail {
    /// The number of the sector within the unit.
    pub sector: u32,
    /// The state of the sector's place.
    pub state: CellState,
    /// The exact reason why the sector is not good.
    pub why: Option<String>,
    /// The role of the sector, as a word.
    pub role: Option<String>,
    /// The LBA, segment or index.
    pub lba: Option<u32>,
    /// The version of the sector.
    pub version: Option<u64>,
    /// The opening of the band that the sector was written at.
    pub band_sequence: Option<u64>,
    /// The members of the stripe, as bits.
    pub members: Option<u64>,
    /// The stream that the band's sectors came from.
    pub stream: Option<u8>,
    /// The checksum of the payload.
    pub payload_crc: Option<u32>,
    /// The XOR of the members' payload checksums, in parity.
    pub member_crc: Option<u32>,
    /// The map points to this sector.
    pub is_current: Option<bool>,
}

impl<M: Media> Examined<M> {
    /// The details of a band, stripe by stripe.
    pub fn band(&mut self, band: u32) -> Result<BandDetail, FsckError> {
        let (media, on) = self.parts()?;
        in_range("band", band, on.bands())?;
        let mut detail = BandDetail {
            band,
            state: String::new(),
            sequence: None,
            stream: None,
            slc: None,
            is_complete: None,
            has_summary: None,
            current_sectors: None,
            stripes: Vec::new(),
        };
        let opened = match on.band(media, BandId(band))? {
            BandKnown::Free => return Ok(BandDetail { state: "free".to_owned(), ..detail }),
            BandKnown::Dirty => return Ok(BandDetail { state: "dirty".to_owned(), ..detail }),
            BandKnown::Silent => return Ok(BandDetail { state: "silent".to_owned(), ..detail }),
            BandKnown::Opened(opened) => opened,
        };
        let Opening { sequence, slc, stream } = opened.opening;
        detail.state = "holding".to_owned();
        (detail.sequence, detail.stream, detail.slc) = (Some(sequence), Some(stream), Some(slc));
        if let Ok(found) = &on.found {
            let start = on.layout.band_start(opened.band);
            let within = |ppa: &&u32| (start..start + on.layout.band_sectors).contains(*ppa);
            detail.current_sectors = Some(found.map.iter().filter(within).count() as u64);
            (detail.is_complete, detail.has_summary) = (Some(opened.is_complete), Some(opened.has_summary));
        }
        let mut stripe = Stripe::new(&on.layout, media.shape());
        for (id, members) in on.stripes_of(&opened) {
            stripe.read(media, &on.card(), id, &opened.opening, members)?;
            detail.stripes.push(line(&stripe, &on.layout));
        }
        Ok(detail)
    }

    /// The details of a stripe, member by member.
    pub fn stripe(&mut self, band: u32, index: u32) -> Result<StripeDetail, FsckError> {
        let (media, on) = self.parts()?;
        in_range("band", band, on.bands())?;
        in_range("stripe", index, on.layout.rows * on.layout.groups)?;
        let id = StripeId { band: BandId(band), index };
        let (opening, members) = match on.band(media, id.band)? {
            BandKnown::Opened(Opened { opening, members, .. }) => {
                (Some(opening), members[on.layout.group_of(index) as usize])
            }
            _ => (None, on.usable_units(media, id)),
        };
        let mut stripe = Stripe::new(&on.layout, media.shape());
        stripe.read(media, &on.card(), id, &opening.unwrap_or_default(), members)?;
        let sectors = on.layout.unit_sectors;
        Ok(StripeDetail {
            band,
            stripe: index,
            sequence: opening.map(|opening| opening.sequence),
            state: stripe.state(),
            members: units(members).map(|unit| member(media, on, &stripe, unit)).collect(),
            parity_holds: (0..sectors).map(|sector| stripe.parity_holds(sector)).collect(),
            rebuild: (0..sectors).map(|sector| rebuild(&stripe, sector)).collect(),
        })
    }
}

fn in_range(thing: &'static str, asked: u32, count: u32) -> Result<(), FsckError> {
    if asked < count { Ok(()) } else { Err(FsckError::NoSuch { thing, asked: asked.into(), count: count.into() }) }
}

fn line(stripe: &Stripe, layout: &Layout) -> StripeLine {
    let of_unit = |unit: u32| -> String {
        let is_member = stripe.members >> unit & 1 == 1;
        let letter = |sector| if is_member { letter(stripe.cell(unit, sector)) } else { ' ' };
        (0..layout.unit_sectors).map(letter).collect()
    };
    StripeLine {
        stripe: stripe.id.index,
        row: layout.row_of(stripe.id.index),
        state: stripe.state(),
        units: (0..layout.width).map(of_unit).collect(),
    }
}

fn letter(cell: &Cell) -> char {
    match (cell.state(), cell.spare.map(|spare| role_word(spare.role))) {
        (CellState::Good, Some("padding")) => '-',
        (CellState::Good, Some(role)) => role.chars().next().map_or('?', |first| first.to_ascii_uppercase()),
        (CellState::Good, None) => '?',
        (CellState::Erased, _) => '.',
        (CellState::Uncorrectable | CellState::DamagedSpare | CellState::DamagedPayload, _) => '!',
        (CellState::Misplaced | CellState::Contradiction, _) => '?',
        (CellState::OtherOpening, _) => 'o',
        (CellState::NoAnswer, _) => 'x',
    }
}

fn member<M: Media>(media: &M, on: &OnMedia, stripe: &Stripe, unit: u32) -> MemberDetail {
    let at = on.layout.unit_address(stripe.id, unit);
    let place = on.card().unit_at(at);
    let first = on.layout.stripe_start(stripe.id) + unit * on.layout.unit_sectors;
    let sector = |sector: u32| {
        let cell = stripe.cell(unit, sector);
        let spare: Option<Spare> = cell.spare;
        let current = |found: &ftl::recover::Found| found.map.contains(&(first + sector));
        SectorDetail {
            sector,
            state: cell.state(),
            why: cell.why.as_ref().map(ToString::to_string),
            role: spare.map(|spare| role_word(spare.role).to_owned()),
            lba: spare.map(|spare| spare.lba),
            version: spare.map(|spare| spare.version),
            band_sequence: spare.map(|spare| spare.band_sequence),
            members: spare.map(|spare| spare.members),
            stream: spare.map(|spare| spare.stream),
            payload_crc: spare.map(|spare| spare.payload_crc),
            member_crc: spare.map(|spare| spare.member_crc),
            is_current: on.found.as_ref().ok().map(current),
        }
    };
    MemberDetail {
        unit,
        is_parity: stripe.parity >> unit & 1 == 1,
        slot: place.map(|place| place.block.module),
        die: at.die / on.header().shape.modules,
        row: at.row,
        is_bad: place.is_some_and(|place| media.is_bad(place.block)),
        sectors: (0..on.layout.unit_sectors).map(sector).collect(),
    }
}

fn rebuild(stripe: &Stripe, sector: u32) -> RebuildState {
    let lost = stripe.lost(sector);
    let units: Vec<u32> = units(lost).collect();
    match (units.as_slice(), stripe.rebuilt(sector)) {
        ([], _) => RebuildState::NotNeeded,
        ([unit], Some(Ok(rebuilt))) => RebuildState::Possible {
            unit: *unit,
            role: role_word(rebuilt.role).to_owned(),
            lba: Some(rebuilt.lba),
            version: Some(rebuilt.version),
        },
        ([_], Some(Err(error))) => RebuildState::Impossible { units, why: error.to_string() },
        ([unit], None) if lost == stripe.parity => {
            RebuildState::Possible { unit: *unit, role: "parity".to_owned(), lba: None, version: None }
        }
        ([_], None) => RebuildState::Impossible { units, why: "the stripe has no parity".to_owned() },
        _ => {
            let why = format!("{} units are lost, parity stands for one", units.len());
            RebuildState::Impossible { units, why }
        }
    }
}
