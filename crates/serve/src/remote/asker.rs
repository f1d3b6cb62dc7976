//! The thread that asks one module for its reservations, for a controller that contends for an array.

use crate::nvme::ReservationKind;
use crate::remote::address::ModuleAddress;
use crate::remote::client::ModuleClient;
use crate::remote::error::RemoteError;
use crate::remote::host_name::HostName;
use crate::remote::session::RemoteOptions;
use session::ownership::{Answer, Command, HostId, Key, Report};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Others neither write nor read.
const KIND: ReservationKind = ReservationKind::ExclusiveAccess;
/// The time after which a module that can't be reached is tried again.
const AGAIN: Duration = Duration::from_millis(250);

/// News of the connection to a module.
pub(crate) enum News {
    /// There is a new one, for this host. Commands go into the channel; when it is dropped, this host is another one there
    /// from then on.
    Connected(HostId, Sender<Command>),
    /// The command was answered.
    Answered(Answer),
    /// The connection is of no use any more.
    Lost,
}

/// Asks a module until `stops` is dropped.
pub(crate) struct Asker {
    pub address: ModuleAddress,
    pub options: RemoteOptions,
    pub stops: Receiver<()>,
}

impl Asker {
    /// Connects, and connects again, and hands each piece of news to `tell`; it ends when that is refused.
    pub fn run(self, host: HostName, tell: impl Fn(News) -> bool) {
        let (mut host, mut said) = (host, None);
        loop {
            self.options.hosts.set(&self.address, host.clone());
            match ModuleClient::connect(&self.address, &self.options) {
                Ok(client) => {
                    said = None;
                    let (ask, asked) = channel();
                    if !tell(News::Connected(host.id, ask)) {
                        return;
                    }
                    match serve(client, &asked, &tell) {
                        Ended::AnotherHost => match HostName::new() {
                            Ok(another) => host = another,
                            Err(error) => tracing::error!(%error, "no name for this host: the module is left out"),
                        },
                        Ended::Lost(error) => {
                            tracing::warn!(module = %self.address, %error, "a module can't be asked for its reservation");
                        }
                        Ended::Stopped => return,
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    if said.as_ref() != Some(&text) {
                        tracing::warn!(module = %self.address, %error, "a module can't be reached");
                        said = Some(text);
                    }
                }
            }
            if self.stops.recv_timeout(AGAIN) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }
}

enum Ended {
    /// The one who asks has dropped its end.
    AnotherHost,
    Lost(RemoteError),
    Stopped,
}

fn serve(mut client: ModuleClient, asked: &Receiver<Command>, tell: &impl Fn(News) -> bool) -> Ended {
    loop {
        let Ok(command) = asked.recv() else { return Ended::AnotherHost };
        let answer = match carry_out(&mut client, command) {
            Ok(answer) => answer,
            Err(RemoteError::Conflict) => Answer::Conflict,
            Err(RemoteError::Refused { .. }) => Answer::Failed,
            Err(error) => return if tell(News::Lost) { Ended::Lost(error) } else { Ended::Stopped },
        };
        if !tell(News::Answered(answer)) {
            return Ended::Stopped;
        }
    }
}

fn carry_out(client: &mut ModuleClient, command: Command) -> Result<Answer, RemoteError> {
    match command {
        Command::Report => return client.report().map(|report| Answer::Report(as_seen(&report))),
        Command::Register { key } => client.register(key.0)?,
        Command::Replace { old, new } => client.replace(old.0, new.0)?,
        Command::Acquire { key } => client.acquire(key.0, KIND)?,
        Command::Preempt { key, of } => client.preempt_and_abort(key.0, of.0, KIND)?,
    }
    Ok(Answer::Done)
}

fn as_seen(report: &crate::nvme::initiator::Report) -> Report {
    let named = |of: &crate::nvme::initiator::Registered| (of.host, Key(of.key));
    let mut registrants: Vec<(HostId, Key)> = report.registered.iter().map(named).collect();
    // A host stands there once for each of its controllers.
    registrants.sort_unstable();
    registrants.dedup();
    Report { generation: report.generation, persists: report.persists, registrants, holder: report.holder().map(named) }
}
