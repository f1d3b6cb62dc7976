//! TPC-C on a device of fixed latency.

use super::schema::{DISTRICTS, ORDERS, Schema};
use super::*;
use crate::testing::{Machine, run};
use crate::{CacheConfig, LogConfig};
use device::Operation;

const SECOND_NS: u64 = 1_000_000_000;

const NEW_ORDERS_ALONE: TpccMix =
    TpccMix { payment_percent: 0.0, order_status_percent: 0.0, delivery_percent: 0.0, stock_level_percent: 0.0 };

fn machine() -> Machine {
    Machine { read_ns: 100_000, write_ns: 50_000, flush_ns: 100_000, cores: None }
}

/// Four warehouses behind a quarter of them.
fn small() -> TpccConfig {
    let config = TpccConfig { warehouses: 4, ..TpccConfig::default() };
    TpccConfig { cache: CacheConfig { bytes: 96 << 20, ..config.cache }, ..config }
}

fn measure_for(config: TpccConfig, machine: Machine, warm_s: u64, measured_s: u64) -> TpccReport {
    let mut load = Tpcc::new(config, 1).unwrap();
    let trace = run(&mut load, machine, warm_s * SECOND_NS, measured_s * SECOND_NS);
    let Some(Application::Tpcc(report)) = load.report(trace.end) else { panic!("TPC-C reports TPC-C") };
    report
}

fn measure(config: TpccConfig, machine: Machine) -> TpccReport {
    measure_for(config, machine, 1, 4)
}

fn close(measured: f64, expected: f64, share: f64) {
    assert!((measured - expected).abs() <= share * expected.abs(), "{measured}, expected {expected}");
}

#[test]
fn the_mix_has_the_shares_of_the_standard() {
    let report = measure(small(), machine());
    let count: u64 = report.transactions.values().map(|t| t.count).sum();
    for (kind, share) in
        [("new_order", 0.45), ("payment", 0.43), ("order_status", 0.04), ("delivery", 0.04), ("stock_level", 0.04)]
    {
        let measured = report.transactions[kind].count as f64 / count as f64;
        // Four standard deviations of so many draws.
        let bound = 4.0 * (share * (1.0 - share) / count as f64).sqrt();
        assert!((measured - share).abs() < bound, "{kind}: {measured} of {count}");
        close(report.transactions[kind].share, measured, 1e-12);
    }
    close(report.new_orders_per_minute, 60.0 * report.transactions["new_order"].tps, 1e-12);
    let rolled_back = report.rolled_back as f64 / report.transactions["new_order"].count as f64;
    assert!((rolled_back - 0.01).abs() < 0.003, "{rolled_back}");
}

#[test]
fn a_warehouse_has_about_a_hundred_megabytes() {
    let bytes = |warehouses| TpccConfig { warehouses, ..TpccConfig::default() }.data_bytes();
    let of_one = (bytes(101) - bytes(1)) / 100;
    assert!((80_000_000..120_000_000).contains(&of_one), "{of_one}");
    for warehouses in [1, 7, 100, 10_000] {
        assert_eq!(TpccConfig::warehouses_in(bytes(warehouses), 8192, 10_000), warehouses);
        assert_eq!(TpccConfig::warehouses_in(bytes(warehouses) - 1, 8192, 10_000), (warehouses - 1).max(1));
    }
    assert_eq!(TpccConfig::warehouses_in(u64::MAX, 8192, 100), 100);
}

#[test]
fn sessions_are_throughput_times_response_time_and_its_parts_add_up() {
    for cores in [None, Some(2)] {
        let report = measure(small(), Machine { cores, ..machine() });
        let mean_s = report.transactions.values().map(|t| t.count as f64 * t.lat_ns.mean).sum::<f64>()
            / report.transactions.values().map(|t| t.count).sum::<u64>() as f64
            / 1e9;
        close(report.tps * mean_s, 16.0, 0.005);
        close(report.time_ns.values().sum(), mean_s * 1e9, 1e-9);
        assert_eq!(report.time_ns["cores"] > 0.0, cores.is_some());
        let read_ns = report.page_reads_per_transaction * 100_000.0;
        close(report.time_ns["page_read"], read_ns, 0.005);
    }
}

