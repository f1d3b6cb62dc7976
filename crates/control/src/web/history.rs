//! The last fifteen minutes of cards, as the JSON that pages get.

use super::happenings::Happening;
use super::row::Row;
use super::standing::Standing;
use crate::served::Served;
use axum::body::Bytes;
use device::Cause;
use live::Kind;
use serde::Serialize;
use serde_json::json;
use std::collections::VecDeque;

/// Seconds that are kept.
pub(crate) const SECONDS: usize = 15 * 60;
/// Happenings that are kept.
const MOST_HAPPENINGS: usize = 200;

/// See the module.
pub(crate) struct History {
    cards: Vec<Card>,
    happenings: VecDeque<Happening>,
    /// All that is kept, as it was last asked for.
    whole: Option<Bytes>,
}

/// A card: what of it is written anew each second is kept as JSON.
struct Card {
    /// The part that does not change, as an object that is not closed.
    about: String,
    /// Seconds, oldest first.
    rows: VecDeque<String>,
    now: String,
}

/// A card that was looked at: its second, and how it stands.
pub(crate) struct Seen {
    pub row: Row,
    pub standing: Standing,
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("keys are text")
}

/// An object that more keys are added to.
fn unclosed(value: &impl Serialize) -> String {
    let mut text = text(value);
    text.pop();
    text
}

/// A message of server-sent events, of a line of JSON.
fn message(event: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {event}\ndata: {data}\n\n"))
}

impl History {
    pub fn new(served: &[Served]) -> History {
        let card = |served: &Served| {
            let about = json!({
                "name": served.name,
                "profile": served.card,
                "size_bytes": served.live.size_bytes(),
                "shards": served.live.shards(),
            });
            Card { about: unclosed(&about), rows: VecDeque::new(), now: "null".into() }
        };
        History { cards: served.iter().map(card).collect(), happenings: VecDeque::new(), whole: None }
    }

    /// Keeps a second of all cards and forgets the oldest; returns the message about it.
    pub fn add(&mut self, seen: &[Seen], happenings: Vec<Happening>) -> Bytes {
        self.whole = None;
        let mut cards = Vec::new();
        for (card, Seen { row, standing }) in self.cards.iter_mut().zip(seen) {
            if card.rows.len() == SECONDS {
                card.rows.pop_front();
            }
            let row = text(row);
            card.now = text(standing);
            cards.push(format!("{{\"row\":{row},\"now\":{}}}", card.now));
            card.rows.push_back(row);
        }
        let second = unclosed(&json!({ "happenings": happenings }));
        self.happenings.extend(happenings);
        while self.happenings.len() > MOST_HAPPENINGS {
            self.happenings.pop_front();
        }
        message("second", &format!("{second},\"cards\":[{}]}}", cards.join(",")))
    }

    /// The message about all that is kept: written once for all who come within a second.
    pub fn whole(&mut self) -> Bytes {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let about = unclosed(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "seconds": SECONDS,
            "kinds": Kind::ALL.map(Kind::name),
            "causes": Cause::ALL.map(Cause::label),
            "happenings": self.happenings,
        }));
        let cards = self.cards.iter().map(|card| {
            let rows = card.rows.iter().map(String::as_str).collect::<Vec<_>>().join(",");
            format!("{},\"rows\":[{rows}],\"now\":{}}}", card.about, card.now)
        });
        let cards = cards.collect::<Vec<_>>().join(",");
        let whole = message("whole", &format!("{about},\"cards\":[{cards}]}}"));
        self.whole = Some(whole.clone());
        whole
    }
}
