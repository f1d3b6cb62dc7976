//! An operator's requests to a running card through its socket.

use crate::common::{Rig, SIZE, call, overwrite};
use control::{ClientError, Insert, Range};
use live::{Change, Gc, ModuleState, Request};

fn refused(error: ClientError) -> (u16, String) {
    match error {
        ClientError::Refused { status, message } => (status, message.to_string()),
        other => panic!("{other}"),
    }
}

#[test]
fn the_status_is_that_of_the_card() {
    let rig = Rig::new();
    overwrite(&rig.live, 2);
    let reply = rig.client.status().unwrap();
    assert_eq!((reply.name.as_str(), reply.card.as_str()), ("test \"card\"", "tachion-400"));
    let status = reply.status;
    assert!(status.powered && !status.degraded && status.size_bytes == SIZE, "{status:?}");
    assert_eq!(status.stats.writes.bytes, 2 * SIZE);
    assert_eq!(status.host_sectors, 2 * SIZE / 4096);
    assert!(status.parity_sectors > 0 && status.free_bands > status.reserve_bands, "{status:?}");
    assert_eq!(status, rig.live.status());
    let latencies = rig.client.latencies().unwrap();
    assert_eq!(latencies.writes.iter().map(|(_, count)| count).sum::<u64>(), status.stats.writes.count);
    assert!(latencies.reads.is_empty());
    let smart = rig.client.smart().unwrap();
    assert_eq!(smart.data_units_written, (2 * SIZE).div_ceil(512_000));
    assert_eq!(rig.client.exports().unwrap()[0].name, "disk");
    assert_eq!(rig.client.clients().unwrap()[0].number, 3);
    assert_eq!(rig.client.status().unwrap().clients_turned_away, 7);
}

#[test]
fn a_module_is_pulled_and_put_back_and_replaced() {
    let rig = Rig::new();
    overwrite(&rig.live, 1);
    assert_eq!(rig.client.modules().unwrap().len(), rig.live.modules().len());
    let pulled = rig.client.pull(3, control::Pull::default()).unwrap().module;
    assert_eq!((pulled.slot, pulled.present, pulled.state), (3, false, ModuleState::Missing));
    assert_eq!(refused(rig.client.pull(3, control::Pull::default()).unwrap_err()), (409, "slot 3 is empty".into()));
    assert!(rig.client.status().unwrap().status.degraded);
    assert!(call(&rig.live, Request::read(0, 0, 1 << 20)).unwrap() == [7; 1 << 20]);
    let back = rig.client.insert(3, &Insert::default()).unwrap();
    assert!(back.present && back.state != ModuleState::Missing);
    rig.until("rebuilt", |status| !status.degraded);
    rig.client.pull(5, control::Pull::default()).unwrap();
    assert!(rig.client.insert(5, &Insert { new: true, path: None }).unwrap().present);
    rig.until("rebuilt", |status| !status.degraded);
    let taken = refused(rig.client.insert(5, &Insert { new: true, path: None }).unwrap_err());
    assert_eq!(taken, (409, "slot 5 holds a module; pull it first".into()));
    let (status, message) = refused(rig.client.pull(99, control::Pull::default()).unwrap_err());
    assert!(status == 404 && message.starts_with("no slot 99: the card has "), "{message}");
    assert_eq!(refused(rig.client.insert(99, &Insert::default()).unwrap_err()).0, 404);
    // Nobody pulled it.
    let taken = refused(rig.client.insert(7, &Insert::default()).unwrap_err());
    assert_eq!(taken, (409, "slot 7 holds a module; pull it first".into()));
}

