//! docs/module-files.md shows what the code writes.

#[test]
fn the_diagrams_of_the_format_are_those_of_the_code() {
    let doc = include_str!("../../../../docs/module-files.md");
    let drawn: Vec<&str> = doc.lines().map(str::trim).collect();
    let sources = [
        include_str!("../../src/layout.rs"),
        include_str!("../../src/superblock.rs"),
        include_str!("../../src/table.rs"),
        include_str!("../../src/frame.rs"),
        include_str!("../../src/record.rs"),
    ];
    for source in sources {
        let diagram: Vec<&str> = source
            .split("//! ```text\n")
            .nth(1)
            .and_then(|rest| rest.split("//! ```\n").next())
            .expect("a diagram")
            .lines()
            .map(|line| line.trim_start_matches("//!").trim())
            .collect();
        assert!(diagram.len() > 5);
        let is_there = drawn.windows(diagram.len()).any(|lines| lines == diagram);
        assert!(is_there, "docs/module-files.md lacks\n{}", diagram.join("\n"));
    }
}
