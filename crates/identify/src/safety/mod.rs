//! May this be overwritten?
//!
//! First everything that the kernel and other programs do with the device is looked at. Only when nothing speaks against
//! it is it opened for writing, exclusively, and then all of that is looked at again: what was true before the kernel
//! gave us the device doesn't count. A device that is refused is only ever opened for reading.

mod claims;
mod holder;
mod permit;
mod reason;
mod scope;
mod users;

pub use holder::HolderKind;
pub use permit::Permit;
pub use reason::{Reason, Refusal};

use crate::device::Device;
use crate::identity::Identity;
use crate::signatures;
use crate::system::{DeviceNumber, System};
use results::TargetKind;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

impl System {
    /// The right to overwrite a block device, or everything that speaks against it.
    ///
    /// Without root, what other users' programs have open isn't seen; the kernel's own users always are.
    pub fn may_be_overwritten(&self, identity: &Identity) -> Result<Permit, Refusal> {
        let path = identity.path.clone();
        let refuse = |reasons| Err(Refusal { named: identity.named.clone(), path: path.clone(), reasons });
        let device = match (&identity.device, identity.kind) {
            (Some(device), TargetKind::BlockDevice) => device,
            _ => return refuse(vec![Reason::NotBlockDevice { path: path.clone() }]),
        };
        let mut reasons = claims::against(self, device);
        if !reasons.is_empty() {
            look_without_writing(&path, device, &mut reasons);
            return refuse(reasons);
        }
        let file = match open_exclusively(&path, true) {
            Ok(file) => file,
            Err(error) => {
                reasons.extend(Reason::of_open(&path, error));
                look_without_writing(&path, device, &mut reasons);
                return refuse(reasons);
            }
        };
        // Nobody can mount it now. A change since the device was identified shows here.
        if self.is_still(&file, device) {
            reasons.extend(claims::against(self, device));
            reasons.extend(marks(&file, &path, device));
        } else {
            reasons.push(Reason::Changed { path: path.clone() });
        }
        if reasons.is_empty() {
            return Ok(Permit::new(file, device.number, identity.named.clone(), path));
        }
        refuse(reasons)
    }

    /// Everybody who uses a block device now. Signatures on it aren't looked at: a device whose server has died has no
    /// answer.
    pub fn users(&self, device: &Device) -> Vec<Reason> {
        let mut reasons = claims::against(self, device);
        reasons.retain(|reason| {
            !matches!(reason, Reason::ReadOnly { .. } | Reason::Empty { .. } | Reason::Partitions { .. })
        });
        let path = device.node();
        if !reasons.iter().any(Reason::is_use) && open_exclusively(&path, false).is_err_and(|error| is_busy(&error)) {
            reasons.push(Reason::InUseByKernel { path });
        }
        reasons
    }

    /// Returns whether an open device is the one that was identified, and not one that came under its name.
    fn is_still(&self, file: &File, device: &Device) -> bool {
        let Ok(meta) = file.metadata() else { return false };
        if !meta.file_type().is_block_device() || DeviceNumber::from_raw(meta.rdev()) != device.number {
            return false;
        }
        let now = self.dir_of_number(device.number).as_deref().and_then(Device::read);
        now.is_some_and(|now| {
            (now.diskseq, now.size_bytes, &now.name, &now.model.serial)
                == (device.diskseq, device.size_bytes, &device.name, &device.model.serial)
        })
    }
}

/// Gathers further remarks on a device that is refused anyway.
fn look_without_writing(path: &Path, device: &Device, reasons: &mut Vec<Reason>) {
    let file = match open_exclusively(path, false) {
        Err(error) if is_busy(&error) => {
            if !reasons.iter().any(Reason::is_use) {
                reasons.push(Reason::InUseByKernel { path: path.into() });
            }
            File::open(path)
        }
        opened => opened,
    };
    match file {
        Ok(file) => reasons.extend(marks(&file, path, device)),
        Err(error) => {
            let reason = Reason::of_open(path, error);
            reasons.extend(reason.filter(|reason| !reasons.iter().any(|known| known.same_kind(reason))));
        }
    }
}

fn marks(file: &File, path: &Path, device: &Device) -> Vec<Reason> {
    let path: PathBuf = path.into();
    let found = signatures::find(file, device.size_bytes);
    let marks = found.signatures.into_iter().map(|signature| Reason::Signature { path: path.clone(), signature });
    let first = found.unreadable.first().map(|&offset| Reason::Unreadable { path: path.clone(), offset });
    marks.chain(first).collect()
}

fn open_exclusively(path: &Path, write: bool) -> io::Result<File> {
    let flags = i32::try_from(OFlags::EXCL.bits()).expect("flags of open are small");
    OpenOptions::new().read(true).write(write).custom_flags(flags).open(path)
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}
