//! Messages on one line, for standard error.

/// A message on one line, whatever is in it: control characters are escaped, so that nothing that was typed or read can
/// move the cursor.
pub fn one_line(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// clap's message on one line: what is wrong, what is possible, what is near; usage and hints at --help are left out.
pub fn clap_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut out = String::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information")) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            out.push_str("; ");
            out.push_str(tip);
            continue;
        }
        if !out.is_empty() {
            out.push_str(if out.ends_with(':') || line.starts_with('[') { " " } else { ", " });
        }
        out.push_str(line.strip_prefix("error: ").unwrap_or(line));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(words: &str) -> String {
        clap_message(&crate::args::parse(words.split(' ')).unwrap_err())
    }

    #[test]
    fn messages_of_the_parser_are_one_line_with_the_nearest_name() {
        assert_eq!(message("flashrig shwo x"), "unrecognized subcommand 'shwo'; a similar subcommand exists: 'show'");
        let thread = message("flashrig run x --load rndwr --thread 8");
        assert!(
            thread.starts_with("unexpected argument '--thread' found; a similar argument exists: '--threads'"),
            "{thread}"
        );
        let load = message("flashrig run x --load rndwrr");
        assert!(
            load.contains("[possible values: seqwr,") && load.ends_with("a similar value exists: 'rndwr'"),
            "{load}"
        );
        assert_eq!(
            message("flashrig run"),
            "the following required arguments were not provided: --load <LOAD>, <CARD>"
        );
        let block = message("flashrig run x --load rndwr --block 1000");
        assert_eq!(block, "invalid value '1000' for '--block <SIZE>': must be a multiple of 512 bytes");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\u{1b}[2Jc µ"), "a\\nb\\u{1b}[2Jc µ");
    }
}
