//! Files that fio 3.33 wrote here are read with the figures that stand in them. `fixtures/README.md` says how the
//! fixtures were made.

use import::{Problem, parse, read};
use results::{Axis, LatencySummary, Point, ReviewResult, Sweep, TargetKind};
use serde_json::Value;

fn path(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn fixture(name: &str) -> ReviewResult {
    read(path(name)).unwrap()
}

fn only(review: &ReviewResult) -> &Sweep {
    let [sweep] = &review.sweeps[..] else { panic!("{:?}", review.sweeps.iter().map(|s| &s.name).collect::<Vec<_>>()) };
    sweep
}

fn xs(sweep: &Sweep) -> Vec<f64> {
    sweep.points.iter().map(|point| point.x).collect()
}

#[test]
fn grouped_jobs_become_a_sweep_over_threads_with_fios_own_figures() {
    let review = fixture("fio-grouped-jsonplus.json");
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(path("fio-grouped-jsonplus.json")).unwrap()).unwrap();
    assert_eq!((review.generator.as_str(), review.target.kind), ("fio 3.33", TargetKind::Imported));
    assert_eq!(review.name, "fio-grouped-jsonplus");
    let sweep = only(&review);
    assert_eq!((sweep.name.as_str(), sweep.axis, xs(sweep)), ("threads-rndrd", Axis::Threads, vec![1.0, 2.0, 4.0]));
    assert_eq!(sweep.title, "16 KiB random reads against threads (fio 3.33)");
    assert!(sweep.note.contains("clat"), "{}", sweep.note);
    for (point, job) in sweep.points.iter().zip(written["jobs"].as_array().unwrap()) {
        let (read, theirs) = (&point.read, &job["read"]);
        assert_eq!(read.total_ios, theirs["total_ios"].as_u64().unwrap());
        assert_eq!(read.io_bytes, theirs["io_bytes"].as_u64().unwrap());
        assert_eq!(read.iops, theirs["iops"].as_f64().unwrap());
        assert_eq!(read.bw_bytes, theirs["bw_bytes"].as_f64().unwrap());
        assert_eq!(read.lat_ns.mean, theirs["clat_ns"]["mean"].as_f64().unwrap());
        assert_eq!(read.lat_ns.max, theirs["clat_ns"]["max"].as_u64().unwrap());
        assert_eq!(read.lat_ns.at(99.0), theirs["clat_ns"]["percentile"]["99.000000"].as_u64().unwrap());
        let histogram = read.histogram.as_ref().unwrap();
        assert_eq!(histogram.total(), read.total_ios);
        for percent in [50.0, 90.0, 99.0, 99.9] {
            let ratio = histogram.percentile_ns(percent) as f64 / read.lat_ns.at(percent) as f64;
            assert!((0.97..=1.033).contains(&ratio), "{percent} % {ratio}");
        }
        assert_eq!(point.write, Default::default());
        assert_eq!(point.load["options"]["ioengine"], "psync");
    }
}

#[test]
fn percentiles_from_bins_are_those_that_fio_finds() {
    let text = std::fs::read_to_string(path("fio-grouped-jsonplus.json")).unwrap();
    let with = only(&parse("f", text.as_bytes()).unwrap()).points.clone();
    let mut json: Value = serde_json::from_str(&text).unwrap();
    for job in json["jobs"].as_array_mut().unwrap() {
        job["read"]["clat_ns"].as_object_mut().unwrap().remove("percentile");
    }
    let without = only(&parse("f", json.to_string().as_bytes()).unwrap()).points.clone();
    for (with, without) in with.iter().zip(&without) {
        for percent in LatencySummary::PERCENTILES {
            let (a, b) = (with.read.lat_ns.at(percent), without.read.lat_ns.at(percent));
            // fio names the middle of a bin, which may lie above the longest request.
            assert_eq!(a.min(with.read.lat_ns.max), b, "{percent} %");
        }
    }
}

/// The last point is of two jobs that fio didn't sum.
fn of_two_jobs(name: &str) -> (Point, Vec<Value>, String) {
    let review = fixture(name);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(path(name)).unwrap()).unwrap();
    let sweep = only(&review);
    assert_eq!((sweep.name.as_str(), xs(sweep)), ("threads-rndrw", vec![1.0, 2.0]));
    (sweep.points[1].clone(), written["jobs"].as_array().unwrap()[1..].to_vec(), sweep.note.clone())
}

#[test]
fn jobs_of_one_group_are_summed_and_their_histograms_merged() {
    let (point, jobs, note) = of_two_jobs("fio-single-jsonplus.json");
    assert_eq!(jobs.len(), 2);
    let sum = |pointer: &str| jobs.iter().map(|job| job.pointer(pointer).unwrap().as_u64().unwrap()).sum::<u64>();
    assert_eq!((point.read.total_ios, point.write.total_ios), (sum("/read/total_ios"), sum("/write/total_ios")));
    assert_eq!(point.sync.total_ios, sum("/sync/total_ios"));
    assert!(point.sync.total_ios > 0 && point.sync.lat_ns.at(99.0) > 0 && point.sync.histogram.is_some());
    assert_eq!(point.write.histogram.as_ref().unwrap().total(), point.write.total_ios);
    assert!(point.write.lat_ns.at(50.0) > 0 && point.write.lat_ns.at(50.0) <= point.write.lat_ns.max);
    let longest_s = jobs.iter().map(|job| job["write"]["runtime"].as_f64().unwrap()).fold(0.0, f64::max) / 1e3;
    assert!((point.write.iops - point.write.total_ios as f64 / longest_s).abs() < 1e-9);
    assert!(!note.contains("no percentiles"), "{note}");
}

