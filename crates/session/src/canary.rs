//! Bugs to be planted, one at a time, to see that the lives find them.
//!
//! Without the feature `canaries` none can be, and the compiler removes every question.

/// A bug that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canary {
    /// A flush of a client that has nothing to make durable is acknowledged at once, whatever others have written.
    FlushOfOneClient,
    /// Writes to parts of one sector are in flight together.
    OrderIgnored,
    /// A request with FUA is acknowledged as any other.
    FuaLost,
    /// A reply has the tag of another request that is outstanding.
    WrongTag,
    /// A trim ends with its first piece.
    TrimCutShort,
    /// Zeroes are not written to the part of the last sector.
    EdgeLost,
    /// A trim that covers parts of sectors takes all of them.
    TrimTooWide,
    /// A client that was admitted stays at the head of the line.
    WaiterLost,
    /// A request leaves the queue with pieces that were not submitted.
    RequestDropped,
    /// A request is acknowledged with its first piece.
    FirstPieceBelieved,
    /// A client that goes takes what waits with it, whoever submitted it.
    DisconnectTakesAll,
    /// A flush does not go to the last shard of a card.
    ShardLeftOut,
    /// The parts of a read lie in the order in which shards answered.
    PartsOutOfOrder,
    /// The owner of an extent is written some time after the first write to it.
    OwnerLate,
    /// An extent is handed out with what its last owner has left in it.
    FreedNotCleared,
    /// An extent that was freed is free on the card some time after the same part of its volume has another place.
    FreedLate,
    /// A page of the volume table that could not be written is written over its other copy next.
    LastCopyLost,
    /// An owner answers whether its lease has ended or not.
    NoLease,
    /// A lease is counted from the answers to a renewal.
    LeaseFromAnswer,
    /// A lease goes on while any module answers renewals.
    KeptWithoutMajority,
    /// A claimant does not preempt the holder of one module.
    Unfenced,
    /// A claim has the generation of the last one, and preempts its like.
    EqualGeneration,
    /// An owner renews its key with the same one.
    KeyNotRenewed,
    /// A new owner does not wait for the lease of the last one.
    NoWait,
    /// A report is believed where the answer to a preempt was lost.
    LostAnswerBelieved,
    /// A new owner that still waits says of its keys that no lease runs.
    ReleasedWhileWaiting,
    /// An owner answers while it comes to its orderly end.
    AnswersAfterRelease,
}

impl Canary {
    /// Those of the volume table.
    pub const OF_VOLUMES: [Canary; 4] =
        [Canary::OwnerLate, Canary::FreedNotCleared, Canary::FreedLate, Canary::LastCopyLost];

    /// Those of the ownership of an array.
    pub const OF_OWNERSHIP: [Canary; 10] = [
        Canary::NoLease,
        Canary::LeaseFromAnswer,
        Canary::KeptWithoutMajority,
        Canary::Unfenced,
        Canary::EqualGeneration,
        Canary::KeyNotRenewed,
        Canary::NoWait,
        Canary::LostAnswerBelieved,
        Canary::ReleasedWhileWaiting,
        Canary::AnswersAfterRelease,
    ];

    /// Those of sessions and routers.
    pub const ALL: [Canary; 13] = [
        Canary::FlushOfOneClient,
        Canary::OrderIgnored,
        Canary::FuaLost,
        Canary::WrongTag,
        Canary::TrimCutShort,
        Canary::EdgeLost,
        Canary::TrimTooWide,
        Canary::WaiterLost,
        Canary::RequestDropped,
        Canary::FirstPieceBelieved,
        Canary::DisconnectTakesAll,
        Canary::ShardLeftOut,
        Canary::PartsOutOfOrder,
    ];

    /// The bug's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Canary::FlushOfOneClient => "flush of one client",
            Canary::OrderIgnored => "order of parts ignored",
            Canary::FuaLost => "FUA lost",
            Canary::WrongTag => "wrong tag",
            Canary::TrimCutShort => "trim cut short",
            Canary::EdgeLost => "edge lost",
            Canary::TrimTooWide => "trim too wide",
            Canary::WaiterLost => "waiter lost",
            Canary::RequestDropped => "request dropped",
            Canary::FirstPieceBelieved => "first piece believed",
            Canary::DisconnectTakesAll => "disconnect takes all",
            Canary::ShardLeftOut => "shard left out",
            Canary::PartsOutOfOrder => "parts out of order",
            Canary::OwnerLate => "owner late",
            Canary::FreedNotCleared => "freed extent not cleared",
            Canary::FreedLate => "freed extent late",
            Canary::LastCopyLost => "last copy lost",
            Canary::NoLease => "no lease",
            Canary::LeaseFromAnswer => "lease from the answer",
            Canary::KeptWithoutMajority => "kept without a majority",
            Canary::Unfenced => "one module left unfenced",
            Canary::EqualGeneration => "equal generation accepted",
            Canary::KeyNotRenewed => "key not renewed",
            Canary::NoWait => "no wait",
            Canary::LostAnswerBelieved => "lost answer believed",
            Canary::ReleasedWhileWaiting => "released while waiting",
            Canary::AnswersAfterRelease => "answers after the release",
        }
    }
}

#[cfg(feature = "canaries")]
thread_local! {
    /// Lives run on threads of their own: what one has does not concern the others.
    static PLANTED: std::cell::Cell<Option<Canary>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug in all sessions that this thread drives, or none.
#[cfg(feature = "canaries")]
pub fn plant(canary: Option<Canary>) {
    PLANTED.set(canary);
}

/// Whether a bug is planted.
#[cfg(feature = "canaries")]
pub(crate) fn planted(canary: Canary) -> bool {
    PLANTED.get() == Some(canary)
}

/// Whether a bug is planted: none is.
#[cfg(not(feature = "canaries"))]
#[inline(always)]
pub(crate) const fn planted(_: Canary) -> bool {
    false
}
