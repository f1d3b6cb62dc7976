//! A card's media, and the result of recovery on them.

use crate::error::FsckError;
use crate::modules::Modules;
use crate::stripe::{Stripe, units};
use card::{CardConfig, OpenError, may_adopt};
use format::{CardId, ModuleHeader};
use ftl::recover::{
    AssembleError, Assembly, BandIdentity, Card, Found, FoundState, Opening, Rejection, ScanError, assemble, identify,
    layout_of, scan,
};
use ftl::{BandId, Layout, StreamId, StripeId, split_units};
use media::Media;

/// The number of the stream of checkpoints in spare areas.
pub(crate) const CHECKPOINT_STREAM: u8 = StreamId::Checkpoint as u8;

/// The highest number of sectors, of all modules together, of a card that can be examined. The map and the versions of
/// its sectors are in memory.
pub const MAX_SECTORS: u64 = 1 << 28;

/// A card that is described beside its media: a start takes no other.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The configuration of the card.
    pub config: CardConfig,
    /// The name of the card, if it is known.
    pub id: Option<CardId>,
}

/// A card's media, and the result of recovery on them.
pub struct Examined<M> {
    pub(crate) media: M,
    /// The modules by slot, with their headers.
    pub modules: Modules,
    pub(crate) card: Result<OnMedia, AssembleError>,
    /// The reason why a start refuses what is on the media, though they hold a card: it is described otherwise.
    pub(crate) otherwise: Option<OpenError>,
}

/// A card whose modules could be assembled.
pub(crate) struct OnMedia {
    pub assembly: Assembly,
    pub layout: Layout,
    trusted: Vec<Option<u32>>,
    pub found: Result<Found, ScanError>,
}

/// A band, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BandKnown {
    /// Nothing is written in the band.
    Free,
    /// Nothing in the band counts.
    Dirty,
    /// No die of the band answers.
    Silent,
    /// The band holds sectors.
    Opened(Opened),
}

/// A band that holds sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub band: BandId,
    pub opening: Opening,
    /// The members of its stripes by group of dies, as bits.
    pub members: Vec<u64>,
    pub has_summary: bool,
    pub is_complete: bool,
}

impl<M: Media> Examined<M> {
    /// Examines the media as a start of the card does that is described nowhere else.
    pub fn new(media: M) -> Result<Examined<M>, FsckError> {
        Examined::examine(media, None)
    }

    /// Examines the media as a start of the described card does.
    pub fn described(media: M, described: &Described) -> Result<Examined<M>, FsckError> {
        Examined::examine(media, Some(described))
    }

    fn examine(mut media: M, described: Option<&Described>) -> Result<Examined<M>, FsckError> {
        let assembly = match assemble(&mut media, described.and_then(|described| described.id)) {
            Ok(assembly) => assembly,
            Err(AssembleError::NoCard) => {
                return Err(FsckError::NoCard { reason: Modules::read(&mut media, None).no_header() });
            }
            Err(error @ (AssembleError::NewerVersion { .. } | AssembleError::OlderVersion { .. })) => {
                return Err(FsckError::OtherVersion(error));
            }
            Err(error) => {
                let modules = Modules::read(&mut media, None);
                return Ok(Examined { media, modules, card: Err(error), otherwise: None });
            }
        };
        let sectors = assembly.header.shape.sectors().unwrap_or(u64::MAX);
        if sectors > MAX_SECTORS {
            return Err(FsckError::TooLarge { sectors, max: MAX_SECTORS });
        }
        let modules = Modules::read(&mut media, Some(&assembly));
        let (layout, trusted) = (layout_of(&assembly.header), assembly.trusted_slots());
        let found = scan(&mut media, &card(&assembly.header, &layout, &trusted));
        let otherwise = described.and_then(|Described { config, .. }| {
            let made = card::is_made_so(&assembly.header, config);
            let adopted = |()| found.as_ref().map_or(Ok(()), |found| may_adopt(config, &media, &assembly, found));
            made.and_then(adopted).err()
        });
        Ok(Examined { media, modules, card: Ok(OnMedia { assembly, layout, trusted, found }), otherwise })
    }

    /// Gives the media back.
    pub fn into_media(self) -> M {
        self.media
    }

    /// The media and the card, if it could be assembled.
    pub(crate) fn parts(&mut self) -> Result<(&mut M, &OnMedia), FsckError> {
        match &self.card {
            Ok(card) => Ok((&mut self.media, card)),
            Err(error) => Err(FsckError::Refuses(error.clone())),
        }
    }
}

fn card<'a>(header: &ModuleHeader, layout: &'a Layout, modules: &'a [Option<u32>]) -> Card<'a> {
    Card {
        layout,
        modules,
        bands: header.shape.blocks_per_die,
        card: header.card.short(),
        user_sectors: header.user_sectors as u32,
        payload_bytes: header.shape.payload_bytes,
        slc_bits_per_cell: header.slc_bits_per_cell,
        watermark: ftl::recover::DurableWatermark::of(header),
        power_loss_protection: header.power_loss_protection,
        log_begins: header.log_begins,
        use_checkpoints: true,
        use_summaries: true,
    }
}

