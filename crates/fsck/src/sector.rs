//! Why a sector reads as it does.

use crate::error::FsckError;
use crate::examined::{Examined, OnMedia, Opened};
use crate::stripe::{CellState, Stripe, StripeState, role_word};
use crate::walk::word;
use format::{Role, is_hole};
use ftl::Ppa;
use ftl::recover::{Found, Scratch, SectorAt, SectorRead, read_sector};
use media::Media;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Sectors that one answer has, at most.
pub const MAX_ASKED: u64 = 4_096;

/// No address.
const NONE: u32 = u32::MAX;

/// A copy of a sector, or what was one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopyFound {
    /// Its band.
    pub band: u32,
    /// Number of the band's opening; of a copy from an earlier one, the copy's.
    pub band_sequence: u64,
    /// Its stripe.
    pub stripe: u32,
    /// Its unit in the stripe.
    pub unit: u32,
    /// Its place in the unit.
    pub sector: u32,
    /// What it is.
    pub role: String,
    /// Its version, if that is known.
    pub version: Option<u64>,
    /// What was found there.
    pub state: CellState,
    /// Why it is not good, exactly.
    pub why: Option<String>,
    /// It was made from the others of its stripe.
    pub rebuilt: bool,
    /// How its stripe is.
    pub in_stripe: StripeState,
    /// It takes part in what the sector reads as.
    pub counts: bool,
    /// It is what the sector reads as.
    pub believed: bool,
}

/// The newest list of holes of a sector's segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoleList {
    /// The segment.
    pub segment: u32,
    /// Version of the list.
    pub version: u64,
    /// The version up to which it counts.
    pub as_of: u64,
    /// The sector is in it.
    pub is_hole: bool,
    /// Where the list lies.
    pub band: u32,
    /// Its stripe.
    pub stripe: u32,
}

/// What a sector reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadsAs {
    /// Zeros.
    Zeros,
    /// What the host wrote.
    Data,
    /// An error.
    Error,
    /// Nothing: the card refuses to start.
    Nothing,
}

/// A sector, and why it reads as it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectorExplained {
    /// Its address.
    pub lba: u32,
    /// What it reads as.
    pub reads_as: ReadsAs,
    /// Why, in a sentence.
    pub because: String,
    /// Its version.
    pub version: Option<u64>,
    /// All copies, those that don't count among them; the newest first.
    pub copies: Vec<CopyFound>,
    /// The list of holes.
    pub holes: Option<HoleList>,
}

impl<M: Media> Examined<M> {
    /// Why sectors read as they do. All bands are read.
    pub fn sectors(&mut self, lbas: RangeInclusive<u32>) -> Result<Vec<SectorExplained>, FsckError> {
        let (media, on) = self.parts()?;
        let count = on.header().user_sectors;
        if u64::from(*lbas.end()) >= count {
            return Err(FsckError::NoSuch { what: "sector", asked: (*lbas.end()).into(), count });
        }
        let asked = (u64::from(*lbas.end()) + 1).saturating_sub((*lbas.start()).into());
        if asked > MAX_ASKED {
            return Err(FsckError::TooMany { asked, most: MAX_ASKED });
        }
        let mut copies = copies(media, on, &lbas)?;
        let mut scratch = Scratch::new(media.shape());
        lbas.map(|lba| explain(media, on, lba, copies.remove(&lba).unwrap_or_default(), &mut scratch)).collect()
    }
}

/// Every copy of these sectors, wherever it lies.
fn copies<M: Media>(
    media: &mut M,
    on: &OnMedia,
    lbas: &RangeInclusive<u32>,
) -> Result<BTreeMap<u32, Vec<CopyFound>>, FsckError> {
    let mut copies: BTreeMap<u32, Vec<CopyFound>> = BTreeMap::new();
    on.walk(
        media,
        |_| true,
        |opened, stripe| {
            for (unit, sector) in stripe.places() {
                if let Some((lba, copy)) = copy_at(opened, stripe, unit, sector, lbas) {
                    copies.entry(lba).or_default().push(copy);
                }
            }
        },
    )?;
    Ok(copies)
}

