//! Messages for a wrong file or setting: one line, with the place and the nearest valid name.

use profile::{Host, Profile};

/// The tachIOn's file: its geometry and capacity are facts, what is tuned in it is not looked at here.
const CARD: &str = include_str!("../../../../cards/tachion-400.toml");
const DISKS: &str = include_str!("../../../../cards/sas-raid10-6.toml");

/// A file's text with the line that starts with `key` replaced.
fn with_line(text: &str, key: &str, line: &str) -> String {
    let start = format!("{key} =");
    assert_eq!(text.lines().filter(|l| l.starts_with(&start)).count(), 1, "{key}");
    text.lines().map(|l| if l.starts_with(&start) { line } else { l }).collect::<Vec<_>>().join("\n")
}

/// The number of the line that starts with `key`.
fn line_of(text: &str, key: &str) -> usize {
    1 + text.lines().position(|l| l.starts_with(key)).unwrap_or_else(|| panic!("{key}"))
}

fn error(text: &str) -> String {
    let error = Profile::parse(text, "my.toml").expect_err("the file is wrong").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// The error when a line of the tachIOn's file is replaced stands at that line and reads `expected`.
fn check_line(key: &str, line: &str, expected: &str) {
    let place = line_of(CARD, &format!("{key} ="));
    assert_eq!(error(&with_line(CARD, key, line)), format!("my.toml:{place}: {expected}"));
}

#[test]
fn an_unknown_key_names_the_nearest() {
    check_line("read_ns", "raed_ns = 25_000", "unknown key 'raed_ns' in [timing], nearest: read_ns");
    check_line("erase_ns", "erase = 1", "unknown key 'erase' in [timing], nearest: erase_ns");
    // A key of another table is probably in the wrong place.
    check_line("modules", "read_ns = 1", "unknown key 'read_ns' in [geometry], nearest: timing.read_ns");
}

#[test]
fn an_unknown_table_names_the_nearest() {
    let text = CARD.replace("[timing]", "[timings]");
    let line = line_of(CARD, "[timing]");
    assert_eq!(error(&text), format!("my.toml:{line}: unknown table [timings], nearest: [timing]"));
    assert_eq!(error("modules = 3"), "my.toml:1: key 'modules' stands outside a table, nearest: geometry.modules");
    assert_eq!(error("timing = 3"), "my.toml:1: [timing] must be a table");
    assert_eq!(error("[[timing]]\nread_ns = 1"), "my.toml:1: [timing] must be a table");
}

#[test]
fn an_unknown_value_names_the_nearest() {
    check_line(
        "victim",
        "victim = \"gredy\"",
        "unknown victim 'gredy' in [ftl], nearest: greedy; one of greedy, cost-benefit, fifo, random-d",
    );
    check_line("gc", "gc = \"pace\"", "unknown gc 'pace' in [ftl], nearest: paced; one of paced, stop-the-world");
    check_line("kind", "kind = \"disk\"", "unknown kind 'disk' in [card], nearest: disks; one of flash, disks, volume");
    check_line(
        "read_ns",
        "read_ns = { value = 1, basis = \"guess\" }",
        "unknown basis 'guess' of read_ns in [timing], nearest: assumed; one of measured, datasheet, derived, assumed",
    );
}

#[test]
fn an_inline_table_has_a_value_a_basis_and_a_source() {
    check_line(
        "read_ns",
        "read_ns = { value = 1, sorce = \"x\" }",
        "unknown field 'sorce' of read_ns in [timing], nearest: source",
    );
    check_line("read_ns", "read_ns = { basis = \"assumed\" }", "read_ns in [timing] has no value");
    check_line(
        "read_ns",
        "read_ns = { value = 1, source = 3 }",
        "the source of read_ns in [timing] must be a text without control characters",
    );
}

#[test]
fn a_wrong_type_says_what_is_right() {
    let ns = "must be nanoseconds, a whole number from 1 to 1,000,000,000";
    check_line("read_ns", "read_ns = \"fast\"", &format!("read_ns in [timing] is \"fast\", {ns}"));
    check_line("read_ns", "read_ns = 1.5", &format!("read_ns in [timing] is 1.5, {ns}"));
    check_line("read_ns", "read_ns = 0", &format!("read_ns in [timing] is 0, {ns}"));
    check_line("read_ns", "read_ns = -1", &format!("read_ns in [timing] is -1, {ns}"));
    check_line("read_ns", "read_ns = [1]", &format!("read_ns in [timing] is [1], {ns}"));
    check_line("read_ns", "read_ns = { value = true }", &format!("read_ns in [timing] is true, {ns}"));
    check_line("multi_plane", "multi_plane = 1", "multi_plane in [geometry] is 1, must be true or false");
    check_line(
        "reserve",
        "reserve = \"110%\"",
        "reserve in [ftl] is \"110%\", must be a share (0.1, \"10%\", \"1/64\") from 0 to below 1",
    );
    check_line("title", "title = \"\"", "title in [card] is \"\", must be a text without control characters");
    check_line(
        "title",
        "title = \"\\u001b[31m\"",
        "title in [card] is \"\\u{1b}[31m\", must be a text without control characters",
    );
}

#[test]
fn zero_and_more_than_any_device_has_are_out_of_range() {
    check_line("modules", "modules = 0", "modules in [geometry] is 0, must be a whole number from 1 to 4,096");
    check_line(
        "pages_per_block",
        "pages_per_block = 0",
        "pages_per_block in [geometry] is 0, must be a whole number from 1 to 65,536",
    );
    check_line(
        "reserve_bands",
        "reserve_bands = 1",
        "reserve_bands in [ftl] is 1, must be a whole number from 2 to 16,777,216",
    );
    check_line(
        "user_bytes",
        "user_bytes = 0",
        "user_bytes in [card] is 0, must be bytes (8192, \"512KiB\", \"400GB\") from 4,096 to 1,152,921,504,606,846,976",
    );
}

#[test]
fn what_is_not_toml_says_where() {
    let place = line_of(CARD, "read_ns =");
    assert!(error(&with_line(CARD, "read_ns", "read_ns = = 3")).starts_with(&format!("my.toml:{place}: not TOML: ")));
    let doubled = with_line(CARD, "program_ns", "read_ns = 3");
    assert_eq!(error(&doubled), format!("my.toml:{}: not TOML: duplicate key", place + 1));
    assert!(error(&format!("{CARD}\n[ftl]\n")).contains("not TOML: duplicate key"));
    let long = "#".repeat((1 << 20) + 1);
    assert_eq!(error(&long), "my.toml: is 1,048,577 bytes long, a profile has at most 1,048,576");
}

#[test]
fn what_is_missing_is_named() {
    let table = line_of(CARD, "[timing]");
    assert_eq!(error(&with_line(CARD, "read_ns", "")), format!("my.toml:{table}: missing key 'read_ns' in [timing]"));
    let (before, buffer) = CARD.split_once("[buffer]").expect("the card has a buffer");
    let (_, after) = buffer.split_once("\n\n").expect("more tables follow");
    assert_eq!(error(&format!("{before}{after}")), "my.toml: missing table [buffer]");
    assert_eq!(error(""), "my.toml: missing table [card]");
    let gc = line_of(CARD, "gc =");
    let text = with_line(CARD, "target_free_bands", "");
    assert_eq!(
        error(&text),
        format!("my.toml:{gc}: missing key 'target_free_bands' in [ftl], which gc = \"paced\" needs")
    );
    let text = format!("{CARD}\n[slc_cache]\nbands = 10\nbits_per_cell = 3\n");
    assert_eq!(
        error(&text),
        format!("my.toml:{table}: missing key 'slc_read_ns' in [timing], which [slc_cache] needs")
    );
    check_line("year", "count = 2", "missing key 'host_stripe_bytes' in [card], which a count above 1 needs");
}

#[test]
fn impossible_geometry_is_explained() {
    check_line("stripe_width", "stripe_width = 12", "stripe_width 12 does not divide the card's 128 dies; nearest: 8");
    let place = line_of(CARD, "parity_units =");
    assert_eq!(
        error(&with_line(CARD, "stripe_width", "stripe_width = 1")),
        format!("my.toml:{place}: parity_units 1 leave no data in a stripe_width of 1")
    );
    check_line("parity_units", "parity_units = 2", "parity_units in [ftl] is 2, must be a whole number from 0 to 1");
    check_line(
        "page_bytes",
        "page_bytes = 6000",
        "page_bytes is 6,000 bytes, must be a multiple of 4,096; nearest: 4,096",
    );
    check_line(
        "user_bytes",
        "user_bytes = \"520GB\"",
        "user capacity of 520,000,000,000 bytes is more than the data capacity of 515,396,075,520 (installed 549,755,813,888, less parity)",
    );
    let text =
        with_line(&with_line(CARD, "user_bytes", "user_gb = 515.2"), "target_free_bands", "target_free_bands = 6");
    let place = line_of(&text, "user_gb =");
    assert_eq!(
        error(&text),
        format!(
            "my.toml:{place}: no spare space is left: 515,200,000,000 user bytes, but only 512,756,121,600 bytes of data capacity without 10 of 8192 bands that stay free or open"
        )
    );
    let twice = with_line(CARD, "year", "user_gb = 400");
    let place = line_of(&twice, "user_gb =");
    assert_eq!(error(&twice), format!("my.toml:{place}: user_bytes and user_gb say the same, give one"));
}

#[test]
fn sizes_that_overflow_are_errors() {
    let table = line_of(CARD, "[geometry]");
    let text = with_line(CARD, "modules", "modules = 4096");
    let text = with_line(&text, "channels_per_module", "channels_per_module = 4096");
    assert_eq!(error(&text), format!("my.toml:{table}: dies are more than 65,536"));
    let text = with_line(CARD, "blocks_per_plane", "blocks_per_plane = 16_777_216");
    let text = with_line(&text, "pages_per_block", "pages_per_block = 65_536");
    let text = with_line(&text, "page_bytes", "page_bytes = \"256KiB\"");
    let text = with_line(&text, "planes_per_die", "planes_per_die = 64");
    assert_eq!(error(&text), format!("my.toml:{table}: sectors of the card are more than 281,474,976,710,656"));
    let text = with_line(CARD, "page_bytes", "page_bytes = \"512KiB\"");
    assert_eq!(error(&text), format!("my.toml:{table}: sectors of a program unit are more than 64"));
    let text = with_line(CARD, "user_bytes", "user_bytes = \"99999999999999999999GB\"");
    assert!(error(&text).contains("must be bytes"), "{}", error(&text));
}

#[test]
fn buffers_hold_a_stripe() {
    let place = line_of(CARD, "bytes = { value = \"8MiB\"");
    let text = CARD.replace("\"8MiB\"", "\"32KiB\"");
    assert_eq!(
        error(&text),
        format!("my.toml:{place}: a buffer of 32,768 bytes is less than the data of a stripe, 61,440 bytes")
    );
    check_line(
        "sectors_under_way",
        "sectors_under_way = 8",
        "relocation under way of 32,768 bytes is less than the data of a stripe, 61,440 bytes",
    );
}

#[test]
fn disks_have_rules_of_their_own() {
    let check = |key: &str, line: &str, expected: &str| {
        let place = line_of(DISKS, &format!("{key} ="));
        assert_eq!(error(&with_line(DISKS, key, line)), format!("my.toml:{place}: {expected}"));
    };
    check("disks", "disks = 5", "level \"raid10\" needs an even number of disks, not 5");
    check("average_seek_ns", "average_seek_ns = 8_000_000", "average_seek_ns is above full_seek_ns");
    check("year", "reads_first = true", "reads_first in [card] does not belong to a card of kind \"disks\"");
    check(
        "chunk_bytes",
        "chunk_bytes = 5000",
        "chunk_bytes is 5,000 bytes, must be a multiple of 4,096; nearest: 4,096",
    );
    let text = format!("{DISKS}\n[buffer]\nbytes = 4096\n");
    let line = line_of(&text, "[buffer]");
    assert_eq!(error(&text), format!("my.toml:{line}: table [buffer] does not belong to a card of kind \"disks\""));
    let text = format!("{CARD}\n[array]\ndisks = 2\n");
    let line = line_of(&text, "[array]");
    assert_eq!(error(&text), format!("my.toml:{line}: table [array] does not belong to a card of kind \"flash\""));
}

#[test]
fn a_volume_says_where_its_numbers_contradict_each_other() {
    let volume = include_str!("../../../../cards/azure-p20.toml");
    let slow = with_line(volume, "burst_iops", "burst_iops = 100");
    let line = line_of(volume, "burst_iops");
    assert_eq!(error(&slow), format!("my.toml:{line}: iops is above burst_iops"));
    let half = with_line(volume, "burst_s", "");
    assert!(error(&half).contains("burst_s"), "{}", error(&half));
    let line = line_of(volume, "[volume]");
    let text = volume.replace("[volume]", "[link]\nlatency_ns = 1\n[volume]");
    assert_eq!(error(&text), format!("my.toml:{line}: table [link] does not belong to a card of kind \"volume\""));
}

#[test]
fn unknown_names_and_files_are_errors() {
    let error = |name: &str| Profile::open(name).unwrap_err().to_string();
    assert_eq!(error("tachion-40"), "unknown card 'tachion-40', nearest: tachion-400");
    assert_eq!(error("Tachion-800"), "unknown card 'Tachion-800', nearest: tachion-800");
    assert_eq!(error("a\nb"), "unknown card 'a, b', nearest: aws-gp3");
    assert_eq!(error("./no/such.toml"), "can't read ./no/such.toml: No such file or directory (os error 2)");
    assert!(error("/").starts_with("can't read /: "));
    assert_eq!(Host::open("defualt").unwrap_err().to_string(), "unknown host 'defualt', nearest: default");
    assert_eq!(
        Host::parse("[host]\ntitle = \"x\"\ncores = 0", "h.toml").unwrap_err().to_string(),
        "h.toml:3: cores in [host] is 0, must be a whole number from 1 to 65,536"
    );
}

#[test]
fn settings_have_the_errors_of_files() {
    let error = |setting: &str| {
        let mut profile = Profile::builtin("tachion-400").unwrap();
        profile.set(setting).and_then(|()| profile.lower(1.0).map(|_| ())).expect_err(setting).to_string()
    };
    for (setting, expected) in [
        ("timing.raed_ns=1", "unknown key 'raed_ns' in [timing], nearest: read_ns"),
        ("timings.read_ns=1", "unknown table [timings], nearest: [timing]"),
        ("read_ns=1", "key 'read_ns' stands outside a table, nearest: timing.read_ns"),
        ("timing.read_ns", "a setting is table.key=value, like ftl.victim=fifo"),
        (
            "timing.read_ns=fast",
            "read_ns in [timing] is fast, must be nanoseconds, a whole number from 1 to 1,000,000,000",
        ),
        ("ftl.gc=pace", "unknown gc 'pace' in [ftl], nearest: paced; one of paced, stop-the-world"),
        ("ftl.victim=random-d", "missing key 'd' in [ftl], which victim = \"random-d\" needs"),
        ("ftl.stripe_width=24", "stripe_width 24 does not divide the card's 128 dies; nearest: 16"),
        ("endurance.factory_bad_ppm=none", "missing key 'factory_bad_ppm' in [endurance]"),
        (
            "ftl.target_free_bands=2000",
            "no spare space is left: 400,000,000,000 user bytes, but only 387,794,534,400 bytes of data capacity without 2004 of 8192 bands that stay free or open",
        ),
    ] {
        assert_eq!(error(setting), format!("--set {setting}: {expected}"));
    }
    let mut profile = Profile::builtin("tachion-400").unwrap();
    profile.set("ftl.gc=stop-the-world").unwrap();
    profile.set("ftl.stop_free_bands=3").unwrap();
    profile.set("ftl.start_free_bands=3").unwrap();
    assert_eq!(
        profile.lower(1.0).unwrap_err().to_string(),
        "--set ftl.stop_free_bands=3: stop_free_bands 3 must be above start_free_bands 3"
    );
    // A key of the file that was right before: the settings are to blame.
    let mut profile = Profile::builtin("tachion-400").unwrap();
    profile.set("geometry.modules=3").unwrap();
    profile.set("timing.read_ns=1").unwrap();
    assert_eq!(
        profile.lower(1.0).unwrap_err().to_string(),
        "--set geometry.modules=3 --set timing.read_ns=1: stripe_width 16 does not divide the card's 24 dies; nearest: 12"
    );
}

#[test]
fn energy_must_be_enough_for_a_stripe_and_come_with_its_power() {
    let text = with_line(CARD, "capacitor_joules", "capacitor_joules = 0.1");
    let place = line_of(CARD, "capacitor_joules =");
    let message = error(&text);
    assert!(message.starts_with(&format!("my.toml:{place}: ")), "{message}");
    assert!(message.contains("what the capacitors put on flash"), "{message}");
    let message = error(&with_line(CARD, "drain_watts", ""));
    assert!(message.contains("drain_watts") && message.contains("capacitor_joules"), "{message}");
}

#[test]
fn unknown_keys_of_errors_name_the_nearest() {
    check_line("ecc_bits", "ecc_bit = 16", "unknown key 'ecc_bit' in [errors], nearest: ecc_bits");
    check_line("block_reads", "block_read = 16", "unknown key 'block_read' in [patrol], nearest: block_reads");
}

/// The tachIOn's file with a table of heat, some lines of it replaced.
fn warm(replaced: &[(&str, &str)]) -> String {
    let mut lines = vec![
        ("idle_watts", "3"),
        ("die_read_watts", "0.1"),
        ("die_program_watts", "0.1"),
        ("die_erase_watts", "0.1"),
        ("nanojoules_per_byte", "1"),
        ("joules_per_kelvin", "100"),
        ("kelvin_per_watt", "2"),
        ("ambient_celsius", "30"),
        ("hysteresis_kelvin", "2"),
        ("light_celsius", "70"),
        ("light_percent", "50"),
        ("heavy_celsius", "80"),
        ("heavy_percent", "20"),
    ];
    for (key, value) in replaced {
        lines.iter_mut().filter(|line| line.0 == *key).for_each(|line| line.1 = value);
    }
    let lines: Vec<String> =
        lines.iter().filter(|line| !line.1.is_empty()).map(|(key, value)| format!("{key} = {value}\n")).collect();
    format!("{CARD}\n[thermal]\n{}", lines.concat())
}

#[test]
fn heat_that_can_not_be_is_refused_at_its_line() {
    assert!(Profile::parse(&warm(&[]), "my.toml").is_ok());
    let wrong = |replaced: &[(&str, &str)]| error(&warm(replaced)).split_once(": ").unwrap().1.to_owned();
    assert_eq!(wrong(&[("idle_watts", "")]), "missing key 'idle_watts' in [thermal]");
    assert_eq!(
        wrong(&[("kelvin_per_watt", "0")]),
        "kelvin_per_watt in [thermal] is 0, must be a number above 0, to 1,000,000,000"
    );
    assert_eq!(wrong(&[("light_percent", "")]), "missing key 'light_percent' in [thermal], which light_celsius needs");
    assert_eq!(wrong(&[("heavy_celsius", "")]), "missing key 'heavy_celsius' in [thermal], which heavy_percent needs");
    assert_eq!(
        wrong(&[("light_celsius", ""), ("light_percent", "")]),
        "missing key 'light_celsius' in [thermal], which heavy_celsius needs"
    );
    assert_eq!(wrong(&[("heavy_celsius", "60")]), "light_celsius is above heavy_celsius");
    assert_eq!(wrong(&[("heavy_percent", "60")]), "heavy_percent is above light_percent");
    assert_eq!(
        wrong(&[("light_percent", "0")]),
        "light_percent in [thermal] is 0, must be a whole number from 1 to 100"
    );
    assert_eq!(
        wrong(&[("hysteresis_kelvin", "")]),
        "missing key 'hysteresis_kelvin' in [thermal], which a temperature of throttling needs"
    );
    // 30 + 3 x 2 are 36 degrees at rest.
    assert_eq!(
        wrong(&[("light_celsius", "38")]),
        "a card at rest is throttled: ambient_celsius + idle_watts x kelvin_per_watt reaches where light throttling ends"
    );
    let disks = format!("{DISKS}\n[thermal]\nidle_watts = 3\n");
    assert!(
        error(&disks).ends_with("table [thermal] does not belong to a card of kind \"disks\""),
        "{}",
        error(&disks)
    );
}

#[test]
fn handles_that_can_not_be_are_refused_at_their_line() {
    let drive = include_str!("../../../../cards/datacenter-tlc-3840.toml");
    let placed = |text: &str, more: &str| format!("{text}\n[placement]\n{more}");
    assert!(Profile::parse(&placed(drive, "handles = 2\nby = \"heat\"\n"), "my.toml").is_ok());
    let wrong = |text: &str, more: &str| error(&placed(text, more)).split_once(": ").unwrap().1.to_owned();
    assert_eq!(wrong(drive, "by = \"heat\"\n"), "missing key 'handles' in [placement]");
    assert_eq!(wrong(drive, "handles = 17\n"), "handles in [placement] is 17, must be a whole number from 1 to 16");
    assert_eq!(
        wrong(drive, "handles = 2\nby = \"colour\"\n"),
        "unknown by 'colour' in [placement], nearest: file; one of heat, thread, file"
    );
    // A stripe of 31 units of 64 KiB for each, and one more.
    assert_eq!(
        wrong(drive, "handles = 8\n"),
        "each handle keeps a stripe open, and one more is programmed: that takes 18,284,544 bytes of buffer, of which there are 16,777,216"
    );
    let volatile = drive.replace("power_loss_protection = { value = true", "power_loss_protection = { value = false");
    assert_eq!(
        wrong(&volatile, "handles = 2\n"),
        "missing key 'power_loss_protection = true' in [card], which more than one handle needs"
    );
    let protected = |text: &str| text.replace("protection = { value = false", "protection = { value = true");
    assert_eq!(
        wrong(&protected(include_str!("../../../../cards/samsung-980-1tb.toml")), "handles = 2\n"),
        "a card whose host places its writes by handles holds its whole map in memory"
    );
    assert_eq!(
        wrong(&protected(include_str!("../../../../cards/consumer-qlc-2tb.toml")), "handles = 2\n"),
        "more than one handle is modelled without an SLC cache and with mapping units of 4,096 bytes"
    );
}

#[test]
fn zones_that_can_not_be_are_refused_at_their_line() {
    let drive = include_str!("../../../../cards/datacenter-tlc-3840.toml");
    let zoned = |text: &str, more: &str| format!("{text}\n[zones]\n{more}");
    assert!(Profile::parse(&zoned(drive, "bands = 1\nmax_active = 7\nwrites = \"append\"\n"), "my.toml").is_ok());
    let wrong = |text: &str, more: &str| error(&zoned(text, more)).split_once(": ").unwrap().1.to_owned();
    assert_eq!(wrong(drive, "max_active = 2\n"), "missing key 'bands' in [zones]");
    assert_eq!(
        wrong(drive, "bands = 1\nwrites = \"anywhere\"\n"),
        "unknown writes 'anywhere' in [zones], nearest: pointer; one of pointer, append"
    );
    // A stripe of 31 units of 64 KiB for each, and one more.
    assert_eq!(
        wrong(drive, "bands = 1\nmax_active = 8\n"),
        "each active zone keeps a stripe open, and one more is programmed: that takes 18,284,544 bytes of buffer, of which there are 16,777,216"
    );
    assert_eq!(wrong(drive, "bands = 1\nmax_open = 4\nmax_active = 3\n"), "max_open is above max_active");
    assert_eq!(
        wrong(drive, "bands = 1\ncount = 1_370\n"),
        "1370 zones are more than the 1369 that the flash holds beside the bands kept for bad blocks"
    );
    assert_eq!(wrong(drive, "bands = 2000\n"), "bands in [zones] is 2000, must be a whole number from 1 to 1,024");
    let volatile = drive.replace("power_loss_protection = { value = true", "power_loss_protection = { value = false");
    assert_eq!(
        wrong(&volatile, "bands = 1\n"),
        "missing key 'power_loss_protection = true' in [card], which zones needs"
    );
    let apart = "zones are modelled of a single card, without handles, a cache, an SLC cache, a part of the map, \
                 compression and mapping units of more than 4,096 bytes";
    assert_eq!(wrong(&format!("{drive}\n[placement]\nhandles = 2\n"), "bands = 1\n"), apart);
    assert_eq!(wrong(&format!("{drive}\n[compression]\ngranule = 512\n"), "bands = 1\n"), apart);
    let profile = Profile::parse(&zoned(drive, "bands = 1\n"), "my.toml").unwrap();
    let served = profile.with_contents(None).unwrap_err().to_string();
    assert!(
        served.ends_with(
            "only a model has zones: hosts of a card that is served have no way to write them in order and reset them"
        ),
        "{served}"
    );
}

#[test]
fn compression_that_can_not_be_is_refused_at_its_line() {
    let drive = include_str!("../../../../cards/datacenter-tlc-3840.toml");
    let compressed = |text: &str, more: &str| format!("{text}\n[compression]\n{more}");
    assert!(Profile::parse(&compressed(drive, "granule = 512\nheader = 8\nbest_ratio = 0.14\n"), "my.toml").is_ok());
    let wrong = |text: &str, more: &str| error(&compressed(text, more)).split_once(": ").unwrap().1.to_owned();
    assert_eq!(wrong(drive, "header = 8\n"), "missing key 'granule' in [compression]");
    assert_eq!(wrong(drive, "granule = 768\n"), "granule is 768 bytes, must be a power of two");
    assert_eq!(
        wrong(drive, "granule = 32\n"),
        "granule in [compression] is 32, must be bytes (8192, \"512KiB\", \"400GB\") from 64 to 4,096"
    );
    assert_eq!(
        wrong(drive, "granule = 512\nbest_ratio = 1.0\n"),
        "best_ratio in [compression] is 1.0, must be a share (0.1, \"10%\", \"1/64\") from 0 to below 1"
    );
    let more = |more: &str| format!("{drive}\n{more}\n");
    for (text, without) in [
        (more("[placement]\nhandles = 2"), "handles"),
        (more("[map_cache]\nbytes = \"1MiB\""), "memory for a part of the map"),
        (include_str!("../../../../cards/consumer-qlc-2tb.toml").to_owned(), "an SLC cache"),
        (drive.replace("[ftl]\n", "[ftl]\nmapping_unit = 16_384\n"), "mapping units of more than 4,096 bytes"),
        (
            CARD.replace("path = { value = \"internal\"", "sector_ns = 10\npath = { value = \"host\""),
            "relocation through the host",
        ),
    ] {
        assert_eq!(wrong(&text, "granule = 512\n"), format!("compression is modelled without {without}"));
    }
}
