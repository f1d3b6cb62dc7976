//! A published table, as it stands in `published/`.

/// A table: a header and rows of cells.
pub struct Table {
    name: &'static str,
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../published/", $name, ".csv")))),*
        ];
    };
}

tables!(
    "fill-percent",
    "tachion-400-fill",
    "tachion-400-threads",
    "flashmax-n800-slob",
    "violin-3205-slob",
    "iodrive-320-mlc-fill",
    "iodrive-320-mlc-postgres",
    "prices",
    "datasheets",
    "drives-2017-depths",
);

impl Table {
    /// A table that is part of the program.
    ///
    /// # Panics
    /// When there is none of this name: a bug, the files are compiled in.
    pub fn get(name: &str) -> Table {
        let (name, text) = FILES.iter().find(|f| f.0 == name).unwrap_or_else(|| panic!("no published table {name}"));
        let mut lines = text.lines().filter(|l| !l.trim().is_empty());
        let header = lines.next().unwrap_or("").split(',').collect();
        let rows = lines.map(cells).collect();
        Table { name, header, rows }
    }

    /// The cells of a column.
    ///
    /// # Panics
    /// When there is no such column: a bug, the files are compiled in.
    pub fn texts(&self, column: &str) -> Vec<String> {
        let i = self.header.iter().position(|&h| h == column);
        let i = i.unwrap_or_else(|| panic!("table {} has no column {column}", self.name));
        self.rows.iter().map(|row| row.get(i).cloned().unwrap_or_default()).collect()
    }

    /// The numbers of a column; empty cells are NaN.
    pub fn numbers(&self, column: &str) -> Vec<f64> {
        self.texts(column).iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()
    }
}

/// Cells of a line; quotes keep commas.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("never empty").push(c),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_their_columns() {
        let fill = Table::get("fill-percent");
        assert_eq!(fill.numbers("percent_in_use").len(), 9);
        assert_eq!(fill.numbers("tachion_400_mib_per_s")[8], 417.0);
        let slob = Table::get("flashmax-n800-slob");
        assert_eq!(slob.texts("run")[1], "first sweep, mixed peak");
        assert!(slob.numbers("written_kib_s")[0].is_nan());
    }
}
