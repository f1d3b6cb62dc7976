//! Explains why a sector reads as it does.

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

/// The highest number of sectors that one answer has.
pub const MAX_ASKED: u64 = 4_096;

/// The value that stands for no address in the map.
const NONE: u32 = u32::MAX;

/// A copy of a sector, or the remains of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopyFound {
    /// The band that the copy lies in.
    pub band: u32,
    /// The number of the opening that the copy was written at.
    pub band_sequence: u64,
    /// The number of the stripe within the band.
    pub stripe: u32,
    /// The number of the unit within the stripe.
    pub unit: u32,
    /// The number of the sector within the unit.
    pub sector: u32,
    /// The role of the sector, as a word.
    pub role: String,
    /// The version of the copy, if it is known.
    pub version: Option<u64>,
    /// The state of the place of the copy.
    pub state: CellState,
    /// The exact reason why the copy is not good.
    pub why: Option<String>,
    /// The copy was rebuilt from the other members of its stripe.
    pub rebuilt: bool,
    /// The state of the copy's stripe.
    pub in_stripe: StripeState,
    /// The copy is a candidate for the contents of the sector.
    pub counts: bool,
    /// The sector reads as this copy.
    pub believed: bool,
}

/// The newest list of holes of a sector's segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoleList {
    /// The number of the segment.
    pub segment: u32,
    /// The version of the list.
    pub version: u64,
    /// The version up to which the list counts.
    pub as_of: u64,
    /// The list names the sector.
    pub is_hole: bool,
    /// The band that the list lies in.
    pub band: u32,
    /// The stripe that the list lies in.
    pub stripe: u32,
}

/// The answer to a read of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadsAs {
    /// The read returns zeros.
    Zeros,
    /// The read returns the host's data.
    Data,
    /// The read fails.
    Error,
    /// There is no answer, because the card refuses to start.
    Nothing,
}

/// A sector, and why it reads as it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectorExplained {
    /// The address of the sector.
    pub lba: u64,
    /// The answer to a read of the sector.
    pub reads_as: ReadsAs,
    /// The reason for this answer, in a sentence.
    pub because: String,
    /// The version of the believed copy.
    pub version: Option<u64>,
    /// All copies, including those that don't count, the newest first.
    pub copies: Vec<CopyFound>,
    /// The newest list of holes of the sector's segment.
    pub holes: Option<HoleList>,
}

impl<M: Media> Examined<M> {
    /// Explains why sectors read as they do. Reads all bands.
    pub fn sectors(&mut self, lbas: RangeInclusive<u32>) -> Result<Vec<SectorExplained>, FsckError> {
        let (media, on) = self.parts()?;
        let count = on.header().user_sectors;
        if u64::from(*lbas.end()) >= count {
            return Err(FsckError::NoSuch { thing: "sector", asked: (*lbas.end()).into(), count });
        }
        let asked = (u64::from(*lbas.end()) + 1).saturating_sub((*lbas.start()).into());
        if asked > MAX_ASKED {
            return Err(FsckError::TooMany { asked, max: MAX_ASKED });
        }
        let mut copies = copies(media, on, &lbas)?;
        let mut scratch = Scratch::new(media.shape());
        lbas.map(|lba| explain(media, on, lba, copies.remove(&lba).unwrap_or_default(), &mut scratch)).collect()
    }
}

impl<M: Media> Examined<M> {
    /// The contents of a sector as the card reads it after a start; `None`: it reads as zeroes. The error is that of a card
    /// that does not start, or of a sector that can't be read.
    pub fn contents(&mut self, lba: u32) -> Result<Option<Vec<u8>>, FsckError> {
        let (media, on) = self.parts()?;
        let found = on.found.as_ref().map_err(|error| FsckError::Scan(*error))?;
        if let Ok(at) = found.logged.binary_search_by_key(&lba, |logged| logged.lba) {
            return Ok(Some(found.logged[at].payload.to_vec()));
        }
        let Some(ppa) = found.map.get(lba as usize).copied().filter(|ppa| *ppa != NONE) else { return Ok(None) };
        let mut scratch = Scratch::new(media.shape());
        let at = SectorAt::of(&on.layout, Ppa(ppa));
        let read = read(media, on, found, at, &mut scratch).map_err(|error| FsckError::Sector { lba, error })?;
        match read.role == Role::Data && read.lba == lba {
            true => Ok(Some(scratch.payload(&read).to_vec())),
            false => Err(FsckError::NotThere { lba }),
        }
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

/// The copy in a place, if it is or was a copy of one of these sectors of the host.
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
            return Ok(SectorExplained { lba: lba.into(), reads_as, because, version, copies, holes: None });
        }
    };
    let holes = hole_list(media, on, found, lba, scratch);
    let ppa = found.map[lba as usize];
    if let Ok(at) = found.logged.binary_search_by_key(&lba, |logged| logged.lba) {
        let version = found.logged[at].version;
        let because = format!(
            "in the log: version {version} lies there only, and the next start writes it to a stripe before anything else"
        );
        return Ok(SectorExplained {
            lba: lba.into(),
            reads_as: ReadsAs::Data,
            because,
            version: Some(version),
            copies,
            holes,
        });
    }
    if ppa == NONE {
        let because = why_zeros(&copies, holes.as_ref(), !found.checkpoint_bands.is_empty());
        return Ok(SectorExplained {
            lba: lba.into(),
            reads_as: ReadsAs::Zeros,
            because,
            version: None,
            copies,
            holes,
        });
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
    Ok(SectorExplained { lba: lba.into(), reads_as, because, version, copies, holes })
}

/// Marks the copy that the card believes. Adds the copy if only a summary lists it.
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

/// The reason why the believed copy is believed.
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

impl CopyFound {
    /// The reason why the copy does or doesn't count, in a word or two.
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
