use torture::campaign::*;
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let c = Campaign {
        seed: a[0],
        cards: torture::Kind::ALL.into(),
        operations: a[2] as u32,
        beyond: a.get(3) == Some(&1),
    };
    if std::env::var("QUIET").is_ok() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let t = std::time::Instant::now();
    if let Some(&n) = a.get(4) {
        let trial = c.trial(n);
        let life = trial.run();
        for f in &life.fired {
            println!(
                "{} {} {} {}",
                f.asks,
                trial.case.plan.events[f.event].fault.kind,
                f.activity,
                trial.case.plan.events[f.event].fault.seed
            );
        }
        println!("{:?} {}", trial.card, life.failure.map(|f| f.to_string()).unwrap_or_default());
        return;
    }
    let (tally, v) = c.run(&Limits { lives: a[1], until: None, threads: 2, cancelled: &|| false, progress: &|_| {} });
    println!("{}", tally.coverage.table());
    for k in c.kinds() {
        let n: u64 = sim::Activity::ALL.iter().map(|&x| tally.coverage.of(k, x)).sum();
        if n < 100 {
            println!("few: {k} {n}");
        }
    }
    println!(
        "missing {:?}",
        tally
            .coverage
            .missing(&c.kinds())
            .iter()
            .filter(|m| m.1 != sim::Activity::Checkpoint)
            .map(|m| format!("{} x {}", m.0, m.1))
            .collect::<Vec<_>>()
    );
    println!(
        "lives {} ops {} cuts {} nested {} mends {} rested {} halted {:?} rest {} ms, trace {:x}",
        tally.lives,
        tally.operations,
        tally.power_cuts,
        tally.nested_cuts,
        tally.mends,
        tally.rested,
        tally.halted,
        tally.rest_ns / 1_000_000,
        tally.trace
    );
    println!("{:?}", t.elapsed());
    if let Some(v) = v {
        println!("life {} of {:?}: {}", v.life, v.trial.card, v.wrong);
        for f in &v.faults {
            println!("  {f}");
        }
        if let Some((s, f)) = v.trial.shrink(1500, || false) {
            println!("{f}");
            std::fs::write("/tmp/shrunk.json", serde_json::to_string(&s).unwrap()).unwrap();
        }
    }
}
