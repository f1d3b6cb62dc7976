//! A run: everything that is checked before it begins, then part by part.

use crate::activity::Looker;
use crate::cluster::Cluster;
use crate::commit::{CommitOf, commit};
use crate::device::name_of;
use crate::memory::{MANY_BYTES, Memory};
use crate::mix::{self, PointOf};
use crate::page_cache::{self, Evictor};
use crate::place::{check_directory, free_bytes};
use crate::request::Resolved;
use crate::slob::{self, SlobOf};
use crate::{Binaries, DatabaseError, Device, Engine, Part, Request, crash, mysql, settings, verdict};
use results::{Claim, DatabaseMix, DatabaseReport, DatabaseSlob, Fact, bend};
use std::time::{Duration, Instant};
use target::Progress;

/// A start after a clean stop.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// Memory of a session besides the shared buffers.
const SESSION_BYTES: u64 = 6 << 20;
/// Unmeasured share of a point's time.
const WARM_UP: f64 = 0.25;
const SLOB_BUFFERS_MB: u64 = 64;
/// A power cut with all that follows, about.
const CUT_S: f64 = 20.0;
/// The oldest version with `pg_amcheck`.
const OLDEST_FOR_CRASH: u32 = 14;

/// The plan of a review, checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The database and its version: `PostgreSQL 15.14`.
    pub engine: String,
    programs: Programs,
    /// For people: what lies below.
    pub title: String,
    /// Settings of the server.
    pub settings: Vec<(String, String)>,
    /// Tables and indexes of the mix.
    pub data_bytes: u64,
    /// Size of the buffer cache.
    pub shared_buffers_bytes: u64,
    /// Most that lies on the device at once.
    pub needed_bytes: u64,
    /// Parts that will be run, and the seconds of measuring; loading comes on top.
    pub parts: Vec<(Part, f64)>,
    resolved: Resolved,
}

/// The programs that are run.
#[derive(Clone, Debug)]
enum Programs {
    Postgres(Binaries),
    MySql(mysql::Programs),
}

/// Outcome of a review.
#[derive(Debug)]
pub struct Reviewed {
    /// All that was measured.
    pub report: DatabaseReport,
    /// Claims in sentences.
    pub verdict: Vec<Claim>,
    /// Seconds that each part took, with its loading; what was begun and failed is there too.
    pub seconds: Vec<(Part, f64)>,
    /// Reason why it is not complete.
    pub ended: Option<DatabaseError>,
}

/// Bytes of memory that programs can still have; None: the kernel does not say.
pub fn available_memory_bytes() -> Option<u64> {
    Memory::now().map(|memory| memory.available_bytes)
}

/// Refuses a device whose contents would not fit into memory, before there is one.
pub fn check_device_memory(device_bytes: u64) -> Result<(), DatabaseError> {
    match Memory::now().map(|memory| memory.available_bytes) {
        Some(available) if available < device_bytes => Err(DatabaseError::DeviceBeyondMemory {
            available_mib: available >> 20,
            device_mib: device_bytes.div_ceil(1 << 20),
        }),
        _ => Ok(()),
    }
}

