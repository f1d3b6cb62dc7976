//! The fio of this machine, if there is one: what is imported is what it reports itself.

use results::Axis;
use std::process::Command;

#[test]
fn imported_figures_are_those_of_fios_own_summary() {
    let Ok(version) = Command::new("fio").arg("--version").output() else {
        eprintln!("skipped: fio is not installed");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.json");
    let fio = Command::new("fio")
        .current_dir(dir.path())
        .args(["--name=job", "--filename=file", "--size=16m", "--rw=randrw", "--bs=16k", "--numjobs=2", "--fsync=16"])
        .args(["--number_ios=300", "--group_reporting", "--output-format=json+,terse", "--output=out.json"])
        .output()
        .unwrap();
    assert!(fio.status.success(), "{}", String::from_utf8_lossy(&fio.stderr));
    let review = import::read(&out).unwrap();
    assert_eq!(review.generator.replace(' ', "-"), String::from_utf8_lossy(&version.stdout).trim());
    let sweep = review.sweep("threads-rndrw").unwrap();
    let [point] = &sweep.points[..] else { panic!("{}", sweep.points.len()) };
    assert_eq!((sweep.axis, point.x), (Axis::Threads, 2.0));
    // The terse line is another road out of fio: its fields, from 0, as HOWTO lists them.
    let text = std::fs::read_to_string(&out).unwrap();
    let terse: Vec<&str> =
        text.lines().find(|line| line.starts_with("3;fio-")).expect("terse line").split(';').collect();
    let number = |field: usize| terse[field].parse::<f64>().unwrap();
    for (class, first) in [(&point.read, 5), (&point.write, 46)] {
        assert_eq!(class.io_bytes, number(first) as u64 * 1024, "KiB moved");
        assert!((class.bw_bytes / 1024.0 - number(first + 1)).abs() <= 1.0, "KiB a second");
        assert!((class.iops - number(first + 2)).abs() <= 1.0, "requests a second");
        let us = |ns: f64, field: usize| assert!((ns / 1e3 - number(field)).abs() <= 1.0, "{ns} {}", number(field));
        us(class.lat_ns.min as f64, first + 8);
        us(class.lat_ns.max as f64, first + 9);
        us(class.lat_ns.mean, first + 10);
        us(class.lat_ns.stddev, first + 11);
        let p95 = terse[first + 12..first + 32].iter().find_map(|field| field.strip_prefix("95.000000%=")).unwrap();
        assert!((class.lat_ns.at(95.0) as f64 / 1e3 - p95.parse::<f64>().unwrap()).abs() <= 1.0, "{p95}");
        assert_eq!(class.histogram.as_ref().unwrap().total(), class.total_ios);
    }
    assert!(point.sync.total_ios > 0);
}
