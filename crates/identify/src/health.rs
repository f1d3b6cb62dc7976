//! The health of a drive by its own account: its SMART data, as smartctl reads it.
//!
//! smartctl knows the drives of all makers, behind all kinds of controllers. Its answer is untrusted text like any other:
//! a figure that it does not give is absent.

use results::DriveSmart;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A drive that is failing may not answer at all: nobody waits longer than this for its health.
const PATIENCE: Duration = Duration::from_secs(5);

/// The health of a drive, by its own account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveHealth {
    /// `false`: the drive says that it is failing.
    pub passed: Option<bool>,
    /// Its temperature in degrees Celsius.
    pub temperature_c: Option<i64>,
    /// Share of its rated endurance that is used, in percent; it may exceed 100.
    pub used_percent: Option<u64>,
    /// Share of its spare blocks that is left, in percent.
    pub spare_percent: Option<u64>,
    /// Times that it could not give back what it held.
    pub media_errors: Option<u64>,
    /// Hours that it had power.
    pub power_on_hours: Option<u64>,
}

/// The reason why a drive's health is not known.
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    /// smartctl is not installed, or does not start.
    #[error("smartctl does not start ({0}); Debian's package smartmontools has it")]
    Tool(#[source] std::io::Error),
    /// The drive does not answer.
    #[error("a drive gives no SMART data within {} s", PATIENCE.as_secs())]
    Silent,
    /// The device has no SMART data, or smartctl can't get at them.
    #[error("no SMART data")]
    None,
}

/// Reads the health of a drive by its node in `/dev`. Asks the drive, which takes some milliseconds, or seconds at most if
/// it does not answer; one that sleeps is not woken.
pub fn drive_health(node: &Path) -> Result<DriveHealth, HealthError> {
    health_of(&asked(node)?).ok_or(HealthError::None)
}

/// The same with all that a review wants to know.
pub fn drive_smart(node: &Path) -> Result<DriveSmart, HealthError> {
    smart_of(&asked(node)?).ok_or(HealthError::None)
}

/// The answer of smartctl; its exit status says how well the drive is, not whether there is one.
fn asked(node: &Path) -> Result<Vec<u8>, HealthError> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let mut smartctl = Command::new("smartctl");
    smartctl.args(["--json=c", "--nocheck=standby", "--health", "--attributes"]).arg(node).env("PATH", path);
    said(smartctl, PATIENCE)
}

/// The output of a command that ends within this time. One that does not is killed, which may take as long as the drive:
/// a thread waits for that.
fn said(mut command: Command, patience: Duration) -> Result<Vec<u8>, HealthError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(HealthError::Tool)?;
    let mut output = child.stdout.take().expect("it is piped");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.read_to_end(&mut bytes).map(|_| bytes);
        // Nobody may wait any more.
        let _ = sender.send(read);
    });
    let read = receiver.recv_timeout(patience);
    let _ = child.kill();
    thread::spawn(move || child.wait());
    read.map_err(|_| HealthError::Silent)?.map_err(HealthError::Tool)
}

/// ATA's attributes by which makers tell the wear of flash, and whose normalized value counts down from 100.
const WEAR_ATTRIBUTES: [u64; 5] = [177, 202, 231, 232, 233];
/// ATA's count of uncorrectable errors that were reported to the host.
const REPORTED_UNCORRECTABLE: u64 = 187;

/// The health in an answer of smartctl; `None` if it has no figure at all.
fn health_of(answer: &[u8]) -> Option<DriveHealth> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let number = |path: &str| answer.pointer(path).and_then(Value::as_u64);
    let attributes = answer.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    let attribute = |id: u64| attributes?.iter().find(|attribute| attribute["id"].as_u64() == Some(id));
    let ata_used = || {
        let value = WEAR_ATTRIBUTES.into_iter().find_map(|id| attribute(id)?["value"].as_u64())?;
        Some(100_u64.saturating_sub(value))
    };
    let health = DriveHealth {
        passed: answer.pointer("/smart_status/passed").and_then(Value::as_bool),
        temperature_c: answer.pointer("/temperature/current").and_then(Value::as_i64),
        used_percent: number("/nvme_smart_health_information_log/percentage_used")
            .or_else(|| number("/scsi_percentage_used_endurance_indicator"))
            .or_else(|| number("/endurance_used/current_percent"))
            .or_else(ata_used),
        spare_percent: number("/nvme_smart_health_information_log/available_spare")
            .or_else(|| number("/spare_available/current_percent")),
        media_errors: number("/nvme_smart_health_information_log/media_errors")
            .or_else(|| number("/scsi_error_counter_log/read/total_uncorrected_errors"))
            .or_else(|| attribute(REPORTED_UNCORRECTABLE)?.pointer("/raw/value")?.as_u64()),
        power_on_hours: number("/power_on_time/hours"),
    };
    (health != DriveHealth::default()).then_some(health)
}

