//! `flashrig create`: a card whose modules lie in files or on devices.

use crate::args::CreateArgs;
use crate::card_dir::{CardDir, New};
use crate::error::Failure;
use crate::output::{pretty, print};
use crate::table::{Align, Table};
use crate::units::capacity;
use device::SECTOR_BYTES;
use serde_json::json;
use std::process::ExitCode;

pub fn create(args: &CreateArgs) -> Result<ExitCode, Failure> {
    let new = New {
        card: &args.card,
        settings: &args.settings,
        user_bytes: args.size.map(|size| size.0),
        modules: &args.modules,
        overwrite: args.destroy_data,
    };
    let (made, module_bytes) = CardDir::create(&args.dir, &new)?;
    let user_bytes = made.config.ftl.user_sectors * SECTOR_BYTES;
    let paths: Vec<String> = made.paths().iter().map(|path| path.display().to_string()).collect();
    if args.json {
        print(&pretty(&json!({
            "dir": args.dir,
            "card": made.profile.name(),
            "user_bytes": user_bytes,
            "modules": paths,
            "module_bytes": module_bytes,
        })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([Align::Left, Align::Left]);
    table.row(["card", made.profile.title()]);
    table.row(["a host sees", &capacity(user_bytes)]);
    table.row(["modules", &format!("{} of {}", paths.len(), capacity(module_bytes))]);
    table.row(["durable", "what was flushed, or written with FUA"]);
    let dir = args.dir.display();
    print(&format!("{}\nServe it: flashrig serve {dir} --nbd unix:{dir}/nbd.sock\n", table.render()))?;
    Ok(ExitCode::SUCCESS)
}
