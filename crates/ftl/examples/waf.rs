use device::Rng;
use ftl::*;
use nand::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let u: f64 = a[1].parse().unwrap();
    let policy = match a[2].as_str() {
        "fifo" => VictimPolicy::Fifo,
        "cb" => VictimPolicy::CostBenefit,
        "greedy" => VictimPolicy::Greedy,
        d => VictimPolicy::RandomD(d.parse().unwrap()),
    };
    let bands: u32 = a[3].parse().unwrap();
    let dies: u32 = a[4].parse().unwrap();
    let t = OpTiming { read_ns: 1, program_ns: 1, erase_ns: 1 };
    let nand = NandConfig {
        geometry: Geometry {
            modules: dies,
            channels_per_module: 1,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: bands,
            pages_per_block: 128,
            page_bytes: 4096,
            spare_bytes: 0,
            multi_plane: false,
        },
        timing: Timing { native: t, slc: t, bus_bytes_per_s: 1, suspend_ns: None, max_suspends: 0 },
        endurance: Endurance { rated_cycles: 1, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
    };
    let mut c = FtlConfig {
        user_sectors: 0,
        stripe_width: if dies > 16 { 16 } else { 1 },
        parity_units: (dies > 16) as u32,
        victim: policy,
        gc: GcMode::Paced { target_free_bands: 4 },
        reserve_bands: 2,
        separate_streams: true,
        static_wear_spread_cycles: 0,
        slc_cache: None,
    };
    let data = dies as u64 * 128 * if dies > 16 { 15 } else { 16 } / 16;
    c.user_sectors = ((bands - c.overhead_bands()) as f64 * data as f64 * u) as u64;
    let mut f = Ftl::new(&nand, bands, &c, 1).unwrap();
    let n = c.user_sectors;
    let t0 = std::time::Instant::now();
    for i in 0..n {
        f.write_now(Lba(i as u32)).unwrap();
    }
    println!("fill {:.1} ns/write", t0.elapsed().as_nanos() as f64 / n as f64);
    let mut rng = Rng::stream(1, "x");
    for r in 0..8 {
        let c0 = f.counters();
        let t0 = std::time::Instant::now();
        for _ in 0..n / 2 {
            f.write_now(Lba(rng.below(n) as u32)).unwrap();
        }
        println!(
            "{r} waf {:.3} eff {:.4} free {} {:.1} ns/write",
            f.counters().since(&c0).waf(),
            f.effective_spare_factor(),
            f.free_bands(),
            t0.elapsed().as_nanos() as f64 / (n / 2) as f64
        );
    }
    f.check().unwrap();
}