/// Finds the database and checks everything that can be checked without touching the device.
pub fn prepare(request: &Request, device: &dyn Device) -> Result<Plan, DatabaseError> {
    let dir = check_directory(&request.dir)?;
    let free = free_bytes(&dir)?;
    let resolved = request.resolve(free)?;
    if request.has(Part::Crash) {
        request.crash.validate().map_err(|text| DatabaseError::Parameter(text.into()))?;
        if device.power().is_none() {
            return Err(DatabaseError::NoPower { title: device.title().into() });
        }
    }
    let programs = match request.engine {
        Engine::Postgres => Programs::Postgres(postgres(request)?),
        Engine::MySql => Programs::MySql(mysql::Programs::find()?),
    };
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    if resolved.needed_bytes > free {
        return Err(DatabaseError::Full { dir, free_mib: free >> 20, needed_mib: mib(resolved.needed_bytes) });
    }
    let sessions = resolved.max_sessions.max(if request.has(Part::Crash) { request.crash.sessions } else { 0 });
    let found = Memory::now();
    let huge_pages = found.is_some_and(|memory| memory.has_huge_pages_for(resolved.shared_buffers_bytes));
    let buffers = if huge_pages { 0 } else { resolved.shared_buffers_bytes };
    let server = buffers + u64::from(sessions + 20) * SESSION_BYTES;
    let needed = server + device.memory_bytes();
    if let Some(available) = found.map(|memory| memory.available_bytes).filter(|&available| available < needed) {
        let (available_mib, needed_mib, device_mib) = (available >> 20, mib(server), mib(device.memory_bytes()));
        return Err(match device_mib {
            0 => DatabaseError::Memory { available_mib, needed_mib, sessions },
            _ => DatabaseError::MemoryOfDevice { available_mib, needed_mib, device_mib },
        });
    }
    let (engine, settings) = match &programs {
        Programs::Postgres(binaries) => {
            let mut settings = settings::settings(resolved.shared_buffers_bytes, resolved.max_wal_bytes, sessions);
            settings.push(("huge_pages".to_owned(), if huge_pages { "on" } else { "off" }.to_owned()));
            settings.extend(settings::since(binaries.major));
            (format!("PostgreSQL {}", binaries.version), settings)
        }
        Programs::MySql(programs) => {
            let (buffers, log) = (resolved.shared_buffers_bytes, resolved.max_wal_bytes);
            (format!("{}, InnoDB", programs.version), mysql::settings(buffers, log, sessions))
        }
    };
    let points = request.sessions.len() as f64;
    let parts = [
        (Part::Mix, points * request.point_s * (1.0 + WARM_UP)),
        (Part::Commit, (points + 4.0) * commit_s(request)),
        (Part::Slob, points * slob_s(request)),
        (Part::Crash, f64::from(request.crash.cycles) * (request.crash.load_s + CUT_S)),
    ];
    Ok(Plan {
        engine,
        programs,
        title: device.title(),
        settings,
        data_bytes: resolved.data_bytes,
        shared_buffers_bytes: resolved.shared_buffers_bytes,
        needed_bytes: resolved.needed_bytes,
        parts: parts.into_iter().filter(|(part, _)| request.has(*part)).collect(),
        resolved,
    })
}

impl Plan {
    /// Seconds of measuring, of all parts.
    pub fn measured_s(&self) -> f64 {
        self.parts.iter().map(|(_, seconds)| seconds).sum()
    }
}

fn slob_s(request: &Request) -> f64 {
    request.slob.run_time_s.map_or(request.point_s, f64::from)
}

/// A commit is over soon: points need not be as long.
fn commit_s(request: &Request) -> f64 {
    (request.point_s / 3.0).max(1.0)
}

/// Finds PostgreSQL, with the checkers that a crash test calls.
fn postgres(request: &Request) -> Result<Binaries, DatabaseError> {
    let binaries = Binaries::find(request.pg_bin.as_deref())?;
    if request.has(Part::Crash) {
        if binaries.major < OLDEST_FOR_CRASH {
            let (dir, found) = (binaries.dir, binaries.version);
            return Err(DatabaseError::TooOld { dir, found: found.into(), least: OLDEST_FOR_CRASH });
        }
        let checkers = ["pg_amcheck", "pg_checksums"];
        if let Some(missing) = checkers.into_iter().find(|program| !binaries.program(program).is_file()) {
            return Err(DatabaseError::Incomplete { dir: binaries.dir, missing });
        }
    }
    Ok(binaries)
}

