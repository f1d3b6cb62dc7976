//! How long it takes to find a card.

use super::config::CardConfig;
use ftl::recover::ScanReport;

impl CardConfig {
    /// Virtual time of a scan, in ns. All dies read at once, each one unit after the other, and the dies of a channel share
    /// its bus.
    pub fn scan_ns(&self, report: &ScanReport) -> u64 {
        let geometry = &self.nand.geometry;
        let unit_bytes = u64::from(geometry.sectors_per_unit()) * device::SECTOR_BYTES;
        let (array, bus) = (self.nand.timing.native.read_ns, self.nand.timing.bus_ns(unit_bytes));
        let channels = u64::from(geometry.modules * geometry.channels_per_module).max(1);
        let mut by_channel = vec![0; channels as usize];
        let mut longest = 0;
        for (die, reads) in (0..).zip(&report.reads_by_die) {
            // Dies are numbered modules first, then channels.
            by_channel[(die % channels) as usize] += reads * bus;
            longest = longest.max(reads * (array + bus));
        }
        by_channel.into_iter().fold(longest, u64::max)
    }
}
