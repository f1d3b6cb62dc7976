//! The file of an array of drives: that of sixteen, with the numbers that fit the drives at hand.

use crate::builtin;
use crate::settings::Basis;
use toml_edit::{DocumentMut, InlineTable, Item, Value};

/// The card that the others are made from.
const TEMPLATE: &str = "drive-array-16";
/// Bytes that a block has, whatever its units: they are trimmed together.
const BLOCK_BYTES: u32 = 16 << 20;
/// Bytes of user data for each module's worth of data: 89 % of a drive of 480 GB.
const USER_BYTES: u64 = 426_000_000_000;
/// Price and power of a drive of the template.
const DRIVE_USD: u32 = 100;
const DRIVE_WATTS: u32 = 8;

/// An array of drives that becomes a card.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveArray<'a> {
    /// The drives of the array.
    pub modules: u32,
    /// Modules over which a stripe lies; it divides them.
    pub stripe_width: u32,
    /// Bytes of the host's data in a unit.
    pub unit_bytes: u32,
    /// Figures of the drives; `None`: the template's stay.
    pub measured: Option<MeasuredArray>,
    /// Settings that a person gave, as `table.key=value`: a number that one of them replaces is not called measured.
    pub set: &'a [String],
}

/// Figures of drives that were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredArray {
    /// Bytes of the write buffer.
    pub buffer_bytes: u64,
    /// Median of random reads.
    pub read_ns: u64,
    /// Median of writes of a unit.
    pub program_ns: u64,
    /// The reason for the size of units, in one line.
    pub why_unit: String,
    /// The reason for the size of the buffer, in one line.
    pub why_buffer: String,
    /// The circumstances of the measurement, in one line.
    pub how: String,
}

impl DriveArray<'_> {
    /// The name of the card.
    pub const NAME: &'static str = "drive-array";

    /// Text of the card's file.
    pub fn text(&self) -> String {
        let template = builtin::find(builtin::CARDS, TEMPLATE).expect("the card comes with the program");
        let mut file: DocumentMut = template.parse().expect("a test reads it");
        let count = self.modules;
        let heading =
            "# An array of drives, or of files on some: each is a module of the card. Made by `flashrig create`.\n\n";
        if let Some(card) = file["card"].as_table_mut() {
            card.decor_mut().set_prefix(heading);
        }
        file["card"]["title"] = plain(format!("Array of {count} drives or files"));
        file["card"]["interface"] = plain(format!("{count} drives"));
        let data_modules = u64::from(count) * u64::from(self.stripe_width - 1) / u64::from(self.stripe_width);
        let mut numbers = vec![
            ("card", "user_bytes", data_modules * USER_BYTES, Basis::Derived, "426 GB for each drive of data"),
            ("card", "price_usd", (DRIVE_USD * count).into(), Basis::Assumed, "boot drives of the class"),
            ("card", "power_watts", (DRIVE_WATTS * count).into(), Basis::Assumed, "8 W each under writes"),
            ("geometry", "modules", count.into(), Basis::Derived, "the drives that were named"),
            ("ftl", "stripe_width", self.stripe_width.into(), Basis::Derived, "one unit of each drive of a stripe"),
        ];
        let (unit, pages) = (self.unit_bytes.into(), (BLOCK_BYTES / self.unit_bytes.max(1)).max(1).into());
        numbers.push(("geometry", "pages_per_block", pages, Basis::Derived, "16 MiB are trimmed together"));
        match &self.measured {
            Some(measured) => numbers.extend([
                ("geometry", "page_bytes", unit, Basis::Measured, measured.why_unit.as_str()),
                ("buffer", "bytes", measured.buffer_bytes, Basis::Measured, &measured.why_buffer),
                ("timing", "read_ns", measured.read_ns, Basis::Measured, &measured.how),
                ("timing", "program_ns", measured.program_ns, Basis::Measured, &measured.how),
            ]),
            None => numbers.push(("geometry", "page_bytes", unit, Basis::Assumed, "drives like large requests")),
        }
        for (table, key, value, basis, source) in numbers {
            // A person's number stands in its place, and a reader of the file must not take it for measured.
            let basis = if self.is_set(table, key) { Basis::Assumed } else { basis };
            let source = if self.is_set(table, key) { "replaced by a setting" } else { source };
            file[table][key] = number(value, basis, source);
        }
        file.to_string()
    }

    fn is_set(&self, table: &str, key: &str) -> bool {
        let path = |setting: &'_ str| setting.split('=').next().map(|path| path.trim().to_owned());
        self.set.iter().any(|setting| path(setting).is_some_and(|path| path == format!("{table}.{key}")))
    }
}

fn plain(text: String) -> Item {
    Item::Value(text.into())
}

fn number(value: u64, basis: Basis, source: &str) -> Item {
    let mut table = InlineTable::new();
    table.insert("value", Value::from(i64::try_from(value).expect("the schema limits it")));
    table.insert("basis", basis.name().into());
    table.insert("source", source.into());
    Item::Value(Value::InlineTable(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceConfig, Profile};

    const MEASURED: &str = "a sweep";

    fn array(modules: u32, stripe_width: u32, unit_bytes: u32, set: &[String]) -> DriveArray<'_> {
        let measured = MeasuredArray {
            buffer_bytes: 48 << 20,
            read_ns: 91_000,
            program_ns: 1_234_567,
            why_unit: MEASURED.into(),
            why_buffer: MEASURED.into(),
            how: MEASURED.into(),
        };
        DriveArray { modules, stripe_width, unit_bytes, measured: Some(measured), set }
    }

    #[test]
    fn an_array_of_any_drives_is_a_card() {
        for (modules, width) in [(3, 3), (4, 4), (5, 5), (16, 16), (18, 9), (34, 34), (64, 16)] {
            for unit_bytes in [16 << 10, 32 << 10, 64 << 10, 128 << 10] {
                let text = array(modules, width, unit_bytes, &[]).text();
                let profile = Profile::parse(&text, "array.toml").unwrap_or_else(|e| panic!("{modules}: {e}"));
                let card = profile.with_contents(Some(64 << 20)).unwrap();
                assert_eq!(card.nand.geometry.modules, modules);
                assert_eq!((card.ftl.stripe_width, card.nand.geometry.page_bytes), (width, unit_bytes));
                assert_eq!(card.buffer_sectors, (48 << 20) / 4096);
            }
        }
    }

    #[test]
    fn sixteen_drives_that_were_not_measured_are_the_template() {
        let array = DriveArray { modules: 16, stripe_width: 16, unit_bytes: 64 << 10, measured: None, set: &[] };
        let made = Profile::parse(&array.text(), "array.toml").unwrap();
        let of = |profile: &Profile| match profile.lower(1.0 / 64.0).unwrap() {
            DeviceConfig::Card(card) => (card.nand, card.buffer_sectors, card.ftl.stripe_width),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(&made), of(&Profile::builtin(TEMPLATE).unwrap()));
    }

    #[test]
    fn numbers_that_a_person_gave_are_not_called_measured() {
        let measured = |set: &[String]| array(4, 4, 32 << 10, set).text().matches("\"measured\"").count();
        assert_eq!(measured(&[]), 4);
        assert_eq!(measured(&["buffer.bytes=64MiB".into()]), 3);
        assert_eq!(measured(&["timing.read_ns = 5".into(), "geometry.page_bytes=32KiB".into()]), 2);
        assert_eq!(measured(&["ftl.victim=fifo".into()]), 4);
    }
}