#[test]
fn a_new_order_in_memory_takes_its_cpu_time_and_its_commit() {
    let config = TpccConfig { sessions: 1, mix: NEW_ORDERS_ALONE, cpu_per_page_ns: 0, ..small() };
    let config = TpccConfig { cache: CacheConfig { bytes: 1 << 30, ..config.cache }, ..config };
    let report = measure(config, machine());
    assert_eq!(report.buffer_hit_ratio, 1.0);
    let lat = &report.transactions["new_order"].lat_ns;
    // 200 µs of CPU; 50 µs of log write and 100 µs of flush unless it was rolled back.
    assert_eq!((lat.min, lat.max), (200_000, 350_000));
    close(lat.mean, 0.01 * 200_000.0 + 0.99 * 350_000.0, 0.005);
    // Ten lines and ten rows of stock, order, two index entries and the district.
    close(report.log_bytes_per_transaction, 10.0 * (54.0 + 366.0 + 60.0) + 95.0 + 24.0 + 16.0 + 8.0 + 240.0, 0.01);
}

#[test]
fn a_warehouse_row_is_changed_by_one_payment_at_a_time() {
    let mix = TpccMix { payment_percent: 100.0, ..NEW_ORDERS_ALONE };
    let config = TpccConfig { warehouses: 1, sessions: 32, mix, cpu_per_page_ns: 0, ..small() };
    let config = TpccConfig { cache: CacheConfig { bytes: 1 << 30, ..config.cache }, ..config };
    let report = measure(config, machine());
    // The row is held from the first visit until its commit is durable: 150 µs.
    close(report.tps, 1e9 / 150_000.0, 0.01);
    assert!(report.time_ns["row_lock"] > 0.9 * report.time_ns.values().sum::<f64>());
}

#[test]
fn a_group_of_commits_is_one_write_of_the_log() {
    let alone = measure(TpccConfig { sessions: 1, ..small() }, machine());
    close(alone.log_writes_per_transaction, 0.92, 0.02);
    let many = measure(TpccConfig { sessions: 64, warehouses: 16, ..small() }, machine());
    assert!(many.log_writes_per_transaction < 0.4, "{}", many.log_writes_per_transaction);
}

#[test]
fn the_same_seed_gives_the_same_requests_and_the_log_is_written_alone() {
    let trace = |seed| run(&mut Tpcc::new(small(), seed).unwrap(), machine(), 0, SECOND_NS / 10).requests;
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
    let config = small();
    let log_from = config.data_bytes();
    for request in trace(1).iter().map(|traced| traced.request) {
        let in_log = request.range.offset_bytes >= log_from && request.operation != Operation::Flush;
        assert!(!in_log || request.operation == Operation::Write);
        assert!(request.operation != Operation::Read || request.range.len_bytes == 8192);
    }
}

#[test]
fn orders_are_found_again_as_they_were_entered() {
    let mut contents = Contents::new(2, 8192, 1);
    let mut rng = Rng::stream(1, "test");
    let mut script = Script::default();
    for _ in 0..20_000 {
        let place = Place::draw(contents.districts(), &mut rng);
        contents.write(Kind::NewOrder, place, &mut rng, &mut script);
        let lines = script.visits.iter().filter(|v| v.page() < contents.schema().stock.page(0)).count();
        assert!((5..=15 + 4).contains(&lines), "items and three rows: {lines}");
    }
    // Every page lies in the database, whatever was ordered and delivered before.
    for _ in 0..2_000 {
        let place = Place::draw(contents.districts(), &mut rng);
        for kind in Kind::ALL {
            contents.write(kind, place, &mut rng, &mut script);
            assert!(script.visits.iter().all(|visit| visit.page() < contents.schema().pages()));
        }
    }
}

