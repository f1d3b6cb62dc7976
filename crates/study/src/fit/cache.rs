//! The cache of faster cells: how much it holds, how fast its cells are, how fast it is folded.
//!
//! Bursts tell it, and nothing else does: in steady state no space is free enough for a cache. So it is found after all
//! else, by writing the same bursts into the model: size and rates are all but proportional to what shows, and a few
//! corrections are enough.

use crate::fit::burst::{Bursts, Fast, Refilled};
use crate::fit::cache_choice::{Cache, CacheChoice, CacheTimes};
use crate::fit::card_file::{Filed, number};
use crate::fit::error::FitError;
use crate::fit::outcome::{FittedFigure, FittedPoint, Parameter, Status};
use crate::fit::space::Space;
use target::{BurstDevice, Progress};

/// Share of the device that is modelled, where its cache needs no more.
const SCALE: f64 = 1.0 / 256.0;
/// Corrections, and how near is near enough.
const ROUNDS: usize = 5;
const NEAR: f64 = 0.01;
/// Bursts of the model go so far beyond the cache.
const BEYOND: f64 = 1.6;
/// One standard deviation of a burst's throughput and of what went fast, in logarithms: as of other throughputs, and what
/// a model of few bands rounds off.
const RATE_NOISE: f64 = 0.02;
const BYTES_NOISE: f64 = 0.015;
/// And of what went fast again: whole bands come free.
const REFILL_NOISE: f64 = 0.03;
/// Parameters are moved so far to see whether it shows.
const MOVED: f64 = 1.5;
/// Parts of the cache that are all of it, and none.
const ALL: f64 = 0.95;
const NONE: f64 = 0.02;

/// A cache, how well it is known, and measured against fitted.
pub(crate) struct FittedCache {
    pub space: Space,
    pub parameters: Vec<Filed>,
    pub points: Vec<FittedPoint>,
    pub note: Option<String>,
}

/// A cache of which only its size and its rate have been read off: enough for all loads but bursts.
pub(crate) fn first_guess(bursts: &Bursts) -> CacheChoice {
    match bursts.cache {
        None => CacheChoice::Without,
        Some(fast) => CacheChoice::With(Cache {
            bytes: fast.bytes,
            bytes_per_s: fast.before_bw_bytes,
            program_ns: None,
            fold_bytes_per_s: None,
        }),
    }
}

/// Finds the cache that shows the same bursts.
pub(crate) fn fit_cache(
    space: &Space,
    values: &[f64],
    bursts: &Bursts,
    seed: u64,
    progress: &dyn Progress,
) -> Result<FittedCache, FitError> {
    let Some(fast) = bursts.cache else { return Ok(without(space, bursts)) };
    let fitter = Fitter { space, values, bursts, fast, seed, progress };
    fitter.fit()
}

fn without(space: &Space, bursts: &Bursts) -> FittedCache {
    let note = format!(
        "{}: no cache of faster cells shows in a burst of {} GB",
        bursts.file,
        number(bursts.first_bytes / 1e9)
    );
    let space = space.with_cache(CacheChoice::Without);
    FittedCache { space, parameters: Vec::new(), points: Vec::new(), note: Some(note) }
}

struct Fitter<'a> {
    space: &'a Space,
    values: &'a [f64],
    bursts: &'a Bursts,
    fast: Fast,
    seed: u64,
    progress: &'a dyn Progress,
}

