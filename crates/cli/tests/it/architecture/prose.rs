//! Comments are for a tired engineer at two in the morning: the subject comes first, and a doc comment says more than the
//! name below it.
//!
//! A sentence is headless when a clause stands where its subject should be: one that opens with *what*, *who*, *whose*,
//! *which* and their kin, or with *of* or *so many*, unless it is a question. Code blocks and tables are not read.

use super::finding::{Finding, Rule};
use super::tree::Crate;

/// A doc comment of no more words than this says nothing.
const MAX_EMPTY_WORDS: usize = 2;

const OPENINGS: [&str; 9] = ["what", "whatever", "who", "whoever", "whom", "whose", "which", "whichever", "of"];

pub fn headless(owner: &Crate) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &owner.sources {
        for comment in comments(&source.text) {
            for paragraph in comment.paragraphs() {
                for (line, sentence) in paragraph.sentences() {
                    if is_headless(&sentence) {
                        findings.push(finding(Rule::Headless, owner, &source.path, line, sentence));
                    }
                }
            }
        }
    }
    findings
}

pub fn short_docs(owner: &Crate) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &owner.sources {
        for comment in comments(&source.text).into_iter().filter(|comment| comment.kind != Kind::Plain) {
            let text: Vec<&str> = comment.lines.iter().map(|(_, line)| line.trim()).collect();
            let text = text.join(" ");
            let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            if words <= MAX_EMPTY_WORDS {
                findings.push(finding(Rule::ShortDoc, owner, &source.path, comment.lines[0].0, text));
            }
        }
    }
    findings
}

fn finding(rule: Rule, owner: &Crate, path: &str, line: usize, text: String) -> Finding {
    Finding { rule, owner: owner.name.clone(), place: format!("crates/{}/{path}:{line}", owner.name), text }
}

fn is_headless(sentence: &str) -> bool {
    if sentence.ends_with('?') {
        return false;
    }
    let mut words = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').to_lowercase());
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    match (first.as_str(), second.as_str()) {
        ("of", "course") => false,
        ("so", second) => matches!(second, "many" | "much" | "few"),
        (first, _) => OPENINGS.contains(&first),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Outer,
    Inner,
}

/// Comment lines that stand together, each with its number.
#[derive(Debug)]
struct Comment {
    kind: Kind,
    lines: Vec<(usize, String)>,
}

/// Lines that run on: between blank ones, headings, items of lists and code.
struct Paragraph {
    lines: Vec<(usize, String)>,
}

impl Comment {
    fn paragraphs(&self) -> Vec<Paragraph> {
        let mut paragraphs: Vec<Paragraph> = vec![Paragraph { lines: Vec::new() }];
        let mut code = false;
        for (number, line) in &self.lines {
            let text = line.trim();
            if text.starts_with("```") {
                code = !code;
            }
            let item = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)).or_else(|| numbered(text));
            let skipped =
                code || text.is_empty() || ["```", "#", "|", "    "].iter().any(|mark| text.starts_with(mark));
            if skipped || item.is_some() {
                paragraphs.push(Paragraph { lines: Vec::new() });
            }
            if !skipped {
                let paragraph = paragraphs.last_mut().expect("the first one was there before");
                paragraph.lines.push((*number, item.unwrap_or(text).to_owned()));
            }
        }
        paragraphs.retain(|paragraph| !paragraph.lines.is_empty());
        paragraphs
    }
}

/// The rest of an item of a numbered list.
fn numbered(text: &str) -> Option<&str> {
    let (number, rest) = text.split_once(". ")?;
    (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit())).then_some(rest)
}

impl Paragraph {
    /// The sentences, each with the line on which it begins.
    fn sentences(&self) -> Vec<(usize, String)> {
        let mut sentences: Vec<(usize, String)> = Vec::new();
        let mut ended = true;
        for (number, line) in &self.lines {
            for word in line.split_whitespace() {
                let opens = word.trim_start_matches(|c: char| !c.is_alphanumeric());
                let capital = word.starts_with('`') || opens.starts_with(char::is_uppercase);
                if sentences.is_empty() || (ended && capital) {
                    sentences.push((*number, word.to_owned()));
                } else if let Some((_, sentence)) = sentences.last_mut() {
                    sentence.push(' ');
                    sentence.push_str(word);
                }
                let word = word.trim_end_matches(['"', '\'', ')', '*', '_', '`']);
                ended = word.ends_with(['.', '!', '?']);
            }
        }
        sentences
    }
}

/// Comments of a file, those on lines of their own put together. Text in literals is none.
fn comments(text: &str) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let mut scanner = Scanner { rest: text, line: 1, line_has_code: false };
    // The line and the kind with which a comment on the next line would run on.
    let mut open: Option<(usize, Kind)> = None;
    while let Some(comment) = scanner.next_comment() {
        let runs_on = open == Some((comment.line, comment.kind)) && !comment.behind_code;
        let last = comment.line + comment.text.lines().count().max(1) - 1;
        let lines = comment.text.lines().enumerate().map(|(offset, line)| (comment.line + offset, line.to_owned()));
        match found.last_mut() {
            Some(before) if runs_on => before.lines.extend(lines.chain(empty_line(&comment))),
            _ => found.push(Comment { kind: comment.kind, lines: lines.chain(empty_line(&comment)).collect() }),
        }
        open = Some((last + 1, comment.kind));
    }
    found
}

