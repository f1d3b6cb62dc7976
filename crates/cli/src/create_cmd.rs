//! `flashrig create`: a card whose modules lie in files or on devices.

use crate::args::CreateArgs;
use crate::card_dir::{CardDir, New, Source};
use crate::drive_array::{self, Array};
use crate::error::Failure;
use crate::output::{pretty, print};
use crate::shelf_modules::{self, SecretFiles};
use crate::table::{Align, Table, wrap};
use crate::units::{capacity, counted, io_size};
use crate::view;
use device::SECTOR_BYTES;
use profile::DriveArray;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The card that is made where nobody names one.
const USUAL_CARD: &str = "tachion-400";

pub fn create(args: &CreateArgs) -> Result<ExitCode, Failure> {
    if !args.shelf.is_empty() {
        let modules = shelf_modules::all_of(&args.shelf, &SecretFiles::of(args).options()?)?;
        return create(&CreateArgs { shelf: Vec::new(), modules, ..args.clone() });
    }
    if args.card.is_none() && !args.modules.is_empty() {
        let (array, _folder) = drive_array::prepare(args)?;
        let source = Source::Text { name: DriveArray::NAME, text: &array.text };
        return make(args, source, Some(array.user_bytes), Some(&array));
    }
    let source = Source::Named(args.card.as_deref().unwrap_or(USUAL_CARD));
    make(args, source, args.size.map(|size| size.0), None)
}

fn make(
    args: &CreateArgs,
    source: Source,
    user_bytes: Option<u64>,
    array: Option<&Array>,
) -> Result<ExitCode, Failure> {
    let settings = &args.settings;
    let shards = array.map(|array| array.shards).or(args.shards);
    let (modules, overwrite) = (&args.modules, args.destroy_data);
    let new = New { source, settings, user_bytes, shards, modules, overwrite, secret_files: SecretFiles::of(args) };
    let (made, module_bytes) = CardDir::create(&args.dir, &new)?;
    let user_bytes = made.user_bytes;
    let (width, parity) = (made.config.ftl.stripe_width, made.config.ftl.parity_units);
    if let Some((shelf, units)) = shelf_modules::weakest(&made.modules, width, parity) {
        let lost = counted(units.into(), "module");
        eprintln!(
            "flashrig: the loss of the shelf {shelf} takes {lost} of a stripe, and parity stands for {parity}: the card would \
             stop"
        );
    }
    let paths: Vec<String> = made.paths().iter().map(|path| path.display().to_string()).collect();
    if args.json {
        let mut result = json!({
            "dir": args.dir,
            "card": made.profile.name(),
            "user_bytes": user_bytes,
            "modules": paths,
            "module_bytes": module_bytes,
            "shards": made.shards,
        });
        if let Some(array) = array {
            result["array"] = json_of(array, &made);
        }
        print(&pretty(&result))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([Align::Left, Align::Left]);
    table.row(["card", made.profile.title()]);
    table.row(["a host sees", &capacity(user_bytes)]);
    table.row(["modules", &format!("{} of {}", paths.len(), capacity(module_bytes))]);
    if made.shards > 1 {
        table.row(["shards", &made.shards.to_string()]);
    }
    if array.is_some() {
        let unit = io_size(made.config.nand.geometry.page_bytes.into());
        table.row(["units", &format!("{unit}, a stripe over {} modules", made.config.ftl.stripe_width)]);
        table.row(["buffer", &io_size(buffer_bytes(&made))]);
    }
    table.row(["durable", "what was flushed, or written with FUA"]);
    let said = array.map(|array| words(array, args.quick)).unwrap_or_default();
    let dir = args.dir.display();
    print(&format!("{said}{}\nServe it: flashrig serve {dir} --nbd unix:{dir}/nbd.sock\n", table.render()))?;
    Ok(ExitCode::SUCCESS)
}

fn buffer_bytes(made: &CardDir) -> u64 {
    u64::from(made.config.buffer_sectors) * u64::from(made.shards) * SECTOR_BYTES
}

/// The sweep of an array, and what a person should know of its drives.
fn words(array: &Array, is_quick: bool) -> String {
    let mut text = match &array.measured {
        Some(measured) => view::sweep(&measured.swept, &measured.choice),
        None => {
            let why = if is_quick { "Nothing was measured (--quick)" } else { "Modules on shelves are not measured" };
            format!("{why}: units and buffer have their default sizes.\n")
        }
    };
    if let Some(smallest) = &array.smallest {
        let (path, size, unused) =
            (smallest.path.display(), capacity(smallest.size_bytes), capacity(smallest.unused_bytes));
        let note = format!("The smallest drive counts: {path} has {size}, and {unused} of the others stay unused.");
        text.push_str(&wrap("", 0, &note));
    }
    text.push('\n');
    text
}

fn json_of(array: &Array, made: &CardDir) -> Value {
    json!({
        "unit_bytes": made.config.nand.geometry.page_bytes,
        "stripe_width": made.config.ftl.stripe_width,
        "buffer_bytes": buffer_bytes(made),
        "measured": array.measured.is_some(),
        "sweep": array.measured.as_ref().map(|measured| &measured.swept),
        "smallest": array.smallest.as_ref().map(|smallest| json!({
            "module": smallest.path,
            "size_bytes": smallest.size_bytes,
            "unused_bytes": smallest.unused_bytes,
        })),
    })
}