/// What lies in a place, if it is or was a copy of one of these sectors of the host.
fn copy_at(
    opened: &Opened,
    stripe: &Stripe,
    unit: u32,
    sector: u32,
    lbas: &RangeInclusive<u32>,
) -> Option<(u32, CopyFound)> {
    let cell = stripe.cell(unit, sector);
    let rebuilt = stripe.rebuilt(sector).and_then(Result::ok).filter(|_| cell.why.is_some());
    let (role, lba, version, sequence) = match (rebuilt, cell.spare) {
        (Some(rebuilt), _) => (rebuilt.role, rebuilt.lba, rebuilt.version, opened.opening.sequence),
        (None, Some(spare)) => (spare.role, spare.lba, spare.version, spare.band_sequence),
        (None, None) => return None,
    };
    if !matches!(role, Role::Data | Role::Lost) || !lbas.contains(&lba) {
        return None;
    }
    let copy = CopyFound {
        band: stripe.id.band.0,
        band_sequence: sequence,
        stripe: stripe.id.index,
        unit,
        sector,
        role: role_word(role).to_owned(),
        version: Some(version),
        state: cell.state(),
        why: cell.why.as_ref().map(ToString::to_string),
        rebuilt: rebuilt.is_some(),
        in_stripe: stripe.state(),
        counts: rebuilt.is_some() || cell.why.is_none(),
        believed: false,
    };
    Some((lba, copy))
}

fn explain<M: Media>(
    media: &mut M,
    on: &OnMedia,
    lba: u32,
    mut copies: Vec<CopyFound>,
    scratch: &mut Scratch,
) -> Result<SectorExplained, FsckError> {
    copies.sort_by_key(|copy| std::cmp::Reverse((copy.counts, copy.version, copy.band_sequence)));
    let found = match &on.found {
        Ok(found) => found,
        Err(error) => {
            let because = format!("the card refuses to start: {error}");
            let (reads_as, version) = (ReadsAs::Nothing, None);
            return Ok(SectorExplained { lba, reads_as, because, version, copies, holes: None });
        }
    };
    let holes = hole_list(media, on, found, lba, scratch);
    let ppa = found.map[lba as usize];
    if ppa == NONE {
        let because = why_zeros(&copies, holes.as_ref(), !found.checkpoint_bands.is_empty());
        return Ok(SectorExplained { lba, reads_as: ReadsAs::Zeros, because, version: None, copies, holes });
    }
    let at = SectorAt::of(&on.layout, Ppa(ppa));
    believe(media, on, found, at, &mut copies)?;
    let read = read(media, on, found, at, scratch);
    let choice = why_believed(&copies);
    let (reads_as, because) = match read {
        Ok(read) if read.role == Role::Lost => {
            let because =
                format!("it was lost and could not be moved; overwriting or trimming it ends that ({choice})");
            (ReadsAs::Error, because)
        }
        Ok(read) if read.role != Role::Data || read.lba != lba => {
            (ReadsAs::Error, format!("what lies there is {} of {}", role_word(read.role), read.lba))
        }
        Ok(read) if read.rebuilt => {
            (ReadsAs::Data, format!("{choice}; it can't be read where it lies, and is rebuilt from its stripe"))
        }
        Ok(_) => (ReadsAs::Data, choice),
        Err(error) => (ReadsAs::Error, format!("{choice}; {error}")),
    };
    let version = copies.iter().find(|copy| copy.believed).and_then(|copy| copy.version);
    Ok(SectorExplained { lba, reads_as, because, version, copies, holes })
}

/// Marks the copy that the card believes; one that nothing but a summary tells of is added.
fn believe<M: Media>(
    media: &mut M,
    on: &OnMedia,
    found: &Found,
    at: SectorAt,
    copies: &mut Vec<CopyFound>,
) -> Result<(), FsckError> {
    let is_at = |copy: &CopyFound| {
        (copy.band, copy.stripe, copy.unit, copy.sector) == (at.stripe.band.0, at.stripe.index, at.unit, at.sector)
    };
    if let Some(copy) = copies.iter_mut().find(|copy| is_at(copy)) {
        copy.believed = true;
        return Ok(());
    }
    let opening = found.bands[at.stripe.band.0 as usize].opening();
    let members = found.units(at.stripe.band)[on.layout.group_of(at.stripe.index) as usize];
    let mut stripe = Stripe::new(&on.layout, media.shape());
    stripe.read(media, &on.card(), at.stripe, &opening, members)?;
    let cell = stripe.cell(at.unit, at.sector);
    let copy = CopyFound {
        band: at.stripe.band.0,
        band_sequence: opening.sequence,
        stripe: at.stripe.index,
        unit: at.unit,
        sector: at.sector,
        role: "data, by the band's summary".to_owned(),
        version: None,
        state: cell.state(),
        why: cell.why.as_ref().map(ToString::to_string),
        rebuilt: false,
        in_stripe: stripe.state(),
        counts: true,
        believed: true,
    };
    copies.insert(0, copy);
    Ok(())
}

