//! Counts of what happened in lives.

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Requests that hosts were answered.
    pub answered: u64,
    /// Requests of which hosts were never told.
    pub unanswered: u64,
    /// Requests that a standby refused.
    pub turned_away: u64,
    /// Owners that began to answer.
    pub owners: u64,
    /// Those that followed an orderly release without waiting.
    pub at_once: u64,
    /// Those that an operator wanted.
    pub forced: u64,
    /// Orderly ends that were marked on a majority.
    pub released: u64,
    /// Owners that ended because they found another one on a module.
    pub superseded: u64,
    /// Owners whose lease ended and began again.
    pub lapsed: u64,
    /// Answers that were held back because no lease ran.
    pub held_back: u64,
    /// Claims that were given up for another.
    pub abandoned: u64,
    /// Preempts that waited for commands in flight.
    pub waited: u64,
    /// Commands that met the reservation of another.
    pub kept_out: u64,
    /// Writes that were carried out after their connection had ended.
    pub carried_out_late: u64,
    /// Modules that an owner went round.
    pub gone: u64,
    /// Modules that were filled again.
    pub rebuilt: u64,
    /// Times that the array was opened without a module.
    pub opened_without_one: u64,
    /// Times that it was refused to be opened.
    pub refused: u64,
    /// Writes cut short that recovery completed.
    pub completed: u64,
    /// Writes cut short that recovery discarded.
    pub discarded: u64,
}

impl Met {
    /// Each count, with its name in reports.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 20] {
        [
            ("requests answered", self.answered),
            ("requests without an answer", self.unanswered),
            ("requests that a standby refused", self.turned_away),
            ("owners", self.owners),
            ("owners at once, after a release", self.at_once),
            ("owners that an operator wanted", self.forced),
            ("orderly ends", self.released),
            ("owners superseded", self.superseded),
            ("leases that ended and began again", self.lapsed),
            ("answers held back without a lease", self.held_back),
            ("claims abandoned", self.abandoned),
            ("preempts that waited", self.waited),
            ("commands kept out", self.kept_out),
            ("writes of cut connections", self.carried_out_late),
            ("modules gone", self.gone),
            ("modules rebuilt", self.rebuilt),
            ("opened without a module", self.opened_without_one),
            ("refused to open", self.refused),
            ("writes completed by recovery", self.completed),
            ("writes discarded by recovery", self.discarded),
        ]
    }

    /// Adds the counts of another life.
    pub fn add(&mut self, other: &Met) {
        let Met {
            answered,
            unanswered,
            turned_away,
            owners,
            at_once,
            forced,
            released,
            superseded,
            lapsed,
            held_back,
            abandoned,
            waited,
            kept_out,
            carried_out_late,
            gone,
            rebuilt,
            opened_without_one,
            refused,
            completed,
            discarded,
        } = self;
        *answered += other.answered;
        *unanswered += other.unanswered;
        *turned_away += other.turned_away;
        *owners += other.owners;
        *at_once += other.at_once;
        *forced += other.forced;
        *released += other.released;
        *superseded += other.superseded;
        *lapsed += other.lapsed;
        *held_back += other.held_back;
        *abandoned += other.abandoned;
        *waited += other.waited;
        *kept_out += other.kept_out;
        *carried_out_late += other.carried_out_late;
        *gone += other.gone;
        *rebuilt += other.rebuilt;
        *opened_without_one += other.opened_without_one;
        *refused += other.refused;
        *completed += other.completed;
        *discarded += other.discarded;
    }
}
