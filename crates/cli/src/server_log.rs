//! The log of a server on standard error.

/// The events of the server's parts go to standard error, a line for each, in the form that `--log` names.
pub fn begin(how: &str) {
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::INFO);
    match how {
        "none" => {}
        "json" => lines.json().init(),
        _ => lines.with_target(false).init(),
    }
}
