//! The devices under a device, and those that lie on it.

use crate::device::Device;
use crate::system::System;
use std::collections::BTreeSet;

/// A stack deeper or wider than this isn't followed; the kernel's own limits are far below.
const MAX_DEVICES: usize = 1024;

/// The disks at the bottom of what a device lies on; of a disk itself.
pub(crate) fn disks(system: &System, device: &Device) -> Vec<Device> {
    let mut disks: Vec<Device> = Vec::new();
    walk(system, device, Device::slaves, |below| {
        let bottom = below.slaves().is_empty();
        if bottom && !disks.iter().any(|disk| disk.disk == below.disk) {
            let disk = if below.partition.is_some() { Device::named(system, &below.disk) } else { Some(below.clone()) };
            disks.extend(disk);
        }
    });
    disks
}

/// From a device down to a disk, or to where it branches, each with the name that people know.
pub(crate) fn layers(system: &System, device: &Device) -> Vec<String> {
    let mut layers = Vec::new();
    let mut next = Some(device.clone());
    while let Some(device) = next.take() {
        let known = device.mapper_name.as_ref().or(device.md_level.as_ref());
        layers.push(match known {
            Some(known) => format!("{} ({known})", device.name),
            None => device.name.clone(),
        });
        let below = if device.partition.is_some() { vec![device.disk.clone()] } else { device.slaves() };
        match below.as_slice() {
            [one] if layers.len() < MAX_DEVICES => next = Device::named(system, one),
            [] | [_] => {}
            several => layers.push(format!("{} disks", several.len())),
        }
    }
    layers
}

/// Everything that lies on a device, and that lies on that, nearest first; without the device.
pub(crate) fn above(system: &System, device: &Device) -> Vec<Device> {
    let mut found = Vec::new();
    let mut next = |device: &Device| {
        let mut names = device.holders();
        names.extend(device.partitions());
        names
    };
    walk(system, device, &mut next, |above| found.push(above.clone()));
    found.remove(0);
    found
}

/// Other paths to the same disk: a disk with two ports is two devices, and the kernel guards each on its own.
pub(crate) fn twins(system: &System, device: &Device) -> Vec<Device> {
    let Some(wwid) = &device.model.wwid else { return Vec::new() };
    system
        .block_devices()
        .iter()
        .filter_map(|name| Device::named(system, name))
        .filter(|other| {
            other.partition.is_none() && other.disk != device.disk && other.model.wwid.as_ref() == Some(wwid)
        })
        .take(MAX_DEVICES)
        .collect()
}

fn walk(
    system: &System,
    device: &Device,
    mut next: impl FnMut(&Device) -> Vec<String>,
    mut visit: impl FnMut(&Device),
) {
    let mut seen = BTreeSet::from([device.name.clone()]);
    let mut queue = std::collections::VecDeque::from([device.clone()]);
    while let Some(device) = queue.pop_front() {
        visit(&device);
        for name in next(&device) {
            if seen.len() < MAX_DEVICES && seen.insert(name.clone()) {
                queue.extend(Device::named(system, &name));
            }
        }
    }
}
