//! The way to an array that hosts share: direct, or over a fabric and through controllers.
//!
//! A request over a fabric goes at the rate of the slower of the fabric's ports and the array's link, and takes a core of
//! the controllers for `controller_ns`. All cores together take at most one request in `controller_ns / controller_cores`,
//! which is the array's rate of commands then; the rest of the request's time in the controllers is latency. So a lone
//! request takes exactly the sum of all parts, and many requests are bound as the cores are.

use crate::error::{Problem, ProfileError};
use crate::schema::FABRICS;
use crate::settings::Settings;
use card::LinkConfig;

/// The name of the choice without a fabric.
const DIRECT: &str = "direct";

/// The link of a card, as a host finds it behind the fabric that its file names.
pub(crate) fn over(settings: &Settings, link: LinkConfig) -> Result<LinkConfig, ProfileError> {
    if !settings.has_table("fabric") {
        return Ok(link);
    }
    let through = settings.text("fabric", "through")?;
    let Some(&table) = FABRICS.iter().find(|&&name| name == through && name != DIRECT) else { return Ok(link) };
    if !settings.has_table(table) {
        return Err(settings.wrong("fabric", "through", Problem::MissingTable { table }));
    }
    let number = |key| settings.count(table, key);
    let cores = settings.count("fabric", "controller_cores")?;
    let (latency_ns, controller_ns) = (number("latency_ns")?, number("controller_ns")?);
    let command_ns = |of_link: u64| of_link.max(controller_ns / cores);
    let (read_command_ns, write_command_ns) = (command_ns(link.read_command_ns), command_ns(link.write_command_ns));
    // A lone request takes its own command's time and the fabric's, whichever bounds the rate.
    let fabric_ns = latency_ns + controller_ns;
    Ok(LinkConfig {
        read_bytes_per_s: link.read_bytes_per_s.min(number("read_bytes_per_s")?),
        write_bytes_per_s: link.write_bytes_per_s.min(number("write_bytes_per_s")?),
        read_command_ns,
        write_command_ns,
        latency_ns: link.read_command_ns + fabric_ns + link.latency_ns - read_command_ns,
        write_latency_ns: link.write_command_ns + fabric_ns + link.write_latency_ns - write_command_ns,
        ..link
    })
}