impl Fitter<'_> {
    fn fit(&self) -> Result<FittedCache, FitError> {
        let mut cache = self.first();
        let mut seen = self.see(&cache)?;
        let partial = self.partial();
        // A card that folds as fast as it can may be slower than what was measured: then there is no limit to find.
        let limited =
            partial.is_some_and(|(i, refilled)| seen.refilled(i) > refilled.bytes * (1.0 + 2.0 * REFILL_NOISE));
        if limited && let Some((_, refilled)) = partial {
            cache.fold_bytes_per_s = Some(refilled.bytes / refilled.idle_s);
            seen = self.see(&cache)?;
        }
        for _ in 0..ROUNDS {
            let next = self.corrected(&cache, &seen, partial.filter(|_| limited));
            if next == cache {
                break;
            }
            let then = self.see(&next)?;
            if self.distance(&then) > self.distance(&seen) {
                break;
            }
            (cache, seen) = (next, then);
        }
        let space = self.with(&cache);
        let parameters = self.parameters(&space, &cache, &seen, partial)?;
        Ok(FittedCache { space, parameters, points: self.points(&seen), note: None })
    }

    fn with(&self, cache: &Cache) -> Space {
        self.space.with_cache(CacheChoice::With(*cache))
    }

    /// As the rates say it must be.
    fn first(&self) -> Cache {
        let CacheChoice::With(mut cache) = first_guess(self.bursts) else { unreachable!("a cache shows") };
        cache.program_ns = Some(self.space.slc_program_ns(self.values, &cache));
        cache
    }

    /// The same bursts on a model, no longer than they have to be.
    fn see(&self, cache: &Cache) -> Result<Shown, FitError> {
        let profile = self.with(cache).profile(self.values)?;
        let device = BurstDevice::new(&profile, SCALE)?;
        let mut series = self.bursts.series.clone();
        let most = BEYOND * cache.bytes.max(self.fast.bytes) / self.space.user_bytes();
        series.bursts.iter_mut().for_each(|burst| burst.share = burst.share.min(most));
        let curves = device.bursts(&series, self.space.host_at(self.values), self.seed, self.progress)?;
        let report = review::burst_report(&series, &curves);
        Ok(Shown(Bursts::read("", &report, &series)))
    }

    /// The last pause after which a part went fast again, and not all.
    fn partial(&self) -> Option<(usize, Refilled)> {
        let is_part = |r: &Refilled| r.bytes > NONE * self.fast.bytes && r.bytes < ALL * self.fast.bytes;
        self.bursts.refilled.iter().copied().enumerate().rfind(|(_, refilled)| is_part(refilled))
    }

    fn corrected(&self, cache: &Cache, seen: &Shown, partial: Option<(usize, Refilled)>) -> Cache {
        let mut next = *cache;
        let Some(shown) = seen.fast() else { return next };
        let off = |shown: f64, measured: f64| (measured / shown).clamp(0.5, 2.0);
        let bytes = off(shown.bytes, self.fast.bytes);
        if (bytes - 1.0).abs() > NEAR {
            next.bytes *= bytes;
        }
        let rate = off(shown.before_bw_bytes, self.fast.before_bw_bytes);
        if (rate - 1.0).abs() > NEAR {
            next.program_ns = cache.program_ns.map(|ns| ns / rate);
        }
        if let (Some((i, refilled)), Some(fold)) = (partial, cache.fold_bytes_per_s) {
            let fold_off = off(seen.refilled(i).max(0.1 * refilled.bytes), refilled.bytes);
            if (fold_off - 1.0).abs() > NEAR {
                next.fold_bytes_per_s = Some(fold * fold_off);
            }
        }
        next
    }

    /// Returns the distance of the bursts from those that were measured: the sum of the logarithms' squares.
    fn distance(&self, seen: &Shown) -> f64 {
        let Some(shown) = seen.fast() else { return f64::INFINITY };
        let off = |a: f64, b: f64| (a / b).ln().powi(2);
        let fold = self.partial().map_or(0.0, |(i, r)| off(seen.refilled(i).max(0.1 * r.bytes), r.bytes));
        off(shown.bytes, self.fast.bytes) + off(shown.before_bw_bytes, self.fast.before_bw_bytes) + fold
    }

    fn parameters(
        &self,
        space: &Space,
        cache: &Cache,
        seen: &Shown,
        partial: Option<(usize, Refilled)>,
    ) -> Result<Vec<Filed>, FitError> {
        let parameter = |name: &str, value: f64, noise: Option<f64>, status: Status| Parameter {
            name: name.into(),
            value: number(value),
            number: Some(value),
            low: noise.map(|noise| value * (-2.0 * noise).exp()),
            high: noise.map(|noise| value * (2.0 * noise).exp()),
            status,
        };
        let bytes_noise = BYTES_NOISE.hypot(self.fast.row_bytes / self.fast.bytes / 2.0);
        let mut out = vec![(
            Some(("slc_cache", "bands")),
            parameter("SLC cache, bytes", cache.bytes, Some(bytes_noise), Status::Determined),
        )];
        let program_ns = cache.program_ns.unwrap_or(0.0);
        let (status, noise) = self.program_status(cache, seen)?;
        out.push((Some(("timing", "slc_program_ns")), parameter("timing.slc_program_ns", program_ns, noise, status)));
        let fold = "slc_cache.fold_bytes_per_s";
        let longest = self.bursts.refilled.iter().copied().max_by(|a, b| a.idle_s.total_cmp(&b.idle_s));
        out.extend(match (cache.fold_bytes_per_s, partial, longest) {
            (Some(rate), Some((_, r)), _) => {
                let noise = REFILL_NOISE.hypot(r.row_bytes / r.bytes / 2.0);
                Some((Some(("slc_cache", "fold_bytes_per_s")), parameter(fold, rate, Some(noise), Status::Determined)))
            }
            // As fast as the card's own relocation, or faster.
            (None, Some((_, r)), _) => Some((None, parameter(fold, r.bytes / r.idle_s, None, Status::AtLeast))),
            (None, None, Some(r)) if r.bytes >= ALL * self.fast.bytes => {
                let full = self.bursts.refilled.iter().filter(|r| r.bytes >= ALL * self.fast.bytes);
                let shortest = full.map(|r| r.idle_s).fold(f64::INFINITY, f64::min);
                Some((None, parameter(fold, self.fast.bytes / shortest, None, Status::AtLeast)))
            }
            (_, _, Some(r)) => {
                let most = r.bytes.max(r.row_bytes) / r.idle_s;
                Some((None, parameter(fold, most, None, Status::AtMost)))
            }
            (_, _, None) => None,
        });
        // The times in which its cells are read and erased show as little as how many bits the others hold.
        let CacheTimes { read_ns, erase_ns } = space.slc_times(self.values);
        for (table, key, value) in [
            ("timing", "slc_read_ns", read_ns),
            ("timing", "slc_erase_ns", erase_ns),
            ("slc_cache", "bits_per_cell", f64::from(space.bits_per_cell())),
        ] {
            out.push((Some((table, key)), parameter(&format!("{table}.{key}"), value, None, Status::Undetermined)));
        }
        Ok(out)
    }

    /// Returns whether slower and faster cells would show: where the link limits a burst, faster ones do not.
    fn program_status(&self, cache: &Cache, seen: &Shown) -> Result<(Status, Option<f64>), FitError> {
        let Some(now) = seen.fast() else { return Ok((Status::Undetermined, None)) };
        let change = |factor: f64| -> Result<f64, FitError> {
            let other = Cache { program_ns: cache.program_ns.map(|ns| ns * factor), ..*cache };
            Ok(self.see(&other)?.fast().map_or(0.0, |fast| (fast.before_bw_bytes / now.before_bw_bytes).ln().abs()))
        };
        let (slower, faster) = (change(MOVED)?, change(1.0 / MOVED)?);
        let slope = slower.max(faster) / MOVED.ln();
        Ok(match (slower > 2.0 * RATE_NOISE, faster > 2.0 * RATE_NOISE) {
            (true, true) => (Status::Determined, Some(RATE_NOISE / slope)),
            (true, false) => (Status::AtMost, Some(RATE_NOISE / slope)),
            (false, true) => (Status::AtLeast, Some(RATE_NOISE / slope)),
            (false, false) => (Status::Undetermined, None),
        })
    }

    fn points(&self, seen: &Shown) -> Vec<FittedPoint> {
        let figure = |figure: &'static str, measured: f64, fitted: f64| FittedFigure {
            figure,
            measured,
            fitted,
            error: if measured > 0.0 { fitted / measured - 1.0 } else { 0.0 },
            predicted: None,
            of: None,
        };
        let point = |condition: String, figures: Vec<FittedFigure>| FittedPoint {
            file: self.bursts.file.clone(),
            sweep: "burst".into(),
            condition,
            held_out: false,
            figures,
        };
        let shown = seen.fast();
        let of = |value: &dyn Fn(&Fast) -> f64| shown.as_ref().map_or(0.0, value);
        let mut points = vec![point(
            "burst, emptied".into(),
            vec![
                figure("fast_bytes", self.fast.bytes, of(&|fast| fast.bytes)),
                figure("fast_bytes_per_s", self.fast.before_bw_bytes, of(&|fast| fast.before_bw_bytes)),
                figure("slow_bytes_per_s", self.fast.after_bw_bytes, of(&|fast| fast.after_bw_bytes)),
            ],
        )];
        points.extend(self.bursts.refilled.iter().enumerate().map(|(i, refilled)| {
            let condition = format!("burst after {:.0} s", refilled.idle_s);
            point(condition, vec![figure("fast_bytes", refilled.bytes, seen.refilled(i))])
        }));
        points
    }
}