/// Che's approximation of an LRU pool: pages that are visited with the rates `rates` (a visit of the load), beside pages that
/// are appended at `appended` and never visited again. Returns the share of visits that hit.
fn che(rates: &[f64], appended: f64, frames: f64) -> f64 {
    let in_memory = |t: f64| rates.iter().map(|rate| 1.0 - (-rate * t).exp()).sum::<f64>() + appended * t;
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if in_memory(middle) < frames { low = middle } else { high = middle }
    }
    let total: f64 = rates.iter().sum();
    rates.iter().map(|rate| rate * (1.0 - (-rate * low).exp())).sum::<f64>() / total
}

#[test]
fn hits_are_those_of_an_lru_pool_under_the_standards_distribution() {
    let warehouses = 4;
    let contents = Contents::new(warehouses, 8192, 1);
    let schema = *contents.schema();
    let mut rates = vec![0.0; schema.pages() as usize];
    let (customers, items) = (contents.draws().customers().probabilities(), contents.draws().items().probabilities());
    let districts = f64::from(warehouses * DISTRICTS);
    for warehouse in 0..warehouses {
        rates[schema.warehouse.page(warehouse.into()) as usize] += 1.0 / f64::from(warehouses);
        for (item, p) in (0..).zip(&items) {
            rates[schema.stock.page(Schema::stock_row(warehouse, item)) as usize] += 10.0 * p / f64::from(warehouses);
        }
    }
    (0_u32..).zip(&items).for_each(|(item, p)| rates[schema.item.page(u64::from(item)) as usize] += 10.0 * p);
    for district in 0..warehouses * DISTRICTS {
        rates[schema.district.page(district.into()) as usize] += 1.0 / districts;
        for (customer, p) in (0..).zip(&customers) {
            rates[schema.customer.page(Schema::customer_row(district, customer)) as usize] += p / districts;
            rates[schema.orders_of_customer.page(Schema::order_row(district, customer)) as usize] += p / districts;
        }
        // The pages at the ends of the tables that grow: one of each for each district, always the same to the pool.
        for table in [schema.orders, schema.new_orders, schema.lines] {
            rates[table.page(u64::from(district * ORDERS)) as usize] += 1.0 / districts;
        }
    }
    // Pages of lines that are left behind; those of the two other tables are few.
    let appended = 10.0 / 103.0 + 1.0 / 174.0 + 1.0 / 274.0;
    for share in [0.1, 0.2, 0.4, 0.6] {
        let frames = (f64::from(schema.pages()) * share).round();
        let cache = CacheConfig { bytes: frames as u64 * 8192, dirty_limit: 0.5, dirty_start: 0.0, ..small().cache };
        let config = TpccConfig { mix: NEW_ORDERS_ALONE, warehouses, cpu_per_page_ns: 1_000, cache, ..small() };
        let report = measure_for(config, machine(), 4, 6);
        let expected = che(&rates, appended, frames);
        println!("{share}: {} {expected}", report.buffer_hit_ratio);
        close(report.buffer_hit_ratio, expected, 0.02);
    }
}

#[test]
fn wrong_parameters_are_named() {
    let good = small();
    good.validate().unwrap();
    let mix = TpccMix { payment_percent: 90.0, delivery_percent: 20.0, ..TpccMix::STANDARD };
    for (bad, expected) in [
        (TpccConfig { sessions: 0, ..good }, "sessions is 0"),
        (TpccConfig { warehouses: 0, ..good }, "warehouses is 0: must be 1 to 10000"),
        (TpccConfig { warehouses: 10_001, ..good }, "warehouses is 10001"),
        (TpccConfig { mix, ..good }, "mix.new_order_percent is -18"),
        (TpccConfig { page_bytes: 512, ..good }, "page_bytes is 512: must be 1024 to"),
        (TpccConfig { cpu_per_transaction_ns: 0, ..good }, "cpu_per_transaction_ns is 0"),
        (TpccConfig { log: LogConfig { block_bytes: 500, ..good.log }, ..good }, "log.block_bytes is 500"),
        (TpccConfig { start_bytes: 100, ..good }, "start_bytes is 100"),
    ] {
        let message = bad.validate().unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
