//! A client's connection, whatever it speaks, and the thread that one has for itself.

use crate::line::{Ended, Line, Look, Wait, Woken};

/// A connection between two waits of its thread.
pub(crate) trait Conversation: Send {
    fn line(&mut self) -> &mut Line;

    /// Sends what there is, and says what is waited for.
    fn look(&mut self) -> Result<Look, Ended>;

    /// Takes what has come.
    fn take(&mut self, on: &Wait, woken: Woken) -> Result<(), Ended>;

    /// Submits what the client has asked for, and answers what is done.
    fn go_on(&mut self) -> Result<(), Ended>;

    /// Ends the connection; the reason as the client sees it.
    fn end(&mut self, ended: Ended) -> Ended;
}

/// Serves a client in its own thread until the connection ends, or until it may join a crew.
pub(crate) fn serve_alone(conversation: &mut dyn Conversation, joins: impl Fn() -> bool) -> Result<(), Ended> {
    loop {
        if let Look::Wait(on) = conversation.look()? {
            let woken = conversation.line().sleep(&on)?;
            conversation.take(&on, woken)?;
        }
        conversation.go_on()?;
        if joins() && conversation.line().may_join() {
            return Ok(());
        }
    }
}
