//! Cards mirrored by the host (RAID 1 over cards).

use card::ModelCard;
use device::{Completion, Device, Operation, Request, RequestId, Time};

/// Cards that all take each write, under the same id. A read goes to the card with the fewest requests in flight, as
/// Linux's RAID 1 has it of devices that do not turn, and in turn where several have as few.
#[derive(Clone, Debug)]
pub struct Mirrored {
    cards: Vec<ModelCard>,
    /// By request: copies that are not done.
    copies_left: Vec<u32>,
    in_flight: u64,
    /// The card that is asked first where it does not matter.
    turn: usize,
    scratch: Vec<Completion>,
}

impl Mirrored {
    /// The cards that are there, at least one.
    pub fn new(cards: Vec<ModelCard>, max_requests: u32) -> Mirrored {
        assert!(!cards.is_empty());
        let copies_left = vec![0; max_requests as usize];
        Mirrored { cards, copies_left, in_flight: 0, turn: 0, scratch: Vec::new() }
    }

    /// Returns the cards.
    pub fn cards(&self) -> &[ModelCard] {
        &self.cards
    }

    /// The cards, to precondition.
    pub fn cards_mut(&mut self) -> &mut [ModelCard] {
        &mut self.cards
    }

    fn collect(&mut self, done: &mut Vec<Completion>) {
        for copy in self.scratch.drain(..) {
            let left = &mut self.copies_left[copy.id.0 as usize];
            *left -= 1;
            if *left == 0 {
                // The copy that finished last is the critical path; all began together.
                self.in_flight -= 1;
                done.push(copy);
            }
        }
    }
}

impl Device for Mirrored {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        self.in_flight += 1;
        if request.operation == Operation::Read {
            let cards = self.cards.len();
            let (turn, of) = (self.turn, |at: usize| self.cards[at].in_flight());
            let chosen = (0..cards).map(|i| (turn + i) % cards).min_by_key(|&at| of(at)).expect("there is a card");
            self.turn = (chosen + 1) % cards;
            self.copies_left[id.0 as usize] = 1;
            self.cards[chosen].submit(now, id, request, &mut self.scratch);
        } else {
            self.copies_left[id.0 as usize] = self.cards.len() as u32;
            for card in &mut self.cards {
                card.submit(now, id, request, &mut self.scratch);
            }
        }
        self.collect(done);
    }

    fn next_event(&self) -> Time {
        self.cards.iter().map(Device::next_event).min().unwrap_or(Time::NEVER)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        for card in &mut self.cards {
            if card.next_event() <= now {
                card.advance(now, &mut self.scratch);
            }
        }
        self.collect(done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.cards.iter().map(Device::capacity_bytes).min().unwrap_or(0)
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use crate::{Measure, RunSpec, Silent, measure, prepare};
    use load::{FileioConfig, FileioMode, LoadConfig};
    use profile::{DeviceConfig, Host, Profile};
    use results::RunResult;

    fn device(settings: &[&str]) -> DeviceConfig {
        let mut profile = Profile::builtin("tachion-400").unwrap();
        settings.iter().for_each(|setting| profile.set(setting).unwrap());
        profile.lower(1.0 / 256.0).unwrap()
    }

    fn run(settings: &[&str], mode: FileioMode, threads: u32) -> RunResult {
        let device = device(settings);
        let file_bytes = device.user_bytes() / (1 << 20) * (1 << 20);
        let load = LoadConfig::Fileio(FileioConfig { mode, threads, file_bytes, ..FileioConfig::default() });
        let spec = RunSpec {
            device: &device,
            device_json: serde_json::Value::Null,
            host: &Host::builtin("unlimited").unwrap().config(),
            host_json: serde_json::Value::Null,
            load: &load,
            fill: 1.0,
            seed: 1,
            measure: Measure::Requests(40_000),
            fresh: false,
            explain_tail: false,
            histograms: false,
        };
        measure(&spec, prepare(&spec, &Silent).unwrap(), &Silent).unwrap()
    }

    const PAIR: [&str; 3] = ["card.count=2", "card.user_bytes=800GB", "card.host_layout=mirror"];

    #[test]
    fn a_pair_writes_as_one_card_reads_as_two_and_is_one_card_when_the_other_is_dead() {
        let dead: Vec<&str> = PAIR.into_iter().chain(["card.dead_cards=1"]).collect();
        let (one, both, left) = (device(&[]), device(&PAIR), device(&dead));
        assert_eq!((both.user_bytes(), both.cards().len(), left.cards().len()), (one.user_bytes(), 2, 1));
        let writes = |settings: &[&str]| run(settings, FileioMode::RndWr, 16).write.bw_bytes;
        let (alone, mirrored) = (writes(&[]), writes(&PAIR));
        assert!((0.93..1.001).contains(&(mirrored / alone)), "{mirrored} and {alone}");
        let reads = |settings: &[&str]| run(settings, FileioMode::RndRd, 64).read.bw_bytes;
        let (alone, mirrored) = (reads(&[]), reads(&PAIR));
        assert!((1.9..2.1).contains(&(mirrored / alone)), "{mirrored} and {alone}");
        let same = |mode| {
            let (alone, left) = (run(&[], mode, 16), run(&dead, mode, 16));
            assert_eq!((alone.read, alone.write, alone.flash), (left.read, left.write, left.flash));
        };
        same(FileioMode::RndRw);
    }

    #[test]
    fn a_mirror_wears_both_cards_and_a_wrong_one_is_refused() {
        let flash = run(&PAIR, FileioMode::RndWr, 16).flash.unwrap();
        let alone = run(&[], FileioMode::RndWr, 16).flash.unwrap();
        assert_eq!(flash.host_pages, 2 * alone.host_pages);
        assert!((flash.waf / alone.waf - 1.0).abs() < 0.02, "{} and {}", flash.waf, alone.waf);
        let error = |settings: &[&str]| {
            let mut profile = Profile::builtin("tachion-400").unwrap();
            settings.iter().for_each(|setting| profile.set(setting).unwrap());
            profile.lower(1.0 / 256.0).unwrap_err().to_string()
        };
        assert!(error(&["card.host_layout=mirror"]).contains("count"));
        assert!(error(&["card.dead_cards=1"]).contains("host_layout"));
        assert!(error(&[PAIR[0], PAIR[1], PAIR[2], "card.dead_cards=2"]).contains("dead_cards"));
    }
}