#[test]
fn a_second_module_is_pulled_by_force_and_the_price_is_told() {
    let rig = Rig::new();
    overwrite(&rig.live, 1);
    assert_eq!(rig.client.pull(3, control::Pull::default()).unwrap().beyond_parity, None);
    let (status, message) = refused(rig.client.pull(5, control::Pull { force: false }).unwrap_err());
    assert!(status == 409 && message.starts_with("slot 5: with its module gone 2 modules are missing"), "{message}");
    let (status, answer) = rig.ask("POST", "/v1/modules/5/pull", r#"{"force": true}"#);
    let lost = answer["beyond_parity"]["lost_bytes"].as_u64().unwrap();
    assert!(status == 200 && message.contains(&format!(" {lost} bytes of the host's data")), "{message} {answer}");
    assert_eq!((answer["present"].as_bool(), answer["beyond_parity"]["parity"].as_u64()), (Some(false), Some(1)));
    // They come back with what they hold.
    rig.client.insert(5, &Insert::default()).unwrap();
    rig.client.insert(3, &Insert::default()).unwrap();
    rig.until("rebuilt", |status| !status.degraded);
    assert_eq!(rig.client.pull(5, control::Pull::default()).unwrap().beyond_parity, None);
}

#[test]
fn a_module_comes_from_its_image() {
    let rig = Rig::new();
    let saved = rig.dir.path().join("module.frm");
    let shape = card::shape(&profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(SIZE)).unwrap());
    let one = media::Shape { modules: 1, ..shape };
    let image = media::image::encode(&media::Module::blank(&one, &media::Physics::IDEAL, 77));
    std::fs::write(&saved, &image).unwrap();
    rig.client.pull(2, control::Pull::default()).unwrap();
    let from = |path: &std::path::Path| Insert { new: false, path: Some(path.to_owned()) };
    assert!(rig.client.insert(2, &from(&saved)).unwrap().present);
    rig.until("rebuilt", |status| !status.degraded);
    rig.client.pull(4, control::Pull::default()).unwrap();
    std::fs::write(&saved, &image[..200]).unwrap();
    for (insert, part) in [
        (from(&saved), "module.frm: cut off: "),
        (from(&rig.dir.path().join("none")), "No such file"),
        (from("module.frm".as_ref()), "path of a module is absolute"),
    ] {
        let (status, message) = refused(rig.client.insert(4, &insert).unwrap_err());
        assert!(status == 422 && message.contains(part), "{message}");
    }
    let new = Insert { new: true, path: Some(saved.clone()) };
    let (_, message) = refused(rig.client.insert(4, &new).unwrap_err());
    assert!(message.contains("not possible on this medium"), "{message}");
    let narrow = media::Shape { blocks_per_die: 1, ..one };
    let image = media::image::encode(&media::Module::blank(&narrow, &media::Physics::IDEAL, 78));
    std::fs::write(&saved, image).unwrap();
    let (status, message) = refused(rig.client.insert(4, &from(&saved)).unwrap_err());
    assert!(status == 409 && message.contains("another shape"), "{message}");
    rig.client.power_cut().unwrap();
    let (status, message) = refused(rig.client.insert(4, &from(&saved)).unwrap_err());
    assert!(status == 409 && message.contains("another shape"), "{message}");
}

#[test]
fn power_is_cut_and_comes_back_with_what_was_set() {
    let rig = Rig::new();
    overwrite(&rig.live, 1);
    let change =
        Change { rebuild_bytes_per_s: Some(Some(50_000_000)), gc: Some(Gc::StopTheWorld), target_free_bands: Some(3) };
    let settings = rig.client.set(&change).unwrap();
    assert_eq!(
        (settings.rebuild_bytes_per_s, settings.gc, settings.target_free_bands),
        (Some(50_000_000), Gc::StopTheWorld, 3)
    );
    assert_eq!(refused(rig.client.power_on().unwrap_err()).0, 409);
    rig.client.power_cut().unwrap();
    let status = rig.client.status().unwrap().status;
    assert!(!status.powered && status.power_cuts == 1 && status.settings == settings);
    for error in [
        rig.client.power_cut().unwrap_err(),
        rig.client.scrub().unwrap_err(),
        rig.client.set(&change).unwrap_err(),
        rig.client.smart().map(drop).unwrap_err(),
        rig.client.trim(Range { offset_bytes: 0, len_bytes: 4096 }).unwrap_err(),
    ] {
        let (status, message) = refused(error);
        assert!(status == 409 && message.contains("has no power"), "{status} {message}");
    }
    assert!(rig.client.modules().unwrap().iter().all(|module| module.state == ModuleState::NoPower && module.present));
    rig.client.power_on().unwrap();
    let status = rig.client.status().unwrap().status;
    assert!(status.powered && status.recovery_ns.is_some() && status.settings == settings, "{status:?}");
    overwrite(&rig.live, 2);
    assert!(call(&rig.live, Request::read(0, 0, 1 << 20)).unwrap() == [7; 1 << 20]);
}