impl OnMedia {
    pub fn header(&self) -> &ModuleHeader {
        &self.assembly.header
    }

    /// The card, as recovery needs it.
    pub fn card(&self) -> Card<'_> {
        card(self.header(), &self.layout, &self.trusted)
    }

    pub fn bands(&self) -> u32 {
        self.header().shape.blocks_per_die
    }

    /// The number of stripes of a band that are in use.
    pub fn stripes(&self, slc: bool) -> u32 {
        let rows = if slc { self.layout.rows / self.header().slc_bits_per_cell.max(1) } else { self.layout.rows };
        rows * self.layout.groups
    }

    /// The stripes that take data or a summary, with their members.
    pub fn stripes_of<'a>(&'a self, opened: &'a Opened) -> impl Iterator<Item = (StripeId, u64)> + 'a {
        let stripes = (0..self.stripes(opened.opening.slc)).map(|index| {
            let members = opened.members[self.layout.group_of(index) as usize];
            (StripeId { band: opened.band, index }, members)
        });
        stripes.filter(|(id, members)| split_units(id.index, *members, &self.layout).data != 0)
    }

    /// Whether a rebuild may skip the stripe when nothing in it counts: it holds data, and a summary lists them.
    pub fn may_be_left_out(&self, opened: &Opened, id: StripeId) -> bool {
        let stripes = self.stripes(opened.opening.slc);
        opened.has_summary
            && opened.opening.stream != CHECKPOINT_STREAM
            && id.index < self.layout.data_stripes(stripes, |group| opened.members[group as usize])
    }

    /// The band as the scan found it or, when the card refuses to start, as its spare areas describe it.
    pub fn band<M: Media>(&self, media: &mut M, band: BandId) -> Result<BandKnown, FsckError> {
        let Ok(found) = &self.found else { return self.look_at(media, band) };
        let of_band = &found.bands[band.0 as usize];
        Ok(match of_band.state {
            FoundState::Free => BandKnown::Free,
            FoundState::Dirty => BandKnown::Dirty,
            FoundState::Closed => BandKnown::Opened(Opened {
                band,
                opening: of_band.opening(),
                members: found.units(band).to_vec(),
                has_summary: of_band.has_summary,
                is_complete: of_band.is_complete,
            }),
        })
    }

    fn look_at<M: Media>(&self, media: &mut M, band: BandId) -> Result<BandKnown, FsckError> {
        let mut floor = 0;
        let mut stripe = Stripe::new(&self.layout, media.shape());
        // The loop ends, because each opening that is found is later than the one before.
        loop {
            let (opening, members) = match identify(media, &self.card(), band, floor) {
                Ok(BandIdentity::Opened { opening, members }) => (opening, members),
                Ok(BandIdentity::Free) => return Ok(BandKnown::Free),
                Ok(BandIdentity::Unknown) => return Ok(BandKnown::Dirty),
                Err(ScanError::NoAnswer { .. }) => return Ok(BandKnown::Silent),
                Err(error) => return Err(error.into()),
            };
            let opened = Opened { band, opening, members, has_summary: false, is_complete: false };
            let mut latest = opening.sequence;
            for (id, members) in self.stripes_of(&opened) {
                stripe.read(media, &self.card(), id, &opening, members)?;
                for (unit, sector) in stripe.places() {
                    if let Some(Rejection::OtherOpening { sequence }) = stripe.cell(unit, sector).why {
                        latest = latest.max(sequence);
                    }
                }
            }
            if latest == opening.sequence {
                return Ok(BandKnown::Opened(opened));
            }
            floor = latest;
        }
    }

    /// Reads the stripes of all bands that `wanted` accepts.
    pub fn walk<M: Media>(
        &self,
        media: &mut M,
        wanted: impl Fn(&Opened) -> bool,
        mut visit: impl FnMut(&Opened, &Stripe),
    ) -> Result<(), FsckError> {
        let mut stripe = Stripe::new(&self.layout, media.shape());
        for band in (0..self.bands()).map(BandId) {
            let BandKnown::Opened(opened) = self.band(media, band)? else { continue };
            if !wanted(&opened) {
                continue;
            }
            for (id, members) in self.stripes_of(&opened) {
                stripe.read(media, &self.card(), id, &opened.opening, members)?;
                visit(&opened, &stripe);
            }
        }
        Ok(())
    }

    /// The units of a stripe in a band whose members are unknown: all that are not marked bad.
    pub fn usable_units<M: Media>(&self, media: &M, id: StripeId) -> u64 {
        let usable = |unit: &u32| {
            let at = self.card().unit_at(self.layout.unit_address(id, *unit));
            at.is_none_or(|at| !media.is_bad(at.block))
        };
        units(self.layout.all_units()).filter(usable).map(|unit| 1 << unit).sum()
    }
}
