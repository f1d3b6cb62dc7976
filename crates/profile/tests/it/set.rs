//! Settings that override a file.

use ftl::{GcMode, VictimPolicy};
use profile::{DeviceConfig, Host, Profile};

fn card_with(settings: &[&str]) -> card::CardConfig {
    let mut profile = Profile::builtin("tachion-400").unwrap();
    for setting in settings {
        profile.set(setting).unwrap_or_else(|e| panic!("{e}"));
    }
    match profile.lower(1.0).unwrap_or_else(|e| panic!("{e}")) {
        DeviceConfig::Card(card) => card,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_victim_under_gc_changes_the_victim_and_keeps_the_pacing() {
    let card = card_with(&["ftl.gc=fifo"]);
    assert_eq!(card.ftl.victim, VictimPolicy::Fifo);
    assert_eq!(card.ftl.gc, card_with(&[]).ftl.gc);
    assert!(matches!(card.ftl.gc, GcMode::Paced { .. }));
}

#[test]
fn a_tachion_can_be_set_to_stop_the_world() {
    let card = card_with(&["ftl.gc=stop-the-world"]);
    assert!(matches!(card.ftl.gc, GcMode::StopTheWorld { .. }));
    let card = card_with(&["ftl.victim=random-d", "ftl.d=8"]);
    assert_eq!(card.ftl.victim, VictimPolicy::RandomD(8));
}

#[test]
fn free_bands_hold_three_times_what_is_under_way() {
    let target = |settings: &[&str]| {
        let GcMode::Paced { target_free_bands } = card_with(settings).ftl.gc else { panic!("paced") };
        target_free_bands
    };
    assert_eq!(target(&[]), 4);
    assert_eq!(target(&["ftl.target_free_bands=6"]), 6);
    // 8 dies of 128 pages: 1,024 sectors a band, and 2,048 and 4,096 sectors under way.
    let few = [
        "geometry.modules=8",
        "geometry.channels_per_module=1",
        "geometry.dies_per_channel=1",
        "ftl.stripe_width=8",
        "ftl.parity_units=0",
        "geometry.blocks_per_plane=131072",
        "buffer.capacitor_joules=100",
    ];
    assert_eq!(target(&few), 18);
    assert_eq!(target(&[&few[..], &["buffer.bytes=1MiB", "relocation.sectors_under_way=512"]].concat()), 4);
    // With little spare space, as many as it has room for.
    assert_eq!(target(&[&few[..], &["geometry.blocks_per_plane=96200"]].concat()), 5);
}

#[test]
fn numbers_are_set_as_people_type_them() {
    let card = card_with(&[
        "timing.read_ns = 50_000",
        "buffer.bytes=16MiB",
        "link.read_bytes_per_s=2GB/s",
        "card.power_loss_protection=false",
        "relocation.path=host",
        "relocation.sector_ns=1000",
    ]);
    assert_eq!(card.nand.timing.native.read_ns, 50_000);
    assert_eq!(card.buffer_sectors, 4096);
    assert_eq!(card.link.read_bytes_per_s, 2_000_000_000);
    assert!(!card.power_loss_protection);
    assert_eq!(card.relocation_path, card::RelocationPath::Host { sector_ns: 1000 });
}

#[test]
fn none_takes_an_optional_key_away() {
    assert!(card_with(&[]).nand.timing.suspend_ns.is_some());
    assert_eq!(card_with(&["timing.suspend_ns=none"]).nand.timing.suspend_ns, None);
    let mut profile = Profile::builtin("consumer-qlc-2tb").unwrap();
    profile.set("slc_cache.bands=none").unwrap();
    profile.set("slc_cache.bits_per_cell=none").unwrap();
    let DeviceConfig::Card(card) = profile.lower(1.0).unwrap() else { panic!("one card") };
    assert_eq!(card.ftl.slc_cache, None);
    assert_eq!(card.nand.timing.slc, card.nand.timing.native);
}

#[test]
fn what_was_set_is_told() {
    let mut profile = Profile::builtin("tachion-400").unwrap();
    profile.set("ftl.gc=fifo").unwrap();
    assert_eq!(profile.changed(), ["ftl.gc=fifo"]);
    let json = profile.to_json_with_sources().unwrap();
    assert_eq!(json["changed"][0], "ftl.gc=fifo");
    assert_eq!(json["settings"]["ftl"]["victim"], "fifo");
    assert_eq!(json["sources"]["ftl"]["victim"]["basis"], "set");
}

#[test]
fn a_wrong_setting_changes_nothing() {
    let mut host = Host::builtin("default").unwrap();
    host.set("host.cores=8").unwrap();
    assert!(host.set("host.cores=none").is_err());
    assert!(host.set("host.cores=0").is_err());
    assert_eq!(host.config().cores, 8);
}

#[test]
fn less_energy_leaves_less_of_the_buffer() {
    let full = card_with(&[]);
    let less = card_with(&["buffer.capacitor_joules=0.8"]);
    assert_eq!(full.durable_buffer_sectors(), full.buffer_sectors);
    let durable = less.durable_buffer_sectors();
    assert!(durable > 0 && durable < full.buffer_sectors, "{durable}");
    assert!(less.drain_ns(durable) <= less.hold_up_ns().unwrap());
    assert!(less.drain_ns(durable + 1) > less.hold_up_ns().unwrap());
    let mut profile = Profile::builtin("tachion-400").unwrap();
    profile.set("buffer.capacitor_joules=0.8").unwrap();
    let page = profile.explain().unwrap();
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains("of the buffer are used"), "{page}");
}

#[test]
fn cells_are_shared_only_where_a_cut_meets_a_program() {
    let rows = |settings: &[&str]| card_with(settings).ftl.persistence.unwrap().cell_rows;
    assert_eq!(rows(&["geometry.rows_sharing_cells=3"]), 1);
    assert_eq!(rows(&["geometry.rows_sharing_cells=3", "card.power_loss_protection=false"]), 3);
}

#[test]
fn only_a_card_without_capacitors_can_lie_about_a_flush() {
    let lies = "card.acknowledge_flush_early=true";
    assert!(card_with(&["card.power_loss_protection=false", lies]).acknowledge_flush_early);
    let mut profile = Profile::open("tachion-400").unwrap();
    profile.set(lies).unwrap();
    let message = profile.lower(1.0).unwrap_err().to_string();
    assert!(message.contains("power_loss_protection=false"), "{message}");
}

#[test]
fn a_module_is_missing_only_from_a_model_whose_parity_stands_for_it() {
    assert_eq!(card_with(&["card.missing_module=3"]).model.missing_module, Some(3));
    for (name, settings, text) in [
        ("tachion-400", vec!["card.missing_module=99"], "there is no such module: the card has 0 to"),
        (
            "datacenter-tlc-3840",
            vec!["card.missing_module=0"],
            "takes 32 of the units of a stripe, and parity stands for 1",
        ),
        (
            "tachion-400",
            vec!["ftl.parity_units=0", "card.missing_module=0"],
            "takes 1 of the units of a stripe, and parity",
        ),
        ("sas-raid10-6", vec!["card.missing_module=0"], "missing_module"),
    ] {
        let mut profile = Profile::open(name).unwrap();
        settings.iter().for_each(|setting| profile.set(setting).unwrap());
        let message = profile.lower(1.0).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    }
    let mut profile = Profile::open("tachion-400").unwrap();
    profile.set("card.missing_module=3").unwrap();
    let message = profile.with_contents(None).unwrap_err().to_string();
    assert!(message.contains("only a model has a module that is missing from the start"), "{message}");
}

#[test]
fn a_mapping_unit_is_a_power_of_two_of_sectors_and_only_of_models() {
    assert_eq!(card_with(&[]).ftl.mapping_sectors, 1);
    assert_eq!(card_with(&["ftl.mapping_unit=16KiB"]).ftl.mapping_sectors, 4);
    for (value, said) in [("5000", "multiple of 4,096"), ("12KiB", "must be a power of two"), ("1MiB", "mapping_unit")]
    {
        let mut profile = Profile::builtin("tachion-400").unwrap();
        let refused = match profile.set(&format!("ftl.mapping_unit={value}")) {
            Ok(()) => profile.lower(1.0).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(refused.contains(said) && !refused.contains('\n'), "{value}: {refused}");
    }
    let mut profile = Profile::builtin("tachion-400").unwrap();
    profile.set("ftl.mapping_unit=64KiB").unwrap();
    assert!(profile.with_contents(None).unwrap_err().to_string().contains("mapping_unit"));
}

#[test]
fn a_fabric_adds_its_time_to_a_lone_request_and_its_controllers_bound_the_rate() {
    let link = |settings: &[&str]| {
        let mut profile = Profile::builtin("violin-3205").unwrap();
        settings.iter().for_each(|setting| profile.set(setting).unwrap());
        match profile.lower(1.0).unwrap() {
            DeviceConfig::Card(card) => card.link,
            other => panic!("{other:?}"),
        }
    };
    let alone = |link: card::LinkConfig| {
        (link.read_command_ns + link.latency_ns, link.write_command_ns + link.write_latency_ns)
    };
    let direct = link(&[]);
    let behind = link(&["fabric.through=fibre_channel"]);
    // 110 us of the fabric and 40 us of a controller's core.
    assert_eq!(alone(behind), (alone(direct).0 + 150_000, alone(direct).1 + 150_000));
    // 16 cores of 40 us each: 2.5 us a request, beside 2 us of the array's link.
    assert_eq!((behind.read_command_ns, behind.write_command_ns), (2_500, 2_500));
    assert_eq!(behind.read_bytes_per_s, direct.read_bytes_per_s);
    let narrow = link(&["fabric.through=iscsi", "fabric.controller_cores=2", "iscsi.read_bytes_per_s=1GB/s"]);
    assert_eq!((narrow.read_command_ns, narrow.read_bytes_per_s), (30_000, 1_000_000_000));
    assert_eq!(alone(narrow).0, alone(direct).0 + 130_000 + 60_000);
    // Writes with a command and a latency of their own.
    let own = ["link.write_command_ns=1000", "link.write_latency_ns=7000"];
    let (direct_own, behind_own) = (link(&own), link(&[own[0], own[1], "fabric.through=fibre_channel"]));
    assert_eq!(alone(direct_own), (alone(direct).0, 8_000));
    assert_eq!(alone(behind_own), (alone(behind).0, 158_000));
    let many = link(&["fabric.through=infiniband", "fabric.controller_cores=64"]);
    assert_eq!((many.read_command_ns, alone(many).0), (2_000, alone(direct).0 + 40_000));
}

#[test]
fn the_latency_of_a_write_is_told_where_it_is_another() {
    let explained = |settings: &[&str]| {
        let mut profile = Profile::builtin("intel-p4500-2tb").unwrap();
        settings.iter().for_each(|setting| profile.set(setting).unwrap());
        // Lines are broken at 80 columns.
        profile.explain().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (own, same) = ("link.write_latency_ns=20000", "link.write_latency_ns=9000");
    assert!(explained(&["link.latency_ns=9000", own]).contains("; and 9 µs of latency, 20 µs of a write"));
    let of_both = explained(&["link.latency_ns=9000", same]);
    assert!(of_both.contains("; and 9 µs of latency") && !of_both.contains("µs of a write"), "{of_both}");
}

#[test]
fn a_fabric_that_the_card_has_no_figures_of_is_refused() {
    let profile = Profile::builtin("tachion-400").unwrap();
    let error = |settings: &[&str]| {
        let mut profile = profile.clone();
        let set = settings.iter().try_for_each(|setting| profile.set(setting));
        set.and_then(|()| profile.lower(1.0).map(drop)).unwrap_err().to_string()
    };
    let all = ["fabric.through=iscsi", "fabric.controller_cores=4"];
    assert!(
        error(&all).contains("fabric.through=iscsi") && error(&all).contains("missing table [iscsi]"),
        "{}",
        error(&all)
    );
    assert!(
        error(&["fabric.through=fibre"]).contains("nearest: fibre_channel"),
        "{}",
        error(&["fabric.through=fibre"])
    );
}

#[test]
fn memory_for_a_part_of_the_map_is_of_models_alone() {
    let whole = card_with(&[]);
    assert_eq!((whole.ftl.map_cache, whole.model.map_hit_ns), (None, 0));
    let part = card_with(&["map_cache.bytes=64MiB", "map_cache.hit_ns=900"]);
    let cache = part.ftl.map_cache.unwrap();
    assert_eq!((cache.pages, cache.page_sectors), (16_384, 1_024), "4 bytes for each sector of 4 KiB");
    assert_eq!(cache.map_pages(part.ftl.user_sectors), part.ftl.user_sectors.div_ceil(1_024));
    assert_eq!((part.model.map_hit_ns, part.ftl.reserve_bands), (900, whole.ftl.reserve_bands + 1));
    let covers = |settings: &[&str]| card_with(settings).ftl.map_cache.unwrap().page_sectors;
    assert_eq!(covers(&["map_cache.bytes=1MiB", "ftl.mapping_unit=16KiB"]), 4_096, "4 bytes for each mapping unit");
    assert_eq!(covers(&["map_cache.bytes=1MiB", "map_cache.page_covers=2MiB"]), 512);
    // Memory for all of it is what cards have that say nothing; a lookup in it may take time.
    assert_eq!(card_with(&["map_cache.bytes=1GiB"]), whole);
    let slow = card_with(&["map_cache.bytes=1GiB", "map_cache.hit_ns=1"]).ftl.map_cache.unwrap();
    assert_eq!(u64::from(slow.pages), slow.map_pages(whole.ftl.user_sectors));
    let mut profile = Profile::builtin("tachion-400").unwrap();
    profile.set("map_cache.bytes=64MiB").unwrap();
    assert_eq!(
        profile.with_contents(None).unwrap(),
        Profile::builtin("tachion-400").unwrap().with_contents(None).unwrap()
    );
    let mut placed = Profile::builtin("tachion-400").unwrap();
    for setting in ["placement.handles=2", "map_cache.bytes=1MiB"] {
        placed.set(setting).unwrap();
    }
    let refused = placed.lower(1.0).unwrap_err().to_string();
    assert!(refused.contains("by handles holds its whole map"), "{refused}");
    for (setting, said) in [
        ("map_cache.page_covers=100000", "must be a multiple of 4,096"),
        ("map_cache.hit_ns=5", "map_cache"),
        ("map_cache.bytes=7", "from 4,096"),
    ] {
        let mut profile = Profile::builtin("tachion-400").unwrap();
        let made = profile.set(setting).and_then(|()| match setting.contains("covers") {
            true => profile.set("map_cache.bytes=1MiB"),
            false => Ok(()),
        });
        let refused = made.and_then(|()| profile.lower(1.0).map(|_| ())).unwrap_err().to_string();
        assert!(refused.contains(said) && !refused.contains('\n'), "{setting}: {refused}");
    }
}

#[test]
fn compression_is_of_models_alone_and_hosts_say_how_compressible_their_data_are() {
    let whole = card_with(&[]);
    let compressed = card_with(&["compression.granule=512", "compression.header=8", "compression.best_ratio=0.14"]);
    let config = compressed.ftl.compression.unwrap();
    assert_eq!((config.granule_bytes, config.header_bytes, config.least_bytes), (512, 8, 573));
    assert_eq!(card::CardConfig { ftl: whole.ftl, ..compressed }, whole, "nothing else changes");
    // Granules that are whole sectors store each as it is.
    assert_eq!(card_with(&["compression.granule=4096"]), whole);
    let mut profile = Profile::builtin("tachion-400").unwrap();
    let served = profile.with_contents(None).unwrap();
    profile.set("compression.granule=512").unwrap();
    assert_eq!(profile.with_contents(None).unwrap(), served);
    // As many granules as sectors of a drive sixteen times as large: a map has no room for their numbers.
    let mut large = Profile::builtin("datacenter-tlc-3840").unwrap();
    large.set("compression.granule=256").unwrap();
    let refused = large.lower(1.0).unwrap_err().to_string();
    assert!(refused.contains("granules of flash are too many"), "{refused}");
    let (_, part) = refused.split_once("use --scale 1/").expect("it says what fits");
    let part: f64 = part.split_once(' ').unwrap().0.parse().unwrap();
    assert!(large.lower(1.0 / part).is_ok() && large.lower(8.0 / part).is_err(), "{refused}");

    let mut host = profile::Host::builtin("default").unwrap();
    assert_eq!(host.config().compressible, device::Compressible::NOT);
    host.set("host.compressible=50%").unwrap();
    host.set("host.compressible_spread=20%").unwrap();
    let device::Compressible { least, most } = host.config().compressible;
    assert!((least - 0.3).abs() < 1e-9 && (most - 0.7).abs() < 1e-9, "{least} {most}");
    let refused = host.set("host.compressible=100%").unwrap_err().to_string();
    assert!(refused.contains("from 0 to below 1") && !refused.contains('\n'), "{refused}");
}