#[test]
fn settings_that_can_not_work_change_nothing() {
    let rig = Rig::new();
    let before = rig.live.status().settings;
    for (change, part) in [
        (r#"{"gc":"paced","target_free_bands":100000}"#, "leave no spare"),
        (r#"{"target_free_bands":0}"#, "at least one free band"),
        (r#"{"rebuild_bytes_per_s":0,"target_free_bands":2}"#, "more than 0 bytes"),
        (r#"{"gc":"fast"}"#, "unknown variant `fast`"),
        (r#"{"target_free_bands":-1}"#, "invalid value"),
        (r#"{"rebuild_bytes_per_second":1}"#, "unknown field"),
    ] {
        let (status, answer) = rig.ask("PATCH", "/v1/settings", change);
        assert!(status == 422 && answer["error"].as_str().unwrap().contains(part), "{change}: {answer}");
        assert_eq!(rig.live.status().settings, before);
    }
    let (status, answer) = rig.ask("PATCH", "/v1/settings", r#"{"rebuild_bytes_per_s":1000}"#);
    assert_eq!((status, &answer["rebuild_bytes_per_s"]), (200, &1000.into()));
    let (_, answer) = rig.ask("PATCH", "/v1/settings", r#"{"rebuild_bytes_per_s":null}"#);
    assert!(answer["rebuild_bytes_per_s"].is_null());
    assert_eq!(rig.live.status().settings, before);
}

#[test]
fn a_limited_rebuild_takes_its_time() {
    let rig = Rig::new();
    overwrite(&rig.live, 1);
    let rate = |rate| Change { rebuild_bytes_per_s: Some(rate), ..Change::default() };
    rig.client.set(&rate(Some(1))).unwrap();
    rig.client.pull(3, control::Pull::default()).unwrap();
    rig.client.insert(3, &Insert { new: true, path: None }).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let status = rig.client.status().unwrap().status;
    assert!(status.degraded && status.rebuild.is_some_and(|share| share < 0.5), "{status:?}");
}

#[test]
fn a_range_is_trimmed_whatever_its_length() {
    let rig = Rig::new();
    overwrite(&rig.live, 1);
    let fill = rig.live.status().fill;
    let trimmed = rig.client.trim(Range { offset_bytes: 100, len_bytes: SIZE / 2 }).unwrap();
    assert_eq!(trimmed["trimmed_bytes"], SIZE / 2 - 4096);
    let read = call(&rig.live, Request::read(0, 0, 8192)).unwrap();
    assert!(read[..4096] == [7; 4096] && read[4096..] == [0; 4096]);
    assert!(rig.live.status().fill < fill * 0.6);
    for (offset_bytes, len_bytes) in [(0, 0), (SIZE, 1), (1, SIZE), (u64::MAX, 2)] {
        let (status, message) = refused(rig.client.trim(Range { offset_bytes, len_bytes }).unwrap_err());
        assert!(status == 422 && message.contains("ends within"), "{message}");
    }
}

#[test]
fn a_scrub_is_begun_and_ends() {
    let rig = Rig::new();
    overwrite(&rig.live, 1);
    let answer = rig.client.scrub().unwrap();
    assert!((0.0..=1.0).contains(&answer["scrub"].as_f64().unwrap()));
    rig.until("scrubbed", |status| status.scrub.is_none());
}

#[test]
fn volumes_are_made_grown_and_deleted_and_what_can_not_be_is_refused() {
    let rig = Rig::divided();
    let volume = |name: &str, size_bytes| control::NewVolume { name: name.into(), size_bytes };
    assert!(rig.client.volumes().unwrap().volumes.is_empty());
    rig.client.create_volume(&volume("data", 8 << 20)).unwrap();
    let all = rig.client.create_volume(&volume("log", 1 << 40)).map_err(refused).unwrap_err();
    assert_eq!(all.0, 422, "{}", all.1);
    rig.client.create_volume(&volume("log", 128 << 20)).unwrap();
    assert_eq!(refused(rig.client.create_volume(&volume("log", 4096)).unwrap_err()).0, 409);
    assert_eq!(refused(rig.client.create_volume(&volume("a/b", 4096)).unwrap_err()).0, 422);
    let all = rig.client.grow_volume("data", control::Grow { size_bytes: 16 << 20 }).unwrap();
    let named: Vec<(&str, u64)> = all.volumes.iter().map(|volume| (volume.name.as_str(), volume.size_bytes)).collect();
    assert_eq!(named, [("data", 16 << 20), ("log", 128 << 20)]);
    assert_eq!(refused(rig.client.grow_volume("data", control::Grow { size_bytes: 4096 }).unwrap_err()).0, 409);
    assert_eq!(refused(rig.client.delete_volume("none").unwrap_err()).0, 404);
    assert_eq!(rig.client.delete_volume("data").unwrap().volumes.len(), 1);
    // A trim of the whole card would hit the table of its volumes.
    let trim = rig.client.trim(control::Range { offset_bytes: 0, len_bytes: 4096 }).unwrap_err();
    assert_eq!(refused(trim), (409, "the card is divided into volumes: their hosts trim them".into()));
    // A card that is one disk has none.
    let whole = Rig::new();
    let message = refused(whole.client.volumes().unwrap_err());
    assert_eq!(message, (409, "the card is not divided into volumes".into()));
}
