//! MariaDB on a directory: sysbench's figures, and power cuts that a device passes or does not.

use crate::common::{Ground, alone};
use crate::crash::Fake;
use database::{DatabaseError, Engine, Mounted, Part, Plan, Request, prepare, review};
use target::Silent;

fn request(ground: &Ground, parts: &[Part]) -> Request {
    Request { engine: Engine::MySql, ..ground.request(parts) }
}

/// The plan, or nothing and a line that says so where MariaDB or sysbench is not installed.
fn planned(request: &Request, device: &dyn database::Device) -> Option<Plan> {
    match prepare(request, device) {
        Ok(plan) => Some(plan),
        Err(error @ DatabaseError::NoProgram { .. }) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
#[ignore = "proof: a real MariaDB"]
fn sysbench_measures_transactions_against_sessions() {
    let (ground, _alone) = (Ground::new(), alone());
    let (request, device) = (request(&ground, &[Part::Mix]), Mounted::of(ground.path()));
    let Some(plan) = planned(&request, &device) else { return };
    let durable = |name: &str, value: &str| plan.settings.contains(&(name.to_owned(), value.to_owned()));
    assert!(durable("innodb_flush_log_at_trx_commit", "1") && durable("innodb_flush_method", "O_DIRECT"));
    let done = review(&request, &plan, &device, &Silent).unwrap();
    assert!(done.ended.is_none(), "{:?}", done.ended);
    assert!(done.report.engine.ends_with(", InnoDB"), "{}", done.report.engine);
    let oltp = done.report.oltp.unwrap();
    let sessions: Vec<u32> = oltp.points.iter().map(|point| point.sessions).collect();
    assert_eq!(sessions, [1, 4]);
    for point in &oltp.points {
        assert!(point.tps > 1.0 && point.seconds > 1.0, "{point:?}");
        // Eighteen statements a transaction, its beginning and its end.
        assert!((point.queries_s / point.tps - 20.0).abs() < 0.5, "{point:?}");
        assert!(point.mean_ns <= point.p99_ns && point.p99_ns <= point.longest_ns * 11 / 10, "{point:?}");
    }
    assert!(done.report.data_bytes > 30 << 20, "{}", done.report.data_bytes);
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real MariaDB"]
fn a_device_that_keeps_everything_passes() {
    let (ground, _alone) = (Ground::new(), alone());
    let fake = Fake::of(ground.path(), ground.logs.path(), false);
    let request = request(&ground, &[Part::Crash]);
    let Some(plan) = planned(&request, &fake) else { return };
    let done = review(&request, &plan, &fake, &Silent).unwrap();
    assert!(done.ended.is_none(), "{:?}", done.ended);
    let crash = done.report.crash.unwrap();
    assert!(crash.passed, "{crash:#?}");
    assert!(crash.cycles.iter().all(|c| c.acknowledged > 10 && c.recovery_s.is_some()), "{crash:#?}");
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real MariaDB"]
fn a_device_that_forgets_what_it_acknowledged_is_caught() {
    let (ground, _alone) = (Ground::new(), alone());
    let fake = Fake::of(ground.path(), ground.logs.path(), true);
    let request = request(&ground, &[Part::Crash]);
    let Some(plan) = planned(&request, &fake) else { return };
    fake.remember_soon(|dir| {
        // All rows are there, and the sessions begin.
        let works = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut rows = works.map(|work| work.path().join("data/flashrig/crash_rows.ibd"));
        rows.any(|rows| std::fs::metadata(rows).is_ok_and(|file| file.len() > 1 << 20))
    });
    let done = review(&request, &plan, &fake, &Silent).unwrap();
    assert!(done.ended.is_none(), "{:?}", done.ended);
    let crash = done.report.crash.unwrap();
    assert!(!crash.passed && crash.cycles[0].lost > 0, "{crash:#?}");
    ground.assert_clean();
}

#[test]
fn what_only_postgresql_has_is_refused() {
    let ground = Ground::new();
    let error = prepare(&request(&ground, &[Part::Slob]), &Mounted::of(ground.path())).unwrap_err().to_string();
    assert!(error.contains("MySQL has the parts mix and crash"), "{error}");
}
