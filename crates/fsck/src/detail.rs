//! A band stripe by stripe, a stripe member by member.

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
    /// Its number.
    pub band: u32,
    /// Free, dirty, silent or holding.
    pub state: String,
    /// Number of its last opening.
    pub sequence: Option<u64>,
    /// Where its sectors came from: 0 host, 1 relocation, 2 checkpoint.
    pub stream: Option<u8>,
    /// Its cells are used with one bit each.
    pub slc: Option<bool>,
    /// It was written to its end.
    pub is_complete: Option<bool>,
    /// Its summary can be read.
    pub has_summary: Option<bool>,
    /// Sectors of the host and lists of holes whose newest version lies in it.
    pub current_sectors: Option<u64>,
    /// Its stripes.
    pub stripes: Vec<StripeLine>,
}

/// A stripe in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StripeLine {
    /// Its number.
    pub stripe: u32,
    /// Its row.
    pub row: u32,
    /// What it is.
    pub state: StripeState,
    /// By unit: a character for each sector. `D` data, `H` holes, `S` summary, `C` checkpoint, `P` parity, `-` padding, `L`
    /// lost; `.` erased, `!` can't be read, `?` does not belong there, `o` of another opening, `x` no answer; a blank
    /// stands for a unit that is no member.
    pub units: Vec<String>,
}

/// A stripe, member by member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StripeDetail {
    /// Its band.
    pub band: u32,
    /// Its number.
    pub stripe: u32,
    /// Number of the band's opening that its members are held against; `None`: the band is not known to be opened.
    pub sequence: Option<u64>,
    /// What it is.
    pub state: StripeState,
    /// Its members.
    pub members: Vec<MemberDetail>,
    /// By sector: parity is what the others say; `None` where not all of them can be read.
    pub parity_holds: Vec<Option<bool>>,
    /// By sector: whether what is lost can be rebuilt.
    pub rebuild: Vec<RebuildState>,
}

/// Whether what is lost of the same-numbered sectors of a stripe can be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum RebuildState {
    /// Nothing is lost.
    NotNeeded,
    /// It can.
    Possible {
        /// The unit.
        unit: u32,
        /// What it is.
        role: String,
        /// As in its spare area.
        lba: Option<u32>,
        /// As in its spare area.
        version: Option<u64>,
    },
    /// It can't.
    Impossible {
        /// Units that are lost.
        units: Vec<u32>,
        /// Why.
        why: String,
    },
}

/// A member of a stripe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberDetail {
    /// Its place in the stripe.
    pub unit: u32,
    /// It is parity.
    pub is_parity: bool,
    /// Slot of its module; `None`: missing, or not to be trusted.
    pub slot: Option<u32>,
    /// Its die in the module.
    pub die: u32,
    /// Its row in the block.
    pub row: u32,
    /// Its block is marked bad.
    pub is_bad: bool,
    /// Its sectors.
    pub sectors: Vec<SectorDetail>,
}

/// A sector of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectorDetail {
    /// Its place in the unit.
    pub sector: u32,
    /// What was found.
    pub state: CellState,
    /// Why it is not good, exactly.
    pub why: Option<String>,
    /// What its spare area says, if that can be read: the role.
    pub role: Option<String>,
    /// LBA, segment or index.
    pub lba: Option<u32>,
    /// Version.
    pub version: Option<u64>,
    /// Opening of the band that it was written at.
    pub band_sequence: Option<u64>,
    /// Members of the stripe, as bits.
    pub members: Option<u64>,
    /// Where the band's sectors came from.
    pub stream: Option<u8>,
    /// Checksum of the payload.
    pub payload_crc: Option<u32>,
    /// Parity: of the others' payloads.
    pub member_crc: Option<u32>,
    /// It is what a sector of the host, or a list of holes, reads as.
    pub is_current: Option<bool>,
}

impl<M: Media> Examined<M> {
    /// A band, stripe by stripe.
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

    /// A stripe, member by member.
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

fn in_range(what: &'static str, asked: u32, count: u32) -> Result<(), FsckError> {
    if asked < count { Ok(()) } else { Err(FsckError::NoSuch { what, asked: asked.into(), count: count.into() }) }
}

fn line(stripe: &Stripe, layout: &Layout) -> StripeLine {
    let of_unit = |unit: u32| -> String {
        let is_member = stripe.members >> unit & 1 == 1;
        let letter = |sector| if is_member { letter(stripe.cell(unit, sector)) } else { ' ' };
        (0..layout.unit_sectors).map(letter).collect()
    };
    StripeLine {
        stripe: stripe.id.index,
        row: stripe.id.index / layout.groups,
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
