//! Scaling a card.

use profile::{Capacities, Profile};

fn spare(profile: &Profile, scale: f64) -> f64 {
    Capacities::of(&profile.lower(scale).unwrap().cards()[0]).effective_spare_factor
}

#[test]
fn scale_keeps_the_effective_spare_factor() {
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap();
        if profile.figures().unwrap().is_none() {
            continue;
        }
        let full = spare(&profile, 1.0);
        for denominator in [2.0, 3.0, 16.0, 64.0, 100.0, 256.0, 10_000.0] {
            let scaled = spare(&profile, 1.0 / denominator);
            assert!((scaled / full - 1.0).abs() < 0.001, "{name} at 1/{denominator}: {scaled} against {full}");
        }
    }
}

#[test]
fn scale_keeps_everything_but_bands() {
    let profile = Profile::builtin("tachion-400").unwrap();
    let (full, small) = (profile.lower(1.0).unwrap(), profile.lower(1.0 / 64.0).unwrap());
    let (full, mut small) = (full.cards()[0], small.cards()[0]);
    // 8192 bands less the few that stay free or open are 64 times 127.9 or so.
    assert_eq!(small.bands, 128 + full.ftl.overhead_bands());
    small.bands = full.bands;
    small.ftl.user_sectors = full.ftl.user_sectors;
    assert_eq!(small, full);
}

#[test]
fn a_reserve_comes_off_the_user_capacity() {
    let mut profile = Profile::builtin("iodrive-160-slc").unwrap();
    profile.set("ftl.reserve=25%").unwrap();
    assert_eq!(profile.lower(1.0).unwrap().user_bytes(), 120_000_000_000);
    let figures = profile.figures().unwrap().unwrap();
    assert!((figures.reserve() - 0.25).abs() < 1e-9);
    assert!(figures.capacities.spare_factor > 0.37);
}

#[test]
fn a_scaled_card_that_stops_the_world_can_reach_its_stop() {
    let profile = Profile::builtin("tachion-400-preproduction").unwrap();
    for denominator in [1.0, 16.0, 64.0, 256.0, 4096.0] {
        let device = profile.lower(1.0 / denominator).unwrap();
        let card = &device.cards()[0];
        let ftl::GcMode::StopTheWorld { stop_free_bands, .. } = card.ftl.gc else { panic!("stop-the-world") };
        let usable = card.bands - card.ftl.reserve_bands - stop_free_bands - 2;
        let used = card.ftl.user_sectors as f64 / Capacities::of(card).data_sectors_per_band as f64;
        assert!(used < f64::from(usable), "1/{denominator}: {used} bands used of {usable}");
    }
}

#[test]
fn no_card_gets_too_small_to_behave_like_itself() {
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap();
        let device = profile.lower(1e-12).unwrap();
        for card in device.cards() {
            let capacities = Capacities::of(card);
            let data_bands = capacities.bands - capacities.overhead_bands;
            assert!(data_bands >= 32, "{name}: {data_bands}");
            assert!(capacities.effective_spare_factor * f64::from(data_bands) >= 1.9, "{name}");
            assert!(card.ftl.slc_cache.is_none_or(|c| c.bands >= 1), "{name}");
        }
    }
}

#[test]
fn disks_have_their_full_size_at_any_scale() {
    let profile = Profile::builtin("sas-raid10-6").unwrap();
    let (full, small) = (profile.lower(1.0).unwrap(), profile.lower(1.0 / 64.0).unwrap());
    assert_eq!(full.user_bytes(), 3 * 146_815_737_856);
    assert_eq!(small, full);
    assert_eq!(profile.scale(1.0 / 64.0), 1.0);
    assert_eq!(Profile::builtin("tachion-400").unwrap().scale(1.0 / 64.0), 1.0 / 64.0);
}

#[test]
fn an_impossible_scale_is_an_error() {
    let profile = Profile::builtin("tachion-400").unwrap();
    for (scale, text) in [
        (0.0, "scale 0 is not above 0 and at most 1"),
        (-1.0, "scale -1 is not above 0 and at most 1"),
        (1.5, "scale 1.5 is not above 0 and at most 1"),
        (f64::NAN, "scale NaN is not above 0 and at most 1"),
    ] {
        assert_eq!(profile.lower(scale).unwrap_err().to_string(), text);
    }
}

#[test]
fn a_card_beyond_32_bits_needs_a_smaller_scale() {
    let mut profile = Profile::builtin("violin-3205").unwrap();
    profile.set("geometry.blocks_per_plane=65536").unwrap();
    let error = profile.lower(1.0).unwrap_err().to_string();
    assert_eq!(
        error,
        "--set geometry.blocks_per_plane=65536: 10,737,418,240 sectors of 4 KiB are too many for a map of 4-byte entries: use --scale 1/8 or smaller"
    );
    profile.lower(1.0 / 8.0).unwrap();
}

/// A card in files is sized anew at each start, and must be what it was when it was made.
#[test]
fn cards_with_contents_keep_the_bands_that_they_were_made_with() {
    for (name, mib, bands, pages_per_block) in [
        ("drive-array-16", 64, 43, 8),
        ("drive-array-16", 4096, 89, 8),
        ("memory-16", 1024, 170, 64),
        ("tachion-400", 768, 146, 16),
        ("datacenter-tlc-3840", 10_240, 267, 12),
    ] {
        let card = Profile::builtin(name).unwrap().with_contents(Some(mib << 20)).unwrap();
        assert_eq!((card.bands, card.nand.geometry.pages_per_block), (bands, pages_per_block), "{name}, {mib} MiB");
    }
}

#[test]
fn scale_keeps_the_share_of_the_map_that_memory_holds() {
    let profile = Profile::builtin("samsung-980-1tb").unwrap();
    let share = |scale: f64| {
        let device = profile.lower(scale).unwrap();
        let ftl = &device.cards()[0].ftl;
        let cache = ftl.map_cache.unwrap();
        f64::from(cache.pages) / cache.map_pages(ftl.user_sectors) as f64
    };
    // 64 MiB have entries for 64 GiB.
    assert!((share(1.0) - 64.0 * (1 << 30) as f64 / 1e12).abs() < 1e-4, "{}", share(1.0));
    for denominator in [4.0, 16.0, 64.0, 256.0] {
        let scaled = share(1.0 / denominator);
        // A page more or less is all that rounding makes.
        assert!((scaled / share(1.0) - 1.0).abs() < 0.02, "1/{denominator}: {scaled}");
    }
}

/// Zones stay as large as they are, and become fewer.
#[test]
fn a_smaller_card_has_fewer_zones_of_the_same_size() {
    let mut profile = Profile::builtin("datacenter-tlc-3840").unwrap();
    profile.set("zones.bands=2").unwrap();
    let at = |scale: f64| {
        let device = profile.lower(scale).unwrap();
        let card = device.cards()[0];
        let limits = card.zone_limits().unwrap();
        assert_eq!(device.user_bytes(), u64::from(limits.zones) * u64::from(limits.capacity) * 4096);
        assert!(card.bands >= 2 * limits.zones + 6, "bands are left for bad blocks");
        limits
    };
    let (full, half, least) = (at(1.0), at(0.5), at(1.0 / 256.0));
    assert_eq!((full.zones, half.zones, least.zones), (684, 342, 32));
    assert_eq!((full.capacity, half.capacity), (least.capacity, least.capacity));
}
