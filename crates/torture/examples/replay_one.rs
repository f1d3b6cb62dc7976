fn main() {
    let t: torture::campaign::Trial =
        serde_json::from_str(&std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap()).unwrap();
    let life = t.run();
    println!(
        "{:?}\n{} asks, steps {}, events {:#?}\n{:?}\nhalted {:?}",
        life.failure.map(|f| f.to_string()),
        life.asks,
        t.case.steps.len(),
        t.case.plan.events,
        life.fired,
        life.halted
    );
}
