//! The diagram of ARCHITECTURE.md: one line for each folder, the name before its question.

pub struct Diagram {
    lines: Vec<Line>,
}

/// A line of the diagram. Folders of the root may share one.
pub struct Line {
    pub folders: Vec<String>,
    pub question: String,
}

impl Diagram {
    /// The block of the page that begins the folder of crates; a page without one has an empty diagram.
    pub fn parse(page: &str) -> Diagram {
        let block = page.split("\n\n").find(|block| block.lines().any(|line| line.trim() == "crates/"));
        Diagram { lines: block.unwrap_or_default().lines().map(Line::parse).collect() }
    }

    /// Returns the line on which a folder stands.
    pub fn line_of(&self, folder: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.folders.iter().any(|name| name == folder))
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

impl Line {
    fn parse(line: &str) -> Line {
        let words: Vec<&str> = line.split_whitespace().collect();
        let folders = words.iter().take_while(|word| word.ends_with('/')).count();
        Line {
            folders: words[..folders].iter().map(|word| word.trim_end_matches('/').to_owned()).collect(),
            question: words[folders..].join(" "),
        }
    }
}
