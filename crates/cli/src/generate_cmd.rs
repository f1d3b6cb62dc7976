//! `flashrig completions` and `flashrig man`: made from the definitions of the options.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::error::{Failure, StreamFailure};
use crate::output::print;
use clap::CommandFactory;
use std::process::ExitCode;

pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "flashrig", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    match &args.out {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(StreamFailure::Stdout)?;
            print(&String::from_utf8_lossy(&page))?;
        }
        Some(dir) => {
            let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir));
            written.map_err(|source| StreamFailure::Unwritable { path: dir.clone(), source })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
