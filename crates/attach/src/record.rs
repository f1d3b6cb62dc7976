//! A file for each device that was attached, which outlives the program and not the system.

use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The kind of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The loop driver's.
    Loop,
    /// The NBD client's.
    Nbd,
    /// The ublk driver's, made by the server itself.
    Ublk,
}

/// Record of an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Path of the device, such as `/dev/loop0`.
    pub device: PathBuf,
    /// Kind of the attachment.
    pub kind: Kind,
    /// The file's path or the server's address that it lies on.
    pub on: String,
}

/// The directory of records.
#[derive(Clone, Debug)]
pub struct Records {
    /// The directory; made when the first record is written.
    pub folder: PathBuf,
}

impl Default for Records {
    fn default() -> Records {
        Records { folder: "/run/flashrig/attached".into() }
    }
}

impl Records {
    fn path(&self, device: &Path) -> PathBuf {
        let name = device.file_name().unwrap_or(device.as_os_str());
        self.folder.join(format!("{}.json", name.to_string_lossy()))
    }

    /// Writes one, whole.
    pub fn write(&self, record: &Record) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.path(&record.device);
        let beside = path.with_extension("tmp");
        let mut text = serde_json::to_string_pretty(record).expect("a record has text keys");
        text.push('\n');
        let mut file = File::create(&beside)?;
        file.write_all(text.as_bytes())?;
        fs::rename(beside, path)
    }

    /// All that can be read, by device. A file that can't be read as one is no record.
    pub fn read(&self) -> Vec<Record> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        let read = |path: PathBuf| serde_json::from_str(&fs::read_to_string(path).ok()?).ok();
        paths.into_iter().filter_map(read).collect()
    }

    /// Forgets a device.
    pub fn remove(&self, device: &Path) {
        // A record that stays is not believed: the kernel says otherwise.
        let _ = fs::remove_file(self.path(device));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written_and_what_is_none_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records { folder: folder.path().join("run/attached") };
        assert_eq!(records.read(), []);
        let record =
            |n: u32| Record { device: format!("/dev/loop{n}").into(), kind: Kind::Loop, on: "/mnt/disk".into() };
        for n in [3, 1] {
            records.write(&record(n)).unwrap();
        }
        fs::write(records.folder.join("loop2.json"), "{\"device\": 7").unwrap();
        fs::write(records.folder.join("notes.txt"), "").unwrap();
        assert_eq!(records.read(), [record(1), record(3)]);
        records.remove(Path::new("/dev/loop1"));
        records.remove(Path::new("/dev/loop9"));
        assert_eq!(records.read(), [record(3)]);
    }
}
