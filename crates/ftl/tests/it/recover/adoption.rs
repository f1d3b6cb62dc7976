//! Flash management goes on from what a scan found.

use crate::recover::writer::{Made, PAYLOAD, SMALL, Writer};
use ftl::recover::Found;
use ftl::{BandId, FoundBlock, Ftl, FtlConfig, GcMode, Persistence, VictimPolicy};
use media::nand::{Endurance, Geometry, NandConfig, OpTiming, Timing};

const MADE: Made = Made { bands: 16, ..SMALL };

fn adopt(made: &Made, found: &Found) -> Ftl {
    let times = OpTiming { read_ns: 1, program_ns: 1, erase_ns: 1 };
    let nand = NandConfig {
        geometry: Geometry {
            modules: made.modules,
            channels_per_module: 1,
            dies_per_channel: made.dies_per_module,
            planes_per_die: 1,
            blocks_per_plane: made.bands,
            pages_per_block: made.rows,
            page_bytes: 4096 * made.unit_sectors,
            spare_bytes: 128,
            multi_plane: false,
        },
        timing: Timing { native: times, slc: times, bus_bytes_per_s: 1, suspend_ns: None, max_suspends: 0 },
        endurance: Endurance { rated_cycles: 1_000, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
    };
    let config = FtlConfig {
        user_sectors: made.user_sectors.into(),
        mapping_sectors: 1,
        stripe_width: made.width,
        parity_units: made.parity,
        victim: VictimPolicy::Greedy,
        gc: GcMode::Paced { target_free_bands: 1 },
        reserve_bands: 2,
        separate_streams: true,
        static_wear_spread_cycles: 0,
        slc_cache: None,
        persistence: Some(Persistence {
            payload_bytes: PAYLOAD as u32,
            cell_rows: made.cell_rows,
            checkpoint_every_bands: 0,
        }),
        placement: None,
        map_cache: None,
        zones: None,
        compression: None,
    };
    assert_eq!(config.layout(&nand.geometry), made.layout());
    let new = |_, _| FoundBlock { bad: false, cycles: 0 };
    Ftl::adopt(&nand, made.bands, &config, 1, found, new, |_| false).unwrap()
}

#[test]
fn a_full_band_stays_as_it_is_and_tells_what_it_holds() {
    let mut writer = Writer::new(MADE);
    writer.full_band(3, 0);
    let ftl = adopt(&MADE, &writer.scan().unwrap());
    assert!(ftl.has_summary(BandId(3)) && !ftl.must_empty());
}

#[test]
fn a_band_whose_summary_was_not_read_is_emptied_though_it_is_full() {
    let mut writer = Writer::new(MADE);
    writer.full_band(3, 0);
    let found = writer.scan_all().unwrap();
    assert!(found.bands[3].is_complete);
    let ftl = adopt(&MADE, &found);
    assert!(!ftl.has_summary(BandId(3)) && ftl.must_empty());
}

#[test]
fn a_band_that_was_open_is_emptied_though_its_stripes_are_whole() {
    let mut writer = Writer::new(MADE);
    let mut open = writer.open(3);
    writer.write(&mut open, &[0, 1]);
    let found = writer.scan().unwrap();
    assert!(found.rescue.is_empty());
    let ftl = adopt(&MADE, &found);
    assert!(!ftl.has_summary(BandId(3)) && ftl.must_empty());
}

#[test]
fn a_checkpoint_that_was_used_stays_though_its_band_was_not_filled() {
    let mut writer = Writer::new(MADE);
    writer.full_band(3, 0);
    let found = writer.scan().unwrap();
    writer.checkpoint(5, &found, &[]);
    let found = writer.scan().unwrap();
    assert_eq!(found.checkpoint_bands, [BandId(5)]);
    assert!(!found.bands[5].is_complete);
    let ftl = adopt(&MADE, &found);
    assert!(!ftl.checkpoint_is_flawed() && !ftl.must_empty());
}

/// Recovery has to read those again until there is a newer checkpoint.
#[test]
fn bands_that_the_checkpoint_does_not_know_were_opened_since() {
    let mut writer = Writer::new(MADE);
    writer.full_band(3, 0);
    let found = writer.scan().unwrap();
    writer.checkpoint(5, &found, &[]);
    (6..9).for_each(|band| drop(writer.full_band(band, 0)));
    let mut open = writer.open(9);
    writer.write(&mut open, &[0, 1]);
    let found = writer.scan().unwrap();
    assert_eq!(found.report.bands_by_checkpoint, 1);
    // Its own band is read beside them.
    assert_eq!(adopt(&MADE, &found).bands_since_checkpoint(), 4 + 1);
}