#[test]
fn without_bins_summed_jobs_have_no_percentiles_and_the_note_says_so() {
    let (point, jobs, note) = of_two_jobs("fio-single-json.json");
    assert!(point.write.lat_ns.percentile.is_empty() && point.write.histogram.is_none());
    let weighted: f64 = jobs
        .iter()
        .map(|job| job["write"]["clat_ns"]["mean"].as_f64().unwrap() * job["write"]["clat_ns"]["N"].as_f64().unwrap())
        .sum();
    assert!((point.write.lat_ns.mean / (weighted / point.write.lat_ns.n as f64) - 1.0).abs() < 1e-9);
    assert!(note.contains("no percentiles where several jobs make a point"), "{note}");
}

#[test]
fn queue_depths_are_an_axis_of_their_own() {
    let review = fixture("fio-depths.json");
    let sweep = only(&review);
    assert_eq!((sweep.name.as_str(), sweep.axis, xs(sweep)), ("depth-rndrd", Axis::QueueDepth, vec![1.0, 8.0, 32.0]));
}

#[test]
fn several_runs_in_a_file_are_points_of_one_sweep() {
    let review = fixture("fio-blocks-concatenated.txt");
    let sweep = only(&review);
    assert_eq!(
        (sweep.name.as_str(), sweep.axis, xs(sweep)),
        ("blocks-rndrd", Axis::BlockBytes, vec![4096.0, 16384.0, 65536.0])
    );
}

#[test]
fn text_before_and_after_the_json_is_skipped() {
    let review = fixture("fio-text-around.txt");
    let sweep = only(&review);
    // A synchronous engine has no queue, whatever iodepth says.
    assert_eq!((sweep.name.as_str(), xs(sweep)), ("threads-rndwr", vec![2.0]));
    assert!(sweep.points[0].sync.total_ios > 0);
}

#[test]
fn fio_2_is_read_in_its_own_units() {
    let review = fixture("fio-2.21.json");
    let sweep = only(&review);
    assert_eq!((review.generator.as_str(), sweep.name.as_str()), ("fio 2.21", "threads-rndrd"));
    let read = &sweep.points[0].read;
    assert_eq!((read.total_ios, read.io_bytes, read.bw_bytes), (1_779, 7_116 << 10, (275 << 10) as f64));
    assert_eq!((read.lat_ns.max, read.lat_ns.mean, read.lat_ns.at(95.0)), (6_329_000, 14_490_000.0 / 1e3, 18_000));
    assert!(sweep.note.contains("whole microseconds"), "{}", sweep.note);
}

#[test]
fn what_cannot_be_imported_is_refused_with_a_remedy() {
    for (text, message) in [
        (
            r#"{"fio version": "fio-3.33", "jobs": []}"#,
            "f: fio's JSON without jobs: of fio --client, import what each machine wrote itself",
        ),
        (
            r#"{"fio version": "fio-2.2.10", "jobs": [{"jobname": "a", "read": {}}]}"#,
            "f: fio-2.2.10 did not write what it had asked (\"job options\"): measure again with fio 2.12 or newer",
        ),
        (
            r#"{"fio version": "fio-3", "jobs": [{"jobname": "a", "job options": {"numjobs": "x"}}]}"#,
            "f: job 'a' has numjobs=x, which is not a number from 1 to 1,000,000",
        ),
        (
            r#"{"fio version": "fio-3", "jobs": [{"jobname": "a", "job options": {"rw": "trim"}, "trim": {"total_ios": 3}}]}"#,
            "f: nothing was read or written in it: was the tool stopped before its end?",
        ),
        (
            "fio: a warning\n{\n\"fio version\": \"fio-3\",\n\"jobs\": [{]}",
            "f:4: column 11: key must be a string: write it again, it is broken",
        ),
    ] {
        assert_eq!(parse("f", text.as_bytes()).unwrap_err().to_string(), message);
    }
    assert!(matches!(read(path("fio-unified.json")).unwrap_err().problem, Problem::Unified { .. }));
}

#[test]
fn different_jobs_at_once_lie_in_no_chart_of_a_single_load() {
    let job = |name: &str, rw: &str, class: &str| {
        format!(
            r#"{{"jobname": "{name}", "groupid": 0, "job options": {{"rw": "{rw}"}},
                "{class}": {{"io_bytes": 8192, "bw_bytes": 4096, "iops": 1, "runtime": 2000, "total_ios": 2}}}}"#
        )
    };
    let jobs = [job("readers", "randread", "read"), job("writer", "randwrite", "write")].join(",");
    let review = parse("f", format!(r#"{{"fio version": "fio-3", "jobs": [{jobs}]}}"#).as_bytes()).unwrap();
    let sweep = only(&review);
    assert_eq!((sweep.name.as_str(), xs(sweep)), ("threads-several", vec![2.0]));
    assert_eq!((sweep.points[0].read.iops, sweep.points[0].write.total_ios), (1.0, 2));
}
