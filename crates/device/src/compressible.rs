//! How compressible the data of a host are.

/// The share of its data that compression takes away, from 0 to 1: of each sector as much as is drawn between two bounds,
/// evenly. It is the one that fio calls `buffer_compress_percentage`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compressible {
    /// The least of a sector.
    pub least: f64,
    /// The most of a sector.
    pub most: f64,
}

impl Compressible {
    /// Data of which nothing is taken away.
    pub const NOT: Compressible = Compressible { least: 0.0, most: 0.0 };

    /// Sectors of which `mean` is taken away, `spread` more or less.
    pub fn around(mean: f64, spread: f64) -> Compressible {
        Compressible { least: (mean - spread).max(0.0), most: (mean + spread).min(1.0) }
    }
}
