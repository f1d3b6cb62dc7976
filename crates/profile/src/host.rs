//! A host's file: the machine in front of the device.

use crate::builtin;
use crate::error::ProfileError;
use crate::nearest::nearest;
use crate::profile::{is_path, read_file};
use crate::schema;
use crate::settings::Settings;
use crate::sources;
use crate::text::wrap;
use device::{Compressible, HostConfig};
use serde_json::{Value, json};
use std::path::Path;

/// Contents of a host's file.
#[derive(Clone, Debug)]
pub struct Host {
    name: String,
    settings: Settings,
    config: HostConfig,
}

impl Host {
    /// Names of the built-in hosts, sorted.
    pub fn builtin_names() -> impl ExactSizeIterator<Item = &'static str> {
        builtin::HOSTS.iter().map(|(name, _)| *name)
    }

    /// A built-in host.
    pub fn builtin(name: &str) -> Result<Host, ProfileError> {
        let text = builtin::find(builtin::HOSTS, name).ok_or_else(|| ProfileError::UnknownHost {
            name: name.into(),
            nearest: nearest(name, Host::builtin_names()),
        })?;
        Host::parse(text, &format!("{name}.toml"))
    }

    /// A host from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Host, ProfileError> {
        let path = path.as_ref();
        Host::parse(&read_file(path)?, &path.display().to_string())
    }

    /// A built-in host by name, or a file where the text looks like a path: it ends in `.toml` or has a `/`.
    pub fn open(name_or_path: &str) -> Result<Host, ProfileError> {
        if is_path(name_or_path) { Host::load(name_or_path) } else { Host::builtin(name_or_path) }
    }

    /// A host from a file's text.
    pub fn parse(text: &str, file_name: &str) -> Result<Host, ProfileError> {
        let settings = Settings::parse(&schema::HOST, text, file_name)?;
        settings.text("host", "title")?;
        let config = lower(&settings)?;
        let name = Path::new(file_name).file_stem().map_or(file_name.into(), |s| s.to_string_lossy());
        Ok(Host { name: name.into_owned(), settings, config })
    }

    /// Overrides a number: `host.cores=8`.
    pub fn set(&mut self, assignment: &str) -> Result<(), ProfileError> {
        let mut settings = self.settings.clone();
        settings.set(assignment)?;
        self.config = lower(&settings).map_err(|e| settings.blame_settings(e))?;
        self.settings = settings;
        Ok(())
    }

    /// The host's configuration.
    pub fn config(&self) -> HostConfig {
        self.config
    }

    /// The host's name: that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name, and what was changed of its file.
    pub fn in_words(&self) -> String {
        let changed = self.settings.changed().iter().map(|setting| format!(", {setting}"));
        std::iter::once(self.name.clone()).chain(changed).collect()
    }

    /// Returns the host's title.
    pub fn title(&self) -> &str {
        self.settings.text_if_any("host", "title").unwrap_or(&self.name)
    }

    /// The host in words, with the basis and source of each number, on lines of at most 80 columns.
    pub fn explain(&self) -> String {
        let title = wrap("", "  ", &format!("{}: {}", self.name, self.title()));
        format!("{title}\n{}", sources::table(&self.settings))
    }

    /// The host for results.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title(),
            "changed": self.settings.changed(),
            "settings": sources::values_json(&self.settings)["host"],
        })
    }
}

fn lower(settings: &Settings) -> Result<HostConfig, ProfileError> {
    let number = |key| settings.count("host", key);
    let share = |key| settings.real_if_any("host", key).unwrap_or(0.0);
    Ok(HostConfig {
        cores: settings.count32("host", "cores")?,
        session_ns: number("session_ns")?,
        submit_ns: number("submit_ns")?,
        complete_ns: number("complete_ns")?,
        contention: settings.real_if_any("host", "contention").ok_or_else(|| settings.missing("host", "contention"))?,
        count: settings.count_if_any("host", "count").map_or(1, |count| count as u32),
        link_bytes_per_s: settings.count_if_any("host", "link_bytes_per_s").unwrap_or(u64::MAX),
        compressible: Compressible::around(share("compressible"), share("compressible_spread")),
    })
}