/// NVMe counts what hosts wrote in thousands of 512 bytes.
const NVME_UNIT_BYTES: u64 = 512_000;

/// All that a review wants to know, in an answer of smartctl.
fn smart_of(answer: &[u8]) -> Option<DriveSmart> {
    let health = health_of(answer)?;
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let nvme = |key: &str| answer["nvme_smart_health_information_log"][key].as_u64();
    Some(DriveSmart {
        passed: health.passed,
        temperature_c: health.temperature_c,
        used_percent: health.used_percent,
        spare_percent: health.spare_percent,
        media_errors: health.media_errors,
        power_on_hours: health.power_on_hours,
        written_bytes: nvme("data_units_written").and_then(|units| units.checked_mul(NVME_UNIT_BYTES)),
        warm_minutes: nvme("warning_temp_time"),
        hot_minutes: nvme("critical_comp_time"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_hears_what_was_written_and_how_long_it_was_hot() {
        let nvme = br#"{"smart_status": {"passed": true}, "temperature": {"current": 71},
            "nvme_smart_health_information_log": {"available_spare": 99, "percentage_used": 7, "media_errors": 0,
                "data_units_written": 2000, "warning_temp_time": 12, "critical_comp_time": 1}}"#;
        let smart = smart_of(nvme).unwrap();
        assert_eq!((smart.temperature_c, smart.used_percent, smart.spare_percent), (Some(71), Some(7), Some(99)));
        assert_eq!(
            (smart.written_bytes, smart.warm_minutes, smart.hot_minutes),
            (Some(1_024_000_000), Some(12), Some(1))
        );
        let ata = br#"{"smart_status": {"passed": true}}"#;
        assert_eq!(smart_of(ata), Some(DriveSmart { passed: Some(true), ..DriveSmart::default() }));
        assert_eq!(smart_of(b"no drive"), None);
    }

    #[test]
    fn figures_of_each_kind_of_drive_are_found() {
        let nvme = br#"{"smart_status": {"passed": true, "nvme": {"value": 0}},
            "nvme_smart_health_information_log": {"critical_warning": 0, "temperature": 34, "available_spare": 100,
                "percentage_used": 2, "media_errors": 1, "unsafe_shutdowns": 7},
            "temperature": {"current": 34}, "power_on_time": {"hours": 1234}}"#;
        let of_nvme = DriveHealth {
            passed: Some(true),
            temperature_c: Some(34),
            used_percent: Some(2),
            spare_percent: Some(100),
            media_errors: Some(1),
            power_on_hours: Some(1234),
        };
        assert_eq!(health_of(nvme), Some(of_nvme));
        let ata = br#"{"smart_status": {"passed": false}, "ata_smart_attributes": {"table": [
                {"id": 9, "name": "Power_On_Hours", "value": 95, "raw": {"value": 22000}},
                {"id": 177, "name": "Wear_Leveling_Count", "value": 91, "raw": {"value": 150}},
                {"id": 187, "name": "Uncorrectable_Error_Cnt", "value": 100, "raw": {"value": 3}}]},
            "temperature": {"current": 29}, "power_on_time": {"hours": 22000}}"#;
        let of_ata = DriveHealth {
            passed: Some(false),
            temperature_c: Some(29),
            used_percent: Some(9),
            spare_percent: None,
            media_errors: Some(3),
            power_on_hours: Some(22_000),
        };
        assert_eq!(health_of(ata), Some(of_ata));
        let sas = br#"{"smart_status": {"passed": true}, "scsi_percentage_used_endurance_indicator": 4,
            "scsi_error_counter_log": {"read": {"total_uncorrected_errors": 0}}}"#;
        let of_sas =
            DriveHealth { passed: Some(true), used_percent: Some(4), media_errors: Some(0), ..DriveHealth::default() };
        assert_eq!(health_of(sas), Some(of_sas));
    }

    #[test]
    fn a_drive_that_does_not_answer_is_not_waited_for() {
        let shell = |script: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(said(shell("echo said"), PATIENCE).unwrap(), b"said\n");
        let silent = said(shell("exec sleep 60"), Duration::from_millis(50));
        assert!(matches!(silent, Err(HealthError::Silent)));
    }

    #[test]
    fn what_says_nothing_of_a_drive_is_no_health() {
        let refused = br#"{"smartctl": {"messages": [{"string": "/dev/loop0: Unable to detect device type",
            "severity": "error"}], "exit_status": 1}}"#;
        for answer in [&refused[..], b"", b"[]", b"{\"temperature\": {\"current\": \"hot\"}}", b"smartctl: no"] {
            assert_eq!(health_of(answer), None);
        }
    }
}
