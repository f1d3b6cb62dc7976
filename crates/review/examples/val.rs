//! dev: compare one table
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let scale = a.get(2).map_or(1.0 / 64.0, |s| 1.0 / s.parse::<f64>().unwrap());
    let t = std::time::Instant::now();
    for c in review::validate_table(&a[1], scale, 1, &target::Silent).unwrap() {
        println!("{} {} holds={} mean {:?}", c.name, c.title, c.holds, c.mean_error);
        for p in &c.points {
            println!(
                "  {:50} {:10.1} {:6} {:?} err {:?} {}",
                p.label,
                p.model,
                p.unit,
                p.published,
                p.error.map(|e| (e * 1000.0).round() / 10.0),
                if p.holds { "" } else { "MISS" }
            );
        }
    }
    println!("{:.1}s", t.elapsed().as_secs_f64());
}
