//! A medium that is slow itself is told of each program before.

use crate::common::{PAYLOAD, SECTOR, with_contents};
use card::{StorageCard, shape};
use device::{Completion, Device, Request, RequestId, Time};
use format::CardId;
use media::{BlockAt, Fault, Flash, Media, MediaError, Medium, Physics, ReadReport, RequestData, Shape, Unit, UnitAt};

/// Flash that notes what it was told of.
#[derive(Debug)]
struct Told {
    flash: Flash,
    /// Programs that were begun and are not handed over yet.
    begun: Vec<(UnitAt, Unit)>,
    programs: u32,
    /// A program of it failed.
    failed: Option<BlockAt>,
}

impl Media for Told {
    fn begin_program(&mut self, at: UnitAt, unit: &Unit) {
        assert_ne!(self.failed, Some(at.block), "nothing more belongs on a block that failed");
        self.begun.push((at, unit.clone()));
    }

    fn program(&mut self, at: UnitAt, unit: &Unit) -> Result<(), MediaError> {
        let begun = self.begun.iter().position(|(of, _)| *of == at).map(|i| self.begun.swap_remove(i));
        assert_eq!(begun.as_ref().map(|(_, unit)| unit), Some(unit), "{at:?}");
        self.programs += 1;
        let done = self.flash.program(at, unit);
        if done == Err(MediaError::Failed) {
            self.failed = Some(at.block);
        }
        done
    }

    fn shape(&self) -> &Shape {
        self.flash.shape()
    }

    fn read(&mut self, at: UnitAt, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.flash.read(at, unit)
    }

    fn erase(&mut self, at: BlockAt) -> Result<(), MediaError> {
        self.flash.erase(at)
    }

    fn sync(&mut self, module: u32) -> Result<(), MediaError> {
        self.flash.sync(module)
    }

    fn is_volatile(&self) -> bool {
        self.flash.is_volatile()
    }

    fn is_bad(&self, at: BlockAt) -> bool {
        self.flash.is_bad(at)
    }

    fn mark_bad(&mut self, at: BlockAt) -> Result<(), MediaError> {
        self.flash.mark_bad(at)
    }

    fn cycles(&self, at: BlockAt) -> u32 {
        self.flash.cycles(at)
    }

    fn read_header(&mut self, module: u32, copy: u32) -> Result<Option<Vec<u8>>, MediaError> {
        self.flash.read_header(module, copy)
    }

    fn write_header(&mut self, module: u32, copy: u32, bytes: &[u8]) -> Result<(), MediaError> {
        self.flash.write_header(module, copy, bytes)
    }

    fn claim(&mut self, module: u32, generation: u64) -> Result<(), MediaError> {
        self.flash.claim(module, generation)
    }

    fn has_module(&self, slot: u32) -> bool {
        self.flash.has_module(slot)
    }
}

#[test]
fn each_program_is_begun_with_what_it_will_hold_unless_its_block_has_failed() {
    let mut config = with_contents(false);
    // Stripes go to one group of dies after the other.
    config.nand.geometry.dies_per_channel = 2;
    config.ftl.user_sectors = 100;
    config.buffer_sectors = 24;
    let mut flash = Flash::new(shape(&config), Physics::IDEAL, 1);
    assert!(flash.inject(Fault::FailPrograms { module: 1, die: 1, block: None, count: 1 }));
    let told = Told { flash, begun: Vec::new(), programs: 0, failed: None };
    let mut card = StorageCard::format(&config, Medium::Outside(Box::new(told)), CardId([7; 16]), 1, 1).unwrap();
    let (mut now, mut done) = (Time::ZERO, Vec::<Completion<RequestData>>::new());
    for first in (0..60).step_by(20) {
        let data = card.pack(0, &[first as u8; 20 * PAYLOAD]);
        let request = Request::write(u64::from(first * SECTOR), 20 * SECTOR).with(data);
        card.submit(now, RequestId(0), request, &mut done);
        // As a host does after each step.
        while card.next_event() != Time::NEVER {
            now = card.next_event();
            card.advance(now, &mut done);
        }
        assert_eq!(done.drain(..).count(), 1);
    }
    let told: &Told = card.medium().outside().unwrap();
    assert_eq!(told.begun, []);
    assert!(told.failed.is_some() && told.programs >= 60);
}