/// Reads a sector as the card would.
fn read<M: Media>(
    media: &mut M,
    on: &OnMedia,
    found: &Found,
    at: SectorAt,
    scratch: &mut Scratch,
) -> Result<SectorRead, ftl::recover::SectorError> {
    let opening = found.bands[at.stripe.band.0 as usize].opening();
    let members = found.units(at.stripe.band)[on.layout.group_of(at.stripe.index) as usize];
    read_sector(media, &on.card(), &opening, members, at, scratch)
}

fn hole_list<M: Media>(
    media: &mut M,
    on: &OnMedia,
    found: &Found,
    lba: u32,
    scratch: &mut Scratch,
) -> Option<HoleList> {
    let lbas = on.card().hole_segment_lbas();
    let segment = lba / lbas;
    let ppa = *found.map.get(on.header().user_sectors as usize + segment as usize)?;
    let at = SectorAt::of(&on.layout, Ppa(Some(ppa).filter(|ppa| *ppa != NONE)?));
    let list = read(media, on, found, at, scratch).ok()?;
    let payload = scratch.payload(&list);
    Some(HoleList {
        segment,
        version: list.version,
        as_of: format::holes_as_of(payload),
        is_hole: is_hole(payload, lba % lbas),
        band: at.stripe.band.0,
        stripe: at.stripe.index,
    })
}

fn why_zeros(copies: &[CopyFound], holes: Option<&HoleList>, by_checkpoint: bool) -> String {
    match (copies.iter().find(|copy| copy.counts).and_then(|copy| copy.version), holes) {
        (Some(version), Some(holes)) if holes.is_hole => format!(
            "trimmed: the list of holes of segment {} has it, as of version {}, and no copy is newer than {version}",
            holes.segment, holes.as_of
        ),
        (Some(version), _) if by_checkpoint => {
            format!("trimmed, as the checkpoint says, which knows of version {version}")
        }
        (Some(version), _) => format!("no copy of it counts; the newest is version {version}"),
        (None, Some(holes)) if holes.is_hole => format!(
            "trimmed, or never written: no copy of it is left, and the list of holes of segment {} has it",
            holes.segment
        ),
        (None, _) => "never written: no copy of it is on the media".to_owned(),
    }
}

/// Why the believed copy is believed.
fn why_believed(copies: &[CopyFound]) -> String {
    let Some(believed) = copies.iter().find(|copy| copy.believed) else { return "nothing is believed".to_owned() };
    let Some(version) = believed.version else {
        return "the summary of its band says that its newest version lies there".to_owned();
    };
    let others = || copies.iter().filter(|copy| copy.counts && !copy.believed);
    let same = || others().filter(|copy| copy.version == Some(version));
    if same().next().is_some() {
        let worse = same().filter(|copy| copy.in_stripe > StripeState::Degraded).count();
        let why = if believed.in_stripe <= StripeState::Degraded && worse == same().count() {
            "its stripe is whole, theirs are not"
        } else if same().all(|copy| copy.band_sequence < believed.band_sequence) {
            "its band was opened later"
        } else {
            "it lies in the better place"
        };
        let count = same().count();
        return format!("version {version}, of which there {} {}; {why}", if count == 1 { "is" } else { "are" }, {
            if count == 1 { "another copy".to_owned() } else { format!("{count} other copies") }
        });
    }
    match others().filter_map(|copy| copy.version).max() {
        Some(next) => format!("version {version} is the newest; the next is {next}"),
        None => format!("version {version} is the only copy"),
    }
}

/// A line's worth of what a copy is, for people.
impl CopyFound {
    /// Why it does or doesn't count, in a word or two.
    pub fn judgement(&self) -> String {
        match (self.believed, self.counts, self.rebuilt) {
            (true, _, true) => "believed, rebuilt from its stripe".to_owned(),
            (true, ..) if self.state == CellState::Good => "believed".to_owned(),
            (true, ..) => format!("believed, {}", word(self.state)),
            (false, true, true) => "older, or in a worse place; rebuilt".to_owned(),
            (false, true, false) => "older, or in a worse place".to_owned(),
            (false, false, _) => format!("doesn't count: {}", word(self.state)),
        }
    }
}
