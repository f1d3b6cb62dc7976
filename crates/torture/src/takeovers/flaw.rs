//! Bugs of what stands around the ownership: of modules, and of the controller that drives it.

/// A bug that a life can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A preempt is answered though commands of others are in flight.
    AbortDoesNotWait,
    /// A preempt waits for commands of the host that it preempts, and not for those of one that was preempted just before.
    AbortWaitsForItsOwn,
    /// A preempt does not wait for commands whose connection has ended.
    CutConnectionsForgotten,
    /// Reservations do not survive a loss of power of the module.
    ReservationsLost,
    /// Reads are answered without a question about the lease.
    ReadAfterLease,
    /// A read sees writes that are not durable.
    UndurableRead,
    /// A write is answered when all but two modules took it.
    AcknowledgedEarly,
    /// A controller that starts again has the host identifier that it had.
    SameHost,
    /// A controller that has lost its connection to a module is the same host there when it comes back.
    SameHostAgain,
    /// A module is gone round before the others know that it lacks something.
    GoneUnmarked,
    /// The clock of an owner may stand still for as long as it likes.
    ClockStops,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Flaw; 11] = [
        Flaw::AbortDoesNotWait,
        Flaw::AbortWaitsForItsOwn,
        Flaw::CutConnectionsForgotten,
        Flaw::ReservationsLost,
        Flaw::ReadAfterLease,
        Flaw::UndurableRead,
        Flaw::AcknowledgedEarly,
        Flaw::SameHost,
        Flaw::SameHostAgain,
        Flaw::GoneUnmarked,
        Flaw::ClockStops,
    ];
}
