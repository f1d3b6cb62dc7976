//! Faults of flash, as they are asked for.

use crate::CardUnderTest;
use crate::sim::plan::{Area, Flips, Metadata, Stray};
use crate::sim::{FaultKind, FaultSpec, Impact, Lost};
use device::Rng;
use format::Role;
use media::{BlockAt, Fault, Flash, Media, Part, SectorState, Unit, UnitAt};

/// Places that are looked at for one that holds what is to be damaged.
const TRIES: u32 = 200;

fn is_host(role: Role) -> bool {
    role == Role::Data
}

impl CardUnderTest {
    /// Does damage; `None` when it is not applicable now.
    pub(crate) fn do_harm(&mut self, fault: &FaultSpec) -> Option<Impact> {
        let mut rng = fault.chooser("where");
        let shape = *self.flash().shape();
        let die =
            |rng: &mut Rng| (rng.below(shape.modules.into()) as u32, rng.below(shape.dies_per_module.into()) as u32);
        let stray = |rng: &mut Rng| {
            let (module, die) = die(rng);
            let to_block = rng.below(shape.blocks_per_die.into()) as u32;
            (module, die, to_block, rng.below(shape.rows_per_block.into()) as u32)
        };
        let physics = *self.flash().physics();
        let injected = match fault.kind {
            FaultKind::ProgramFailure => {
                let (module, die) = die(&mut rng);
                Fault::FailPrograms { module, die, block: None, count: 1 }
            }
            FaultKind::EraseFailure => {
                let (module, die) = die(&mut rng);
                Fault::FailErases { module, die, block: None, count: 1 }
            }
            FaultKind::DeadDie => {
                let (module, die) = die(&mut rng);
                Fault::DieDead { module, die }
            }
            FaultKind::DeadModule => Fault::ModuleDead { module: die(&mut rng).0 },
            FaultKind::BitFlips { flips, area } => {
                let (at, sector) = self.written_sector(&mut rng, |role| is_host(role) == (area == Area::Data))?;
                let bits = match flips {
                    Flips::Below => physics.ecc_bits / 2,
                    Flips::At => physics.ecc_bits,
                    Flips::Above => physics.ecc_bits + 1,
                };
                // They add up with those that are there: what was to be corrected must be.
                let mut unit = Unit::new(&shape);
                let before = self.readable().read(at, &mut unit).map_or(0, |report| report.corrected_bits);
                if flips != Flips::Above && before + bits > physics.ecc_bits {
                    return None;
                }
                Fault::FlipBits { at, sector, bits: u16::try_from(bits).unwrap_or(u16::MAX) }
            }
            FaultKind::Miscorrection => {
                let (at, sector) = self.written_sector(&mut rng, is_host)?;
                let part = if rng.below(2) == 0 { Part::Payload } else { Part::Spare };
                Fault::Miscorrect { at, sector, part }
            }
            FaultKind::Damaged(Metadata::HeaderCopy) => {
                let module = die(&mut rng).0;
                // As long as there is a good copy beside it: without, the module is lost.
                let mut media = self.readable();
                let mut is_good = |copy| {
                    let bytes = media.read_header(module, copy).ok().flatten();
                    bytes.is_some_and(|bytes| format::ModuleHeader::decode(&bytes).is_ok())
                };
                if ![0, 1].map(&mut is_good).into_iter().all(|good| good) {
                    return None;
                }
                Fault::DamageHeader {
                    module,
                    copy: rng.below(2) as u32,
                    byte: rng.below(media::HEADER_BYTES as u64) as u32,
                    xor: 1 + rng.below(255) as u8,
                }
            }
            FaultKind::Damaged(Metadata::Spare) => {
                let (at, sector) = self.written_sector(&mut rng, is_host)?;
                let byte = rng.below(media::SPARE_BYTES as u64) as u32;
                Fault::DamageByte { at, sector, byte, xor: 1 + rng.below(255) as u8 }
            }
            FaultKind::Damaged(what @ (Metadata::Summary | Metadata::Checkpoint)) => {
                let role = if what == Metadata::Summary { Role::Summary } else { Role::Checkpoint };
                let (at, sector) = self.written_sector(&mut rng, |found| found == role)?;
                let byte = rng.below(media::SPARE_BYTES as u64 + u64::from(shape.payload_bytes)) as u32;
                Fault::DamageByte { at, sector, byte, xor: 1 + rng.below(255) as u8 }
            }
            FaultKind::Damaged(Metadata::Log) => return self.damage_log(&mut rng),
            FaultKind::Program(Stray::Lost) => {
                let (module, die) = die(&mut rng);
                Fault::LoseProgram { module, die }
            }
            FaultKind::Program(Stray::Misdirected) => {
                let (module, die, to_block, to_row) = stray(&mut rng);
                Fault::MisdirectProgram { module, die, to_block, to_row }
            }
            FaultKind::Program(Stray::Duplicated) => {
                let (module, die, to_block, to_row) = stray(&mut rng);
                Fault::DuplicateProgram { module, die, to_block, to_row }
            }
            FaultKind::StuckModule => Fault::ModuleStuck { module: die(&mut rng).0 },
            FaultKind::SlowModule => {
                let module = die(&mut rng).0;
                Fault::ModuleSlow { module, percent: 200 + rng.below(3_000) as u32 }
            }
            kind @ (FaultKind::ReadDisturb | FaultKind::Retention) => return self.fade(kind, &mut rng),
            FaultKind::Host { error, lasting } => self.host_fault(error, lasting, &mut rng)?,
            FaultKind::OutOfReach => return self.out_of_reach(&mut rng),
            FaultKind::LatentError => {
                let bits = u16::try_from(physics.ecc_bits + 1).unwrap_or(u16::MAX);
                return self.latent_error(&mut rng, bits);
            }
            FaultKind::TwoControllers => return self.other_controller_writes(fault.seed),
            FaultKind::OlderFormat => return self.set_format_version(0),
            FaultKind::NewerFormat => return self.set_format_version(format::VERSION + 1 + rng.below(3) as u16),
            FaultKind::OtherController => {
                self.flash_mut().set_controller(fault.seed);
                return Some(Impact::default());
            }
            _ => return None,
        };
        let impact = self.impact_of(&injected);
        self.flash_mut().inject(injected).then_some(impact)
    }

