//! The controller that owns an array whose modules several controllers reach.
//!
//! Reservations of NVMe on the modules are all that controllers share. A controller *claims* the array: it takes the
//! reservation of the modules, with a key that carries a generation above all that it has seen. It owns while it holds a
//! majority of them, because two majorities have a module in common. An [`Ownership`] is the part of one controller in
//! this, without clock, thread or socket: it is told the time and the answers of modules, and says the next commands.
//!
//! # The rules
//!
//! - **A claim** registers a new key on each module, and preempts and aborts the holder's. A module counts as held when
//!   its target has answered that the aborted host has nothing in flight any more, and a report says the same. An answer
//!   that was lost is not made up for by a report: it may have been waiting.
//! - Only a holder with a lower claim is preempted, so the claims of owners only rise. Among claims of one generation the
//!   higher number of a controller goes on, once it holds so many modules that the other can't have opened the array.
//! - **A lease** ends the answers of an owner that has lost touch: it runs from the sending of the last renewal of its key
//!   that a majority answered. A renewal succeeds only where the owner still holds, so it was sent before anybody had
//!   preempted a majority.
//! - **A new owner** waits, from when a majority was taken, for longer than a lease. The waiting is left out only when a
//!   majority was taken from keys that are marked as released, or from modules that nobody ever held.
//! - **A release** marks the key and keeps the reservation. A module without a holder would take writes from everybody, as
//!   from a controller that had stood still since an earlier generation.
//! - Only an owner that was allowed to answer marks its key as released: one that still waits may have taken the modules
//!   from an owner whose lease runs.
//! - An owner that finds one of its modules with another holder ends, for good.
//! - Commands of a connection that was lost may still be on their way, or be carried out. So the successor of an owner in
//!   the same process is another host, and so is an owner itself at a module after it has lost its connection there: it
//!   takes the module from the host that it was.

mod command;
mod controller;
mod key;
mod module;
mod terms;

pub use command::{Answer, Command, HostId, Report};
pub use controller::{Action, End, Ownership, Standing};
pub use key::{Claim, Key};
pub use terms::Terms;