/// Bursts that a model showed; `None`: nothing.
struct Shown(Option<Bursts>);

impl Shown {
    fn fast(&self) -> Option<Fast> {
        self.0.as_ref()?.cache
    }

    fn refilled(&self, i: usize) -> f64 {
        self.0.as_ref().and_then(|bursts| bursts.refilled.get(i)).map_or(0.0, |refilled| refilled.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::base::Base;
    use profile::Host;
    use review::burst_series;
    use target::Clock;

    #[test]
    fn a_burst_of_one_level_takes_the_cache_away() {
        let text = include_str!("../../../../cards/consumer-qlc-2tb.toml");
        let host = Host::builtin("default").unwrap();
        let space = Space::new(&Base::card("consumer-qlc-2tb", text), &host, false, &[]).unwrap();
        let series = burst_series(Clock::Virtual, 1.0, 0.0);
        let bursts = Bursts { file: "r.json".into(), series, cache: None, refilled: Vec::new(), first_bytes: 1e12 };
        let values = space.base_values();
        let found = fit_cache(&space, &values, &bursts, 1, &target::Silent).unwrap();
        assert!(found.parameters.is_empty());
        assert_eq!(found.note.unwrap(), "r.json: no cache of faster cells shows in a burst of 1000 GB");
        let card = found.space.profile(&values).unwrap().lower(1e-9).unwrap().cards()[0];
        assert_eq!(card.ftl.slc_cache, None);
    }
}
