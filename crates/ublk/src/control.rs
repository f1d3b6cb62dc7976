//! Commands about disks.

use crate::error::{Step, UblkError};
use crate::ring::ControlRing;
use crate::words::{self, DeviceInfo, INFO_BYTES, Limits, Wanted};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

const CONTROL: &str = "/dev/ublk-control";
/// Bound on the time in which the driver notices that a server has died.
const NOTICED_WITHIN: Duration = Duration::from_secs(30);
/// The number where none is meant.
const NONE: u32 = u32::MAX;

/// The driver, which is asked for disks.
pub struct Control {
    file: File,
    ring: ControlRing,
}

impl Control {
    /// Opens the driver, and sees whether it has what is needed.
    pub fn open() -> Result<Control, UblkError> {
        let file =
            File::options().read(true).write(true).open(CONTROL).map_err(|error| {
                match Errno::from_io_error(&error) {
                    Some(Errno::PERM | Errno::ACCESS) => UblkError::NotAllowed,
                    _ => UblkError::NoDriver,
                }
            })?;
        let mut control = Control { file, ring: ControlRing::new().map_err(UblkError::of(Step::Ring))? };
        let mut features = [0; 8];
        // The first drivers don't know the question.
        control.run(words::GET_FEATURES, NONE, &mut features, 0).map_err(|_| UblkError::TooOld)?;
        match has_needed(u64::from_ne_bytes(features)) {
            true => Ok(control),
            false => Err(UblkError::TooOld),
        }
    }

    fn run(&mut self, command: u32, number: u32, pointed_to: &mut [u8], data: u64) -> io::Result<()> {
        self.ring.run(&self.file, command, number, pointed_to, data).map(|_| ())
    }

    /// Adds a disk, which is not started.
    pub fn add(&mut self, wanted: &Wanted) -> Result<DeviceInfo, UblkError> {
        let mut words = wanted.encode(std::process::id() as i32);
        self.run(words::ADD_DEV, NONE, &mut words, 0).map_err(UblkError::of(Step::Add))?;
        Ok(DeviceInfo::decode(&words))
    }

    /// Gives a disk that is not started its parameters.
    pub fn describe(&mut self, number: u32, limits: &Limits) -> Result<(), UblkError> {
        self.run(words::SET_PARAMS, number, &mut limits.encode(), 0).map_err(UblkError::of(Step::Describe))
    }

    /// Starts a disk, of which each queue is served already: the kernel looks for partitions before this returns.
    pub fn start(&mut self, number: u32) -> Result<(), UblkError> {
        let pid = u64::from(std::process::id());
        self.run(words::START_DEV, number, &mut [], pid).map_err(UblkError::of(Step::Start))
    }

    /// Begins to take back a disk that waits for its server. It goes on with [`Control::end_recovery`].
    pub fn begin_recovery(&mut self, number: u32) -> Result<(), UblkError> {
        let began = Instant::now();
        loop {
            match self.run(words::START_USER_RECOVERY, number, &mut [], 0) {
                // The server that has died is not let go of yet.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::BUSY) && began.elapsed() < NOTICED_WITHIN => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                done => return done.map_err(UblkError::of(Step::Recover)),
            }
        }
    }

    /// Has a disk go on, of which each queue is served already.
    pub fn end_recovery(&mut self, number: u32) -> Result<(), UblkError> {
        let pid = u64::from(std::process::id());
        self.run(words::END_USER_RECOVERY, number, &mut [], pid).map_err(UblkError::of(Step::Recover))
    }

    /// A disk as the driver has it.
    pub fn info(&mut self, number: u32) -> Result<DeviceInfo, UblkError> {
        let mut words = [0; INFO_BYTES];
        self.run(words::GET_DEV_INFO, number, &mut words, 0).map_err(UblkError::of(Step::Look))?;
        Ok(DeviceInfo::decode(&words))
    }

    /// All disks of the driver.
    pub fn all(&mut self) -> Vec<DeviceInfo> {
        let mut numbers: Vec<u32> = numbers(Path::new("/sys/class/ublk-char")).collect();
        numbers.sort_unstable();
        // One that went away meanwhile is none.
        numbers.into_iter().filter_map(|number| self.info(number).ok()).collect()
    }

    /// Stops a disk: what is asked of it fails from then on, and its server has no more requests.
    pub fn stop(&mut self, number: u32) -> Result<(), UblkError> {
        self.run(words::STOP_DEV, number, &mut [], 0).map_err(UblkError::of(Step::Stop))
    }

    /// Removes a disk that has no server any more.
    pub fn remove(&mut self, number: u32) -> Result<(), UblkError> {
        self.run(words::DEL_DEV, number, &mut [], 0).map_err(UblkError::of(Step::Remove))
    }

    /// Removes a stopped disk that may still be mounted: its name is free when the last program has let go of it.
    pub fn remove_later(&mut self, number: u32) -> Result<(), UblkError> {
        self.run(words::DEL_DEV_ASYNC, number, &mut [], 0).map_err(UblkError::of(Step::Remove))
    }
}

/// A driver of these features can do what is asked of it here.
fn has_needed(features: u64) -> bool {
    features & words::NEEDED == words::NEEDED
}

/// The numbers of the disks that a directory of the kernel lists.
fn numbers(directory: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("ublkc")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_without_recovery_is_too_old() {
        assert!(has_needed(u64::MAX));
        for bit in [3, 4, 6] {
            assert!(!has_needed(!(1 << bit)), "bit {bit}");
        }
        assert!(!has_needed(0));
        assert!(UblkError::TooOld.to_string().contains("Linux 6.5"));
    }

    #[test]
    fn disks_are_listed_by_their_numbers_and_other_names_are_left_out() {
        let folder = std::env::temp_dir().join(format!("ublk-numbers-{}", std::process::id()));
        for name in ["ublkc0", "ublkc12", "ublkcx", "ublkb3", "other"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let mut found: Vec<u32> = numbers(&folder).collect();
        found.sort_unstable();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [0, 12]);
        assert_eq!(numbers(&folder).count(), 0);
    }
}
