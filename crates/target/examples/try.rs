//! dev
use load::*;
use target::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut p = profile::Profile::open(&a[1]).unwrap();
    let mode: FileioMode = a[2].parse().unwrap();
    let scale: f64 = 1.0 / a[3].parse::<f64>().unwrap();
    let threads: u32 = a[4].parse().unwrap();
    let block: u32 = a[5].parse().unwrap();
    let host = profile::Host::open(&a[6]).unwrap();
    let fills: Vec<f64> = a[7].split(',').map(|x| x.parse().unwrap()).collect();
    for s in &a[8..] {
        p.set(s).unwrap();
    }
    let d = p.lower(scale).unwrap();
    for f in fills {
        let load = LoadConfig::Fileio(FileioConfig {
            mode,
            threads,
            block_bytes: block,
            file_bytes: (d.user_bytes() as f64 * f / 100.0) as u64 / 65536 * 65536,
            ..Default::default()
        });
        let spec = RunSpec {
            device: &d,
            device_json: Default::default(),
            host: &host.config(),
            host_json: Default::default(),
            load: &load,
            fill: f / 100.0,
            seed: 1,
            measure: Measure::Auto,
            fresh: false,
            explain_tail: false,
        };
        let t = std::time::Instant::now();
        let m = prepare(&spec, &Silent).unwrap();
        let pre = t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();
        let r = measure(&spec, m, &Silent).unwrap();
        let w = t.elapsed().as_secs_f64();
        let c = if r.write.total_ios > 0 { &r.write } else { &r.read };
        let fl = r.flash.unwrap();
        println!(
            "fill {f:5.1} {:8.1} MiB/s iops {:8.0} mean {:6.1}us p95 {:7.1} p99 {:7.1} p99.9 {:7.1} max {:8.1}us | waf {:.3} free {} eff {:.4} rounds {} {:?} {:.3} | virt {:.2}s pre {:.2}s wall {:.2}s {:.2}M 4k/s",
            (r.read.bw_bytes + r.write.bw_bytes) / 1048576.0,
            r.read.iops + r.write.iops,
            c.lat_ns.mean / 1e3,
            c.lat_ns.at(95.0) as f64 / 1e3,
            c.lat_ns.at(99.0) as f64 / 1e3,
            c.lat_ns.at(99.9) as f64 / 1e3,
            c.lat_ns.max as f64 / 1e3,
            fl.waf,
            fl.free_bands,
            fl.effective_spare_factor,
            r.steady_state.as_ref().unwrap().rounds.len(),
            r.steady_state.as_ref().unwrap().attained,
            r.steady_state.as_ref().unwrap().range,
            r.sim.virtual_seconds,
            pre,
            w,
            (r.read.io_bytes + r.write.io_bytes) as f64 / 4096.0 / w / 1e6
        );
    }
}
