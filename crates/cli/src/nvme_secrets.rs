//! The secrets of NVMe hosts and controllers, as options say them.

use crate::error::ServeFailure;
use serve::nvme::{Secret, Secrets};

/// Reads a secret that stands in an option, or in the file that the option names behind an @.
pub fn read(option: &'static str, text: &str) -> Result<Secret, ServeFailure> {
    let text = match text.strip_prefix('@') {
        None => text.to_owned(),
        Some(path) => std::fs::read_to_string(path).map_err(|source| ServeFailure::SecretFile {
            option,
            path: path.into(),
            source,
        })?,
    };
    text.trim().parse::<Secret>().map_err(|source| ServeFailure::Secret { option, source })
}

/// The secrets that the hosts of a server have to know; `None`: none of them is authenticated.
pub fn of_server(host: Option<&String>, controller: Option<&String>) -> Result<Option<Secrets>, ServeFailure> {
    let Some(host) = host else { return Ok(None) };
    let host = read("--nvme-secret", host)?;
    let controller = controller.map(|text| read("--nvme-controller-secret", text)).transpose()?;
    Ok(Some(Secrets { host, controller }))
}