    /// The impact of a fault that takes a die or a module, when others are absent already.
    fn impact_of(&self, fault: &Fault) -> Impact {
        let modules = self.flash().shape().modules;
        let slot_of = |die: u32| self.card.as_ref().and_then(|card| card.slot_of(die));
        let lost = match *fault {
            Fault::DieDead { module, die } => {
                self.beyond_redundancy(|of| slot_of(of) == Some(module) && of / modules == die)
            }
            Fault::ModuleDead { module }
            | Fault::ModuleStuck { module }
            | Fault::HostError { module: Some(module), for_ever: true, .. }
            | Fault::NoSpace { module: Some(module), for_ever: true, .. }
            | Fault::ShortIo { module: Some(module), for_ever: true, .. }
            | Fault::FailSync { module, .. } => self.beyond_redundancy(|of| slot_of(of) == Some(module)),
            _ => return Impact::default(),
        };
        Impact { lost: Lost::These(lost), may_refuse: true, may_fail: true, may_stop: false }
    }

    /// The media as they can be looked at, with power or without.
    pub(crate) fn readable(&self) -> Flash {
        let mut media = self.flash().clone();
        if !media.has_power() {
            media.power_on();
        }
        media
    }

    /// A sector that is on flash and holds such a thing.
    fn written_sector(&mut self, rng: &mut Rng, holds: impl Fn(Role) -> bool) -> Option<(UnitAt, u32)> {
        let mut media = self.readable();
        let shape = *media.shape();
        let mut unit = Unit::new(&shape);
        for _ in 0..TRIES {
            let block = BlockAt {
                module: rng.below(shape.modules.into()) as u32,
                die: rng.below(shape.dies_per_module.into()) as u32,
                block: rng.below(shape.blocks_per_die.into()) as u32,
            };
            let at = UnitAt { block, row: rng.below(shape.rows_per_block.into()) as u32 };
            let sector = rng.below(shape.unit_sectors.into()) as u32;
            if media.read(at, &mut unit).is_err() || unit.state(sector as usize) != SectorState::Good {
                continue;
            }
            if format::Spare::decode(unit.spare(sector as usize)).is_ok_and(|spare| holds(spare.role)) {
                return Some((at, sector));
            }
        }
        None
    }

    /// Damages the newest copy of the header of each module that is there.
    pub(crate) fn damage_newest_headers(&mut self) {
        for module in 0..self.flash().shape().modules {
            let mut media = self.readable();
            let mut written = |copy| {
                let bytes = media.read_header(module, copy).ok().flatten()?;
                let header = format::ModuleHeader::decode(&bytes).ok()?;
                Some((header.generation, header.sequence))
            };
            let copy = u32::from(written(1) > written(0));
            self.flash_mut().inject(Fault::DamageHeader { module, copy, byte: 0, xor: 1 });
        }
    }

    /// Flips more bits than can be corrected in all of the stripe that holds the newest version of an LBA. `false`: no
    /// stripe on flash holds it. On a tiny card a stripe is a row of a band.
    pub(crate) fn lose_stripe(&mut self, lba: u32) -> bool {
        let mut media = self.readable();
        let shape = *media.shape();
        let mut unit = Unit::new(&shape);
        let places = |block, row| {
            let at = move |module| UnitAt { block: BlockAt { module, die: 0, block }, row };
            (0..shape.modules).map(at)
        };
        let mut newest = None;
        for (block, row) in (0..shape.blocks_per_die).flat_map(|b| (0..shape.rows_per_block).map(move |row| (b, row))) {
            for at in places(block, row) {
                if media.read(at, &mut unit).is_err() {
                    continue;
                }
                for sector in (0..unit.sectors()).filter(|&sector| unit.state(sector) == SectorState::Good) {
                    let spare = format::Spare::decode(unit.spare(sector));
                    if let Some(spare) = spare.ok().filter(|spare| is_host(spare.role) && spare.lba == lba) {
                        newest = newest.max(Some((spare.version, block, row)));
                    }
                }
            }
        }
        let Some((_, block, row)) = newest else { return false };
        let bits = self.flash().physics().ecc_bits + 1;
        for at in places(block, row) {
            for sector in 0..shape.unit_sectors {
                let bits = u16::try_from(bits).unwrap_or(u16::MAX);
                self.flash_mut().inject(Fault::FlipBits { at, sector, bits });
            }
        }
        true
    }
}
