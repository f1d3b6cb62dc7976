//! Triage.
use std::sync::atomic::{AtomicU64, Ordering};
use torture::campaign::*;
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let c = Campaign {
        seed: a[0],
        cards: torture::Kind::ALL.into(),
        operations: a[2] as u32,
        beyond: a.get(3) == Some(&1),
    };
    std::panic::set_hook(Box::new(|_| {}));
    let next = AtomicU64::new(a.get(4).copied().unwrap_or(0));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= a[1] {
                        return;
                    }
                    let t = c.trial(n);
                    let life = t.run();
                    let Some(f) = life.failure else { continue };
                    let (t2, f2) = t.shrink(600, || false).unwrap_or((t.clone(), f.clone()));
                    let text = f2.to_string();
                    let life2 = t2.run();
                    let faults: Vec<String> = life2
                        .fired
                        .iter()
                        .map(|x| format!("{}@{}:{}", t2.case.plan.events[x.event].fault.kind, x.asks, x.activity))
                        .collect();
                    println!(
                        "life {n} {:?} {}: {} asks {} mends {} | {}",
                        t.card,
                        f2.kind(),
                        text.lines().next().unwrap().chars().take(150).collect::<String>(),
                        life2.asks,
                        life2.mends,
                        faults.join(", ")
                    );
                    std::fs::write(format!("/tmp/c-{}-{n}.json", a[0]), serde_json::to_string(&t2).unwrap()).unwrap();
                }
            });
        }
    });
}