/// Runs what was asked for. Figures that were measured until a failure are kept; an error is returned when there were
/// none.
pub fn review(
    request: &Request,
    plan: &Plan,
    device: &dyn Device,
    progress: &dyn Progress,
) -> Result<Reviewed, DatabaseError> {
    let mut report = DatabaseReport {
        engine: plan.engine.clone(),
        directory: request.dir.display().to_string(),
        block_device: device.block_device().map(|number| name_of(&number).unwrap_or(number)),
        settings: facts(&plan.settings),
        shared_buffers_bytes: plan.shared_buffers_bytes,
        page_cache: match plan.programs {
            Programs::Postgres(_) => page_cache::WORDS.to_owned(),
            Programs::MySql(_) => "InnoDB reads and writes past it (O_DIRECT)".to_owned(),
        },
        ..DatabaseReport::default()
    };
    let (ended, seconds) = match &plan.programs {
        Programs::Postgres(binaries) => {
            let mut run = Run { request, plan, binaries, device, progress, seconds: Vec::new() };
            (run.all(&mut report).err(), run.seconds)
        }
        Programs::MySql(programs) => {
            let (settings, data_bytes) = (&plan.settings, plan.data_bytes);
            let mut run = mysql::Run { request, programs, settings, data_bytes, device, progress, seconds: Vec::new() };
            (run.all(&mut report).err(), run.seconds)
        }
    };
    let measured = report.mix.as_ref().is_some_and(|mix| !mix.points.is_empty())
        || report.oltp.as_ref().is_some_and(|oltp| !oltp.points.is_empty())
        || report.slob.as_ref().is_some_and(|slob| !slob.points.is_empty())
        || report.commit.is_some()
        || report.crash.is_some();
    match ended {
        Some(error) if !measured => Err(error),
        ended => {
            notes(&mut report);
            report.notes.extend(note_on_pages(plan).filter(|_| request.engine == Engine::Postgres));
            let verdict = verdict::claims(&report, request.price);
            Ok(Reviewed { report, verdict, seconds, ended })
        }
    }
}

struct Run<'a> {
    request: &'a Request,
    plan: &'a Plan,
    binaries: &'a Binaries,
    device: &'a dyn Device,
    progress: &'a dyn Progress,
    seconds: Vec<(Part, f64)>,
}

