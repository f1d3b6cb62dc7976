//! The devices that a write would reach, and those that are made of them.

use crate::device::Device;
use crate::stack;
use crate::system::System;
use std::path::Path;

/// The devices that hold the same sectors as the one under review, or something made of them.
#[derive(Default)]
pub(super) struct Scope {
    /// The device itself, its disk, other paths to it, what it is a loop of.
    pub same: Vec<Device>,
    /// Devices that lie on those, nearest first.
    pub above: Vec<Device>,
    /// Loop devices that write where the device under review does.
    pub loops: Vec<Device>,
}

impl Scope {
    pub fn of(system: &System, device: &Device) -> Self {
        let mut scope = Scope::default();
        scope.add_with_twins(system, device);
        // Everything that writes to a loop device writes to what it is bound to.
        let mut bound = device.backing_file.clone();
        while let Some(backing) = bound.take() {
            let below = device_at(system, &backing).filter(|below| !scope.has(&below.name));
            if let Some(below) = below {
                bound = below.backing_file.clone();
                scope.add_with_twins(system, &below);
            }
        }
        while scope.add_loops(system, device) {}
        scope.above.retain(|above| scope.same.iter().all(|same| same.name != above.name));
        scope
    }

    fn has(&self, name: &str) -> bool {
        self.all().iter().any(|device| device.name == name)
    }

    pub fn all(&self) -> Vec<&Device> {
        self.same.iter().chain(&self.above).chain(&self.loops).collect()
    }

    fn add_with_twins(&mut self, system: &System, device: &Device) {
        self.add(system, device);
        for twin in stack::twins(system, device) {
            let Some(index) = device.partition else {
                self.add(system, &twin);
                continue;
            };
            let partitions = twin.partitions();
            let mut theirs = partitions.iter().filter_map(|name| Device::named(system, name));
            if let Some(same) = theirs.find(|theirs| theirs.partition == Some(index)) {
                self.add(system, &same);
            }
        }
    }

    fn add(&mut self, system: &System, device: &Device) {
        self.same.push(device.clone());
        self.add_above(stack::above(system, device));
        // A disk that is used as a whole is used with all its partitions; its other partitions don't matter.
        if device.partition.is_some()
            && let Some(disk) = Device::named(system, &device.disk)
        {
            for holder in disk.holders().iter().filter_map(|name| Device::named(system, name)) {
                let more = stack::above(system, &holder);
                self.add_above(vec![holder]);
                self.add_above(more);
            }
            self.same.push(disk);
        }
    }

    fn add_above(&mut self, more: Vec<Device>) {
        for device in more {
            if self.above.iter().all(|known| known.name != device.name) {
                self.above.push(device);
            }
        }
    }

    /// Loop devices that are bound to one of the devices, or to the same file as the one under review. They don't open
    /// it exclusively: the kernel wouldn't tell. Says whether there were any that weren't known.
    fn add_loops(&mut self, system: &System, device: &Device) -> bool {
        let loops =
            system.block_devices().into_iter().filter_map(|name| Device::named(system, &name)).filter(|other| {
                let Some(file) = other.backing_file.as_deref().filter(|_| other.partition.is_none()) else {
                    return false;
                };
                let to_device = || device_at(system, file).is_some_and(|bound| self.has(&bound.name));
                !self.has(&other.name) && (device.backing_file.as_deref() == Some(file) || to_device())
            });
        let loops: Vec<Device> = loops.collect();
        for bound in &loops {
            self.add_above(stack::above(system, bound));
        }
        let any = !loops.is_empty();
        self.loops.extend(loops);
        any
    }
}

fn device_at(system: &System, path: &str) -> Option<Device> {
    Device::named(system, &system.name_of_path(Path::new(path))?)
}