/// `str::lines` has none for an empty text, but `//` alone ends a paragraph.
fn empty_line(comment: &Scanned) -> Option<(usize, String)> {
    comment.text.is_empty().then(|| (comment.line, String::new()))
}

struct Scanned<'a> {
    kind: Kind,
    line: usize,
    text: &'a str,
    behind_code: bool,
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
    line_has_code: bool,
}

impl<'a> Scanner<'a> {
    fn next_comment(&mut self) -> Option<Scanned<'a>> {
        while let Some(first) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                let whole = self.take(end);
                let (kind, marks) = match whole.as_bytes() {
                    [_, _, b'/', b'/', ..] => (Kind::Plain, 2),
                    [_, _, b'/', ..] => (Kind::Outer, 3),
                    [_, _, b'!', ..] => (Kind::Inner, 3),
                    _ => (Kind::Plain, 2),
                };
                return Some(self.scanned(kind, self.line, &whole[marks..]));
            }
            if self.rest.starts_with("/*") {
                let line = self.line;
                let whole = self.take(block_end(self.rest));
                let (kind, marks) = match whole.as_bytes() {
                    [_, _, b'*', next, ..] if *next != b'*' && *next != b'/' => (Kind::Outer, 3),
                    [_, _, b'!', ..] => (Kind::Inner, 3),
                    _ => (Kind::Plain, 2),
                };
                let text = whole[marks.min(whole.len())..].trim_end_matches("*/");
                return Some(self.scanned(kind, line, text));
            }
            let length = literal_end(self.rest).unwrap_or(first.len_utf8());
            self.line_has_code |= !first.is_whitespace();
            self.take(length);
        }
        None
    }

    fn scanned(&self, kind: Kind, line: usize, text: &'a str) -> Scanned<'a> {
        Scanned { kind, line, text, behind_code: self.line_has_code }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        let lines = taken.matches('\n').count();
        self.line += lines;
        if lines > 0 {
            self.line_has_code = false;
        }
        self.rest = rest;
        taken
    }
}

fn block_end(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Returns the length of a literal or a word that begins here. Words are taken whole, so that the `r` of `for"` opens
/// no raw string.
fn literal_end(text: &str) -> Option<usize> {
    let word: usize = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
    let (prefix, rest) = text.split_at(word);
    let raw = matches!(prefix, "r" | "br" | "cr");
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    if raw && rest[hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let body = word + hashes + 1;
        return Some(text[body..].find(&end).map_or(text.len(), |at| body + at + end.len()));
    }
    if matches!(prefix, "" | "b" | "c") && rest.starts_with('"') {
        return Some(word + quoted_end(rest, '"'));
    }
    if matches!(prefix, "" | "b") && rest.starts_with('\'') {
        let mut chars = rest.chars().skip(1);
        let (first, second) = (chars.next(), chars.next());
        // `'a'` and `'\n'` are characters, `'a` is a lifetime.
        let is_character = first == Some('\\') || second == Some('\'');
        return Some(word + if is_character { quoted_end(rest, '\'') } else { 1 });
    }
    (word > 0).then_some(word)
}

fn quoted_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headless_in(text: &str) -> Vec<(String, String)> {
        let example = Crate::example(&[("src/lib.rs", text)]);
        headless(&example).into_iter().map(|finding| (finding.place, finding.text)).collect()
    }

    #[test]
    fn a_headless_sentence_is_found_in_every_kind_of_comment() {
        for text in [
            "//! What is read.\n",
            "/// Whoever asks waits.\nfn f() {}",
            "fn f() {} // Which one it is.",
            "/* Of two. */",
        ] {
            assert_eq!(headless_in(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn the_second_sentence_is_found_on_its_line() {
        let found = headless_in(
            "fn f() {\n    // The card waits. It sleeps\n    // a while. What was asked\n    // is lost.\n}",
        );
        assert_eq!(found, [("crates/example/src/lib.rs:3".to_owned(), "What was asked is lost.".to_owned())]);
    }

    #[test]
    fn openings_in_small_letters_and_in_items_of_a_list_are_found() {
        assert_eq!(headless_in("// so many are left").len(), 1);
        assert_eq!(headless_in("// There are two:\n// - who asks\n// - the answer").len(), 1);
    }

    #[test]
    fn questions_and_plain_sentences_are_fine() {
        for text in [
            "//! What is flash?\n",
            "// So far so good.",
            "// Of course.",
            "// The one which is what it was.",
            "// Whether.",
        ] {
            assert!(headless_in(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn code_and_text_in_literals_is_not_read() {
        let code = "/// A call.\n///\n/// ```\n/// // What.\n/// ```\nfn f() {}";
        assert!(headless_in(code).is_empty());
        let literals = r##"const A: &str = "// What"; const B: &str = r#""// What"#; const C: char = '"'; // Fine."##;
        assert!(headless_in(literals).is_empty());
        let behind = "fn f<'a>(_: &'a str) -> char { '\\'' } // What follows a lifetime.";
        assert_eq!(headless_in(behind).len(), 1);
    }

    #[test]
    fn a_doc_comment_of_two_words_is_found_and_a_plain_comment_is_not() {
        let example = Crate::example(&[(
            "src/lib.rs",
            "/// Which.\nstruct A;\n/// The card.\nstruct B;\n/// The card's serial.\nstruct C;\n// Why.\nstruct D;",
        )]);
        let found: Vec<_> = short_docs(&example).into_iter().map(|finding| finding.place).collect();
        assert_eq!(found, ["crates/example/src/lib.rs:1", "crates/example/src/lib.rs:3"]);
    }
}