impl Run<'_> {
    fn all(&mut self, report: &mut DatabaseReport) -> Result<(), DatabaseError> {
        let request = self.request;
        self.progress.begin("make the cluster", 1);
        let mut cluster = Cluster::create(self.binaries, &request.dir, &request.logs, request.guard.as_deref())?;
        if request.has(Part::Mix) || request.has(Part::Commit) {
            self.mix_and_commit(&mut cluster, report)?;
        }
        if request.has(Part::Slob) {
            self.timed(Part::Slob, |run| run.slob(&mut cluster, report))?;
        }
        if request.has(Part::Crash) {
            self.timed(Part::Crash, |run| run.crash(&mut cluster, report))?;
        }
        // A failure to stop cleanly is the device's, or ours: it is not to pass unseen.
        if cluster.is_running() { cluster.stop() } else { Ok(()) }
    }

    fn timed<T>(&mut self, part: Part, work: impl FnOnce(&mut Self) -> T) -> T {
        let began = Instant::now();
        let done = work(self);
        self.seconds.push((part, began.elapsed().as_secs_f64()));
        done
    }

    fn start(&self, cluster: &mut Cluster, overriding: &[(String, String)]) -> Result<(), DatabaseError> {
        // The last of equal settings counts.
        let settings: Vec<_> = self.plan.settings.iter().chain(overriding).cloned().collect();
        cluster.start(&settings, START_PATIENCE, self.progress).map(drop)
    }

    fn start_loading(&self, cluster: &mut Cluster) -> Result<(), DatabaseError> {
        self.start(cluster, &settings::LOADING.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    fn looker(&self, cluster: &Cluster) -> Result<Looker, DatabaseError> {
        Ok(Looker::new(cluster.connect()?, cluster.binaries().major, cluster.server(), self.device.block_device()))
    }

    /// Both on the mix' table, which is loaded for the first of them.
    fn mix_and_commit(&mut self, cluster: &mut Cluster, report: &mut DatabaseReport) -> Result<(), DatabaseError> {
        let request = self.request;
        let first = if request.has(Part::Mix) { Part::Mix } else { Part::Commit };
        let (rows, evictor, mut looker) = self.timed(first, |run| run.load_mix(cluster, report))?;
        if request.has(Part::Mix) {
            self.timed(Part::Mix, |run| run.mix(cluster, &mut looker, rows, report))?;
        }
        if request.has(Part::Commit) {
            let of = CommitOf {
                sessions: &request.sessions,
                measured_s: commit_s(request),
                rows,
                seed: request.seed,
                device: self.device,
            };
            let done = self.timed(Part::Commit, |run| commit(cluster, &mut looker, &of, run.progress));
            report.commit = Some(done?);
        }
        drop((looker, evictor));
        mix::drop_table(cluster)?;
        cluster.stop()
    }

    fn load_mix(
        &self,
        cluster: &mut Cluster,
        report: &mut DatabaseReport,
    ) -> Result<(u64, Evictor, Looker), DatabaseError> {
        self.start_loading(cluster)?;
        let (rows, bytes) = mix::load(cluster, self.plan.resolved.data_bytes, self.request.seed, self.progress)?;
        report.data_bytes = bytes;
        cluster.stop()?;
        self.start(cluster, &[])?;
        if !mix::warm(cluster, self.progress)? {
            report
                .notes
                .push("The buffer cache was empty at the first point: PostgreSQL has no pg_prewarm here.".into());
        }
        Ok((rows, Evictor::start(&cluster.data().join("base")), self.looker(cluster)?))
    }

    fn mix(
        &self,
        cluster: &Cluster,
        looker: &mut Looker,
        rows: u64,
        report: &mut DatabaseReport,
    ) -> Result<(), DatabaseError> {
        let (request, mix) = (self.request, &self.request.mix);
        let measured = report.mix.insert(DatabaseMix {
            select_percent: mix.select_percent,
            insert_percent: mix.insert_percent,
            scans_per_select: mix.scans,
            rows_per_scan: mix.rows,
            think_ns: mix.think_us * 1_000,
            rows,
            differs: mix::differs(),
            ..DatabaseMix::default()
        });
        self.progress.begin("80/20 mix", request.sessions.len() as u64);
        for (i, &sessions) in request.sessions.iter().enumerate() {
            self.progress.step(&format!("80/20 mix, {sessions} sessions"));
            let of = PointOf {
                mix,
                rows,
                sessions,
                warm_up_s: request.point_s * WARM_UP,
                measured_s: request.point_s,
                seed: request.seed,
                logs: &request.logs,
            };
            measured.points.push(mix::point(cluster, looker, &of, self.progress)?);
            sum_up(measured, [request.price, request.power_watts, request.rack_units]);
            self.progress.at(i as u64 + 1);
        }
        Ok(())
    }

    fn slob(&self, cluster: &mut Cluster, report: &mut DatabaseReport) -> Result<(), DatabaseError> {
        let (request, slob) = (self.request, &self.plan.resolved.slob);
        let most = self.plan.resolved.max_sessions;
        self.start_loading(cluster)?;
        slob::load(cluster, slob, most, self.progress)?;
        cluster.stop()?;
        let buffers_mb = slob
            .buffers_mb
            .unwrap_or_else(|| slob.buffers_of(SLOB_BUFFERS_MB).min(self.plan.shared_buffers_bytes >> 20));
        self.start(cluster, &[("shared_buffers".to_owned(), format!("{buffers_mb}MB"))])?;
        let evictor = Evictor::start(&cluster.data().join("base"));
        let mut looker = self.looker(cluster)?;
        let parameters = slob.parameters(slob_s(request), buffers_mb);
        let measured = report.slob.insert(DatabaseSlob { parameters, points: Vec::new() });
        self.progress.begin("SLOB", request.sessions.len() as u64);
        for (i, &sessions) in request.sessions.iter().enumerate() {
            self.progress.step(&format!("SLOB, {sessions} sessions"));
            let of = SlobOf { slob, sessions, measured_s: slob_s(request), seed: request.seed };
            measured.points.push(slob::point(cluster, &mut looker, &of, self.progress)?);
            self.progress.at(i as u64 + 1);
        }
        drop((looker, evictor));
        slob::drop_tables(cluster, slob, most)?;
        cluster.stop()
    }

    fn crash(&self, cluster: &mut Cluster, report: &mut DatabaseReport) -> Result<(), DatabaseError> {
        let power = self.device.power().ok_or_else(|| DatabaseError::NoPower { title: self.device.title().into() })?;
        self.start(cluster, &[])?;
        let (settings, config, seed) = (&self.plan.settings, &self.request.crash, self.request.seed);
        crash::crash(cluster, settings, config, power, seed, self.progress, |done| report.crash = Some(done.clone()))
    }
}

/// Peak, bend, price, power and space of what was measured so far.
fn sum_up(mix: &mut DatabaseMix, [price, watts, rack_units]: [Option<f64>; 3]) {
    let curve: Vec<(f64, f64)> = mix.points.iter().map(|p| (f64::from(p.sessions), p.tps)).collect();
    let Some(peak) = mix.points.iter().max_by(|a, b| a.tps.total_cmp(&b.tps)) else { return };
    (mix.peak_tps, mix.peak_sessions) = (Some(peak.tps), Some(peak.sessions));
    // A curve whose last point is its peak may go on rising.
    let rises = mix.points.last().is_some_and(|last| last.sessions == peak.sessions) && mix.points.len() > 1;
    mix.bend_sessions = if rises { None } else { bend(&curve) };
    let per = results::TransactionsPer::of(peak.tps, price, watts, rack_units);
    (mix.tps_per_price, mix.tps_per_watt, mix.tps_per_rack_unit) = (per.usd, per.watt, per.rack_unit);
}

/// Adds the remarks that a reader needs, from the measurements.
fn notes(report: &mut DatabaseReport) {
    if report.block_device.is_none() {
        report.notes.push(
            "There is no block device below the directory whose requests the kernel counts: how many reads the page \
             cache answered is not known."
                .to_owned(),
        );
    }
    let shares = |activities: Vec<&results::DatabaseActivity>| {
        activities.iter().filter_map(|a| a.device_read_share).fold(f64::INFINITY, f64::min)
    };
    let mut all = Vec::new();
    all.extend(report.mix.iter().flat_map(|mix| mix.points.iter().map(|p| &p.activity)));
    all.extend(report.slob.iter().flat_map(|slob| slob.points.iter().map(|p| &p.activity)));
    let least = shares(all);
    if least < 0.8 {
        report.notes.push(format!(
            "The page cache answered reads: at one point the device read only {:.0} % of the bytes that PostgreSQL asked \
             the kernel for. Figures of reading are better than the device.",
            least * 100.0
        ));
    }
    if report.block_device.is_some() {
        report.notes.push("Requests at the device are all of the machine's, not only the database's.".to_owned());
    }
}

/// Many buffers in small pages take time of the processors, which is not the device's.
fn note_on_pages(plan: &Plan) -> Option<String> {
    let has_huge = plan.settings.iter().any(|(name, value)| name == "huge_pages" && value == "on");
    if has_huge || plan.shared_buffers_bytes < MANY_BYTES {
        return None;
    }
    let pages = Memory::now()?.huge_pages_for(plan.shared_buffers_bytes)?;
    Some(format!(
        "The shared buffers lie in pages of 4 KiB, which each session maps for itself: with many sessions the processors are \
         busy with that. sysctl vm.nr_hugepages={pages} before the review gives huge ones."
    ))
}

fn facts(settings: &[(String, String)]) -> Vec<Fact> {
    let fact = |(key, value): &(String, String)| Fact {
        key: key.clone(),
        label: key.clone(),
        value: if value.is_empty() { "''".to_owned() } else { value.clone() },
    };
    settings.iter().map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::DatabaseMixPoint;

    fn mix(tps: &[(u32, f64)]) -> DatabaseMix {
        let points = tps.iter().map(|&(sessions, tps)| DatabaseMixPoint { sessions, tps, ..Default::default() });
        let mut mix = DatabaseMix { points: points.collect(), ..Default::default() };
        sum_up(&mut mix, [Some(500.0), Some(20.0), None]);
        mix
    }

    #[test]
    fn a_curve_that_still_rises_at_its_end_does_not_bend() {
        let rising = mix(&[(1, 100.0), (4, 400.0)]);
        assert_eq!((rising.peak_sessions, rising.bend_sessions, rising.tps_per_price), (Some(4), None, Some(0.8)));
        assert_eq!((rising.tps_per_watt, rising.tps_per_rack_unit), (Some(20.0), None));
        let bent = mix(&[(1, 100.0), (4, 400.0), (8, 390.0)]);
        let bend = bent.bend_sessions.unwrap();
        assert!((3.5..4.0).contains(&bend), "{bend}");
    }
}
