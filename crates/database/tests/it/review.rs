//! Parts of the method on a real PostgreSQL.

use crate::common::{Ground, alone, postgres};
use database::{Mounted, Part, SlobConfig, prepare, review};
use results::{DatabaseActivity, DatabaseReport};
use target::Silent;

fn run(ground: &Ground, request: &database::Request) -> database::Reviewed {
    let device = Mounted::of(ground.path());
    let plan = prepare(request, &device).unwrap();
    let done = review(request, &plan, &device, &Silent).unwrap();
    assert!(done.ended.is_none(), "{:?}", done.ended);
    ground.assert_clean();
    done
}

/// The page cache's share of the answers depends on how fast the machine reads again what was forgotten a moment ago:
/// it is counted, and told where it matters.
fn reads_come_from_the_device_or_it_is_told(report: &DatabaseReport, activities: &[&DatabaseActivity]) {
    let told = |word: &str| report.notes.iter().any(|note| note.contains(word));
    let shares: Vec<f64> = activities.iter().filter_map(|activity| activity.device_read_share).collect();
    if shares.is_empty() {
        assert!(told("no block device"), "{:?}", report.notes);
        return;
    }
    assert!(shares.iter().all(|share| *share > 0.0), "the page cache answered all: {activities:?}");
    assert_eq!(told("The page cache answered reads"), shares.iter().any(|share| *share < 0.8), "{shares:?}");
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn four_of_five_transactions_select_and_the_database_counts_what_it_reads() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut request = ground.request(&[Part::Mix]);
    request.price = Some(1_000.0);
    (request.power_watts, request.rack_units) = (Some(25.0), Some(0.5));
    let report = run(&ground, &request).report;
    let mix = report.mix.as_ref().unwrap();
    assert!((40 << 20..60 << 20).contains(&report.data_bytes), "{}", report.data_bytes);
    assert_eq!(mix.points.iter().map(|p| p.sessions).collect::<Vec<_>>(), [1, 4]);
    for point in &mix.points {
        assert_eq!(point.failed, 0);
        let share = point.transactions["select"].tps / point.tps;
        assert!((0.75..0.85).contains(&share), "{share}");
        let writes = point.transactions["insert"].tps + point.transactions["update"].tps;
        assert!(point.transactions["select"].lat_ns.at(99.9) >= point.transactions["select"].lat_ns.at(50.0));
        let activity = &point.activity;
        // Each write has its commit record and more.
        assert!(activity.wal_bytes as f64 > 100.0 * writes * 1.5, "{activity:?}");
        assert!(activity.blocks_read > 0 && activity.buffer_hit_ratio > 0.0 && activity.buffer_hit_ratio < 1.0);
        assert!(activity.wal_syncs.unwrap() > 0 && activity.wal_sync_ns.unwrap() > 1_000.0);
    }
    let activities: Vec<_> = mix.points.iter().map(|point| &point.activity).collect();
    reads_come_from_the_device_or_it_is_told(&report, &activities);
    // A select touches eight pages of tables and indexes, and a few that are always in memory.
    let touched = mix.points[0].activity.blocks_hit + mix.points[0].activity.blocks_read;
    let selects = mix.points[0].transactions["select"].lat_ns.n as f64;
    assert!((8.0..20.0).contains(&(touched as f64 / selects)), "{touched} pages, {selects} selects");
    assert_eq!(mix.tps_per_price.unwrap(), mix.peak_tps.unwrap() / 1_000.0);
    assert_eq!(mix.tps_per_watt.unwrap(), mix.peak_tps.unwrap() / 25.0);
    assert_eq!(mix.tps_per_rack_unit.unwrap(), mix.peak_tps.unwrap() / 0.5);
    assert!(ground.logs.path().join("mix-001/pgbench.txt").is_file());
    assert!(ground.logs.path().join("postgres.log").is_file());
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn think_time_is_kept_and_is_no_part_of_latencies() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut request = ground.request(&[Part::Mix]);
    (request.mix.think_us, request.sessions) = (50_000, vec![2]);
    let mix = run(&ground, &request).report.mix.unwrap();
    let point = &mix.points[0];
    assert!(point.tps > 0.0 && point.tps < 2.0 / 0.05, "{}", point.tps);
    // However slow the machine is: what sessions wait for and what they think are together all of their time.
    let waits = |kind: &results::TransactionReport| kind.tps * kind.lat_ns.mean / 1e9;
    let waited: f64 = point.transactions.values().map(waits).sum();
    assert!(waited + point.tps * 0.05 < 2.0 * 1.1, "{waited} sessions wait at {} TPS", point.tps);
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_slob_session_reads_single_blocks_and_its_tables_do_not_grow() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut request = ground.request(&[Part::Slob]);
    request.slob = SlobConfig { update_pct: 50, buffers_mb: Some(4), ..request.slob };
    let report = run(&ground, &request).report;
    let slob = report.slob.as_ref().unwrap();
    assert_eq!(slob.parameters["UPDATE_PCT"], 50);
    for point in &slob.points {
        let awr = &point.awr;
        assert_eq!(awr.writers, point.sessions);
        assert!(awr.executes > 0 && awr.redo_bytes_s > 0.0 && awr.single_block_read_ns > 0.0, "{awr:?}");
        // Eight rows of an execution are eight blocks, besides the index: three of it for a select; three for each row, and
        // the block that it goes to, for an update that finds no room beside the old one.
        let blocks = awr.logical_reads_s * awr.elapsed_s / awr.executes as f64;
        assert!((8.0..32.0).contains(&blocks), "{blocks} blocks an execution");
        let selects = point.select_ns.n as f64 / awr.executes as f64;
        assert!((0.35..0.65).contains(&selects), "{selects}");
        assert!(!point.waits.is_empty() && (point.waits.iter().map(|w| w.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let activities: Vec<_> = slob.points.iter().map(|point| &point.activity).collect();
    reads_come_from_the_device_or_it_is_told(&report, &activities);
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn the_commit_path_is_measured_alone_and_beside_others_and_commits_share_syncs() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut request = ground.request(&[Part::Commit]);
    (request.sessions, request.point_s) = (vec![1, 16], 3.0);
    let done = run(&ground, &request);
    let commit = done.report.commit.unwrap();
    assert!(commit.device_sync.n > 0 && commit.device_sync.at(50.0) > 0);
    assert_eq!(
        commit.beside.iter().map(|p| p.beside.as_str()).collect::<Vec<_>>(),
        ["alone", "random reads", "checkpoint"]
    );
    assert!(commit.beside[2].activity.checkpoints > 0);
    assert!(commit.beside.iter().all(|p| p.commit_ns.n > 0));
    let each = |i: usize| commit.group[i].commits_per_sync.unwrap();
    // One session waits for each of its syncs.
    assert!((0.5..=1.1).contains(&each(0)), "{}", each(0));
    assert!(each(1) > each(0), "{} {}", each(0), each(1));
    assert!(done.verdict.iter().any(|claim| claim.topic == "commit"));
}
