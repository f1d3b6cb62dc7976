//! However a run ends, nothing is left of it.

use crate::common::{CancelAt, Ground, alone, postgres};
use database::{Cluster, DatabaseError, Mounted, Part, Power, prepare, processes_in, review};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use target::Silent;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_cluster_goes_with_its_processes_and_directories() {
    let (Some(binaries), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut cluster = Cluster::create(&binaries, ground.path(), ground.logs.path(), None).unwrap();
    cluster.start(&[], PATIENCE, &Silent).unwrap();
    assert!(processes_in(ground.path()).len() >= 5, "a server and its workers");
    cluster.stop().unwrap();
    assert!(processes_in(ground.path()).is_empty());
    cluster.start(&[], PATIENCE, &Silent).unwrap();
    drop(cluster);
    ground.assert_clean();
    assert!(fs::read_to_string(ground.logs.path().join("postgres.log")).unwrap().contains("ready to accept"));
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_server_that_was_killed_from_outside_leaves_nothing_either() {
    let (Some(binaries), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut cluster = Cluster::create(&binaries, ground.path(), ground.logs.path(), None).unwrap();
    cluster.start(&[], PATIENCE, &Silent).unwrap();
    for pid in processes_in(ground.path()) {
        let _ =
            rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::STOP);
    }
    // A server that can't answer is killed as the last resort.
    drop(cluster);
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_server_that_does_not_start_says_why() {
    let (Some(binaries), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let mut cluster = Cluster::create(&binaries, ground.path(), ground.logs.path(), None).unwrap();
    let wrong = [("shared_buffers".to_owned(), "many".to_owned())];
    let error = cluster.start(&wrong, PATIENCE, &Silent).unwrap_err().to_string();
    assert!(error.contains("does not start") && error.contains("shared_buffers"), "{error}");
    drop(cluster);
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_run_that_is_stopped_leaves_nothing_wherever_it_was() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    for phase in ["make the cluster", "load the table", "build the indexes", "80/20 mix, 1 sessions"] {
        let ground = Ground::new();
        let (request, device) = (ground.request(&[Part::Mix]), Mounted::of(ground.path()));
        let plan = prepare(&request, &device).unwrap();
        let error = review(&request, &plan, &device, &CancelAt::phase(phase)).unwrap_err();
        assert!(matches!(error, DatabaseError::Cancelled), "{phase}: {error}");
        ground.assert_clean();
    }
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn what_was_measured_before_it_was_stopped_is_kept() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let (request, device) = (ground.request(&[Part::Mix, Part::Slob]), Mounted::of(ground.path()));
    let plan = prepare(&request, &device).unwrap();
    let part = review(&request, &plan, &device, &CancelAt::phase("80/20 mix, 4 sessions")).unwrap();
    assert!(matches!(part.ended, Some(DatabaseError::Cancelled)));
    assert_eq!(part.report.mix.unwrap().points.len(), 1);
    assert!(part.report.slob.is_none());
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn what_can_not_be_done_is_refused_before_anything_is_made() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let device = Mounted::of(ground.path());
    let refused = |change: &dyn Fn(&mut database::Request)| {
        let mut request = ground.request(&[Part::Mix, Part::Slob]);
        change(&mut request);
        let text = prepare(&request, &device).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    let full = refused(&|r| r.sizes.data_bytes = Some(1 << 50));
    assert!(full.contains("MiB are free") && full.contains("--db-size"), "{full}");
    let memory = refused(&|r| {
        r.sizes.data_bytes = Some(1 << 40);
        r.sizes.shared_buffers_bytes = Some(1 << 39);
    });
    assert!(memory.contains("MiB are free") || memory.contains("of memory are available"), "{memory}");
    let cached = refused(&|r| r.sizes.shared_buffers_bytes = Some(48 << 20));
    assert!(cached.contains("hold the whole database"), "{cached}");
    let sessions = refused(&|r| r.sessions = vec![4, 2]);
    assert!(sessions.contains("--sessions is a rising list"), "{sessions}");
    let power = refused(&|r| r.parts = vec![Part::Crash]);
    assert!(power.contains("there is no power to cut"), "{power}");
    let place = refused(&|r| r.dir = "/etc/passwd".into());
    assert!(place.contains("no directory"), "{place}");
    let old = refused(&|r| r.pg_bin = Some("/usr/bin".into()));
    assert!(old.contains("/usr/bin has no"), "{old}");
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_directory_where_the_servers_user_does_not_get_is_refused() {
    let (Some(binaries), _alone) = (postgres(), alone()) else { return };
    if rustix::process::geteuid().as_raw() != 0 {
        println!("skipped: only root's server runs as somebody else");
        return;
    }
    let ground = Ground::new();
    let inner = ground.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(ground.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let error = Cluster::create(&binaries, &inner, ground.logs.path(), None).unwrap_err().to_string();
    assert!(error.contains("can't get there"), "{error}");
    fs::remove_dir(&inner).unwrap();
    ground.assert_clean();
}

/// The trait is one that can be handed over as an object.
fn _power_is_an_object(_: &dyn Power) {}
