//! A small card and what tests do with it.

use media::{BlockAt, Flash, Media, MediaError, Physics, SectorState, Shape, Unit, UnitAt};

pub const SHAPE: Shape = Shape {
    modules: 3,
    dies_per_module: 2,
    blocks_per_die: 8,
    rows_per_block: 4,
    unit_sectors: 4,
    payload_bytes: 128,
    rows_sharing_cells: 1,
};

pub fn flash(physics: Physics) -> Flash {
    Flash::new(SHAPE, physics, 7)
}

pub fn at(module: u32, block: u32, row: u32) -> UnitAt {
    UnitAt { block: BlockAt { module, die: 0, block }, row }
}

/// A unit whose bytes follow from `mark`.
pub fn unit(shape: &Shape, mark: u8) -> Unit {
    let mut unit = Unit::new(shape);
    for sector in 0..unit.sectors() {
        let of = |i: usize| mark ^ (i as u8).wrapping_mul(31) ^ ((sector as u8) << 5);
        unit.spare_mut(sector).iter_mut().zip(0..).for_each(|(byte, i)| *byte = of(i));
        unit.payload_mut(sector).iter_mut().zip(media::SPARE_BYTES..).for_each(|(byte, i)| *byte = of(i));
    }
    unit
}

pub fn program(flash: &mut Flash, at: UnitAt, mark: u8) -> Result<(), MediaError> {
    let unit = unit(flash.shape(), mark);
    flash.program(at, &unit)
}

/// The state of each sector of a unit: E(rased), U(ncorrectable), G(ood), W(rong bytes).
pub fn look(flash: &mut Flash, at: UnitAt, mark: u8) -> String {
    let expected = unit(flash.shape(), mark);
    let mut out = Unit::new(flash.shape());
    flash.read(at, &mut out).expect("the unit answers");
    (0..out.sectors())
        .map(|sector| match out.state(sector) {
            SectorState::Erased => 'E',
            SectorState::Uncorrectable => 'U',
            SectorState::Good
                if out.spare(sector) == expected.spare(sector) && out.payload(sector) == expected.payload(sector) =>
            {
                'G'
            }
            SectorState::Good => 'W',
        })
        .collect()
}
