//! Starting again after a cut.

use super::record::Fired;
use super::runner::{End, Runner};
use crate::sim::bench::Recovered;
use crate::sim::{Activity, CutOutcome, FaultKind, Subject, What, When};
use device::Rng;

/// Recoveries that may be asked for one cut within another before the cut is given up.
const CUT_ATTEMPTS: u32 = 4;

impl<S: Subject> Runner<'_, S> {
    /// Starts the card, with so many cuts on the way, and reads every sector. Whether all cuts came about.
    pub(super) fn restart(&mut self, depth: u32, chooser: &mut Rng) -> Result<bool, End> {
        let mut cuts = 0;
        let events = self.happen_without_power();
        let deepest = depth.max(events.iter().map(|e| e.1).max().unwrap_or(0));
        let mut attempts = 0;
        while cuts < deepest && attempts < deepest * CUT_ATTEMPTS {
            attempts += 1;
            let cut_after = chooser.below(self.recovery_ops);
            match self.bench.recover(Some(cut_after), chooser)? {
                Recovered::CutAgain => {
                    cuts += 1;
                    self.nested_cuts += 1;
                }
                Recovered::Serves(report) => {
                    self.recovery_ops = report.media_ops.max(1);
                    self.bench.cut(CutOutcome::Any, chooser);
                }
                Recovered::Refuses(_) => break,
            }
        }
        for (fired, wanted) in events {
            if cuts >= wanted {
                self.note(fired);
            }
        }
        let mut recovered = self.bench.recover(None, chooser)?;
        // Damage beyond the redundancy may be undone: the data must then be there. A slot that had nothing good in it
        // gets a new module.
        let mut swapped = self.swapped.clone();
        swapped.dedup();
        for what in [What::Same, What::Blank] {
            if !matches!(recovered, Recovered::Refuses(_)) || (what == What::Blank && swapped.len() != 1) {
                break;
            }
            for &slot in &swapped {
                self.bench.subject.insert(slot, what);
            }
            self.swapped.clear();
            recovered = self.bench.recover(None, chooser)?;
            if let Recovered::Serves(_) = recovered {
                self.bench.oracle.must_start();
            }
        }
        match recovered {
            Recovered::Serves(report) => self.recovery_ops = report.media_ops.max(1),
            Recovered::Refuses(refusal) => return Err(End::Halted(refusal)),
            Recovered::CutAgain => unreachable!("the recovery was not to be cut"),
        }
        self.read_back()?;
        Ok(cuts >= depth)
    }

    /// Events that are to happen in recovery: damage is done now; of cuts, how many the recovery must meet.
    fn happen_without_power(&mut self) -> Vec<(Fired, u32)> {
        let mut cuts = Vec::new();
        if self.faults_over {
            return cuts;
        }
        for i in 0..self.case.plan.events.len() {
            let event = &self.case.plan.events[i];
            let (Some(left), When::During { activity: Activity::Recovery, .. }) = (self.waiting[i], event.when) else {
                continue;
            };
            if left > 0 {
                self.waiting[i] = Some(left - 1);
                continue;
            }
            if !self.may_strike(i) {
                continue;
            }
            let fired = Fired { activity: Activity::Recovery, ..self.fired(i) };
            let happened = match event.fault.kind {
                FaultKind::Cut(_) => {
                    cuts.push((fired, 1));
                    true
                }
                FaultKind::NestedCut { depth } => {
                    cuts.push((fired, u32::from(depth)));
                    true
                }
                _ => self.damage(i, fired),
            };
            if happened {
                self.waiting[i] = None;
            }
        }
        cuts
    }
}
