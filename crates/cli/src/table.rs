//! Columns in plain text.

/// Width that every line of output keeps to.
pub const COLUMNS: usize = 80;

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words stand at the left.
    Left,
    /// Numbers stand at the right.
    Right,
}

/// Rows of cells; columns are as wide as their widest cell.
#[derive(Clone, Debug)]
pub struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
    gap: usize,
}

impl Table {
    /// An empty table. Rows may be shorter than it is wide, not longer.
    pub fn new(align: impl Into<Vec<Align>>) -> Table {
        Table { align: align.into(), rows: Vec::new(), gap: 2 }
    }

    /// The first column holds words, all others numbers.
    pub fn labelled(columns: usize) -> Table {
        let mut align = vec![Align::Right; columns];
        align[0] = Align::Left;
        Table::new(align)
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert!(cells.len() <= self.align.len(), "a row has more cells than the table columns");
        self.rows.push(cells);
    }

    /// The lines, each ended, none with blanks at its end.
    pub fn render(&self) -> String {
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.align.len()).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    line.push_str(&" ".repeat(self.gap));
                }
                let padding = " ".repeat(widths[column] - cell.chars().count());
                match self.align[column] {
                    Align::Left => line.extend([cell.as_str(), &padding]),
                    Align::Right => line.extend([&padding, cell.as_str()]),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// `first` and a text, broken at blanks so that no line is longer than [`COLUMNS`]; lines after the first are indented.
/// Words that no line can hold are cut. The last line is ended too.
pub fn wrap(first: &str, indent: usize, text: &str) -> String {
    let mut out = first.to_owned();
    let mut used = out.chars().count();
    let mut begun = false;
    for word in text.split_whitespace().flat_map(|word| pieces(word, COLUMNS - indent)) {
        let width = word.chars().count();
        if begun && used + 1 + width > COLUMNS {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if begun {
            out.push(' ');
            used += 1;
        }
        out.push_str(&word);
        used += width;
        begun = true;
    }
    out.push('\n');
    out
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(width).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let mut table = Table::labelled(3);
        table.row(["", "IOPS", "MB/s"]);
        table.row(["read", "1", "22"]);
        table.row(["total µ", "1,000"]);
        assert_eq!(table.render(), "          IOPS  MB/s\nread         1    22\ntotal µ  1,000\n");
    }

    #[test]
    fn wrapped_text_keeps_its_words_and_its_width() {
        let text = "a word and another ".repeat(20);
        let wrapped = wrap("label: ", 4, &text);
        assert!(wrapped.lines().all(|line| line.chars().count() <= COLUMNS), "{wrapped}");
        assert!(
            wrapped.lines().skip(1).all(|line| line.starts_with("    ") && !line.starts_with("     ")),
            "{wrapped}"
        );
        assert_eq!(wrapped.split_whitespace().skip(1).collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn a_word_that_no_line_holds_is_cut() {
        let wrapped = wrap("", 4, &format!("a {} z", "x".repeat(200)));
        assert!(wrapped.lines().all(|line| line.chars().count() <= COLUMNS), "{wrapped}");
        assert_eq!(wrapped.matches('x').count(), 200);
    }
}
