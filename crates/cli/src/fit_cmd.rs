//! `flashrig fit`: the card that would have measured like this. Exit code 1 when the fit is not good.

use crate::args::FitArgs;
use crate::call;
use crate::cancel;
use crate::compare_cmd;
use crate::error::{Failure, FitFailure, StreamFailure};
use crate::output::{TextSink, pretty, print};
use crate::progress::Watch;
use crate::view;
use profile::{Host, Profile};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use study::fit::{Assumed, Base, Fit, FitError, Input, Options, TableProblem};

/// Bytes of a table that are read: more than any has.
const MAX_TABLE_BYTES: u64 = 16 << 20;
/// How files begin that a fit has written.
const HEADS: [&str; 2] = ["# A card that measures like ", "# What an I/O costs the host"];

pub fn fit(args: &FitArgs) -> Result<ExitCode, Failure> {
    for path in args.out.iter().chain(&args.host_out) {
        check_place(path, args.overwrite)?;
    }
    if args.out.is_some() && args.out == args.host_out {
        return Err(FitFailure::NoCardFile { path: args.out.clone().unwrap_or_default() }.into());
    }
    let inputs = args.results.iter().map(|word| read(word)).collect::<Result<Vec<_>, _>>()?;
    let assumed = Assumed { fill: args.fill.0, ..Assumed::default() };
    let observed = study::fit::observe(&inputs, &assumed)?;
    let options = Options {
        base: args.base.as_deref().map(base).transpose()?,
        fit_host: args.host_out.is_some(),
        hold_out: args.hold_out.map(|n| n as usize),
        bound: args.bound.0,
        seed: args.seed,
        ..Options::new(host(args, &inputs)?)
    };
    cancel::listen()?;
    let fitted = {
        let watch = Watch::new();
        let call = call::current();
        let share = |question: &str| call.as_ref().and_then(|call| call.share(question));
        let shares = call.as_ref().is_some_and(|call| call.shares());
        study::fit::fit_with_others(&observed, &options, &watch, shares.then_some(&share))?
    };
    deliver(args, &fitted)
}

/// The files first: a fit takes minutes.
fn deliver(args: &FitArgs, fitted: &Fit) -> Result<ExitCode, Failure> {
    let write = fitted.good || args.force;
    let mut written = Ok(());
    if write {
        let host = args.host_out.as_deref().zip(fitted.host_toml.as_deref());
        let card = args.out.as_deref().map(|path| (path, fitted.card_toml.as_str()));
        written = card.into_iter().chain(host).try_for_each(|(path, text)| TextSink::replace(path, text));
    }
    if args.json {
        print(&pretty(&serde_json::to_value(fitted).expect("results have text keys")))?;
    } else {
        print(&view::fit(fitted, args.out.as_deref().filter(|_| write && written.is_ok())))?;
    }
    written?;
    Ok(if fitted.good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A card's name ends in .toml, which is how commands know it. A file that is there is not replaced, unless it was
/// asked for and a fit has written it.
fn check_place(path: &Path, overwrite: bool) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(FitFailure::NoCardFile { path: path.to_owned() }.into());
    }
    TextSink::probe(path)?;
    if fs::metadata(path).is_ok_and(|found| found.is_file()) {
        let mut head = String::new();
        let read = File::open(path).and_then(|file| file.take(64).read_to_string(&mut head));
        let ours = read.is_ok() && HEADS.iter().any(|known| head.starts_with(known));
        if !overwrite || !ours {
            return Err(FitFailure::CardFileExists { path: path.to_owned(), ours }.into());
        }
    }
    Ok(())
}

fn read(word: &str) -> Result<Input, Failure> {
    let input = |result| Input { file: word.to_owned(), result, circumstances: review::circumstances(word) };
    if !study::fit::is_table(word) {
        return Ok(input(compare_cmd::read(word)?));
    }
    let (path, device) = match word.rsplit_once(':') {
        Some((path, device)) if !Path::new(word).exists() => (path, Some(device)),
        _ => (word, None),
    };
    let mut text = String::new();
    let unreadable = |source: std::io::Error| FitError::Table {
        file: path.into(),
        problem: TableProblem::Unreadable(source.to_string().into()),
    };
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_TABLE_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    Ok(input(study::fit::read_table(path, &text, device)?))
}

/// A built-in card, or a file.
fn base(word: &str) -> Result<Base, Failure> {
    let profile = Profile::open(word)?;
    let text = match Profile::builtin_text(word) {
        Some(text) => text.to_owned(),
        None => fs::read_to_string(word).map_err(|source| StreamFailure::Unreadable { path: word.into(), source })?,
    };
    Ok(Base::card(profile.name(), &text))
}

/// As asked, as the table says, or as the result names it where that is one of ours.
fn host(args: &FitArgs, inputs: &[Input]) -> Result<Host, Failure> {
    let told = inputs.iter().find_map(|input| input.circumstances.as_ref().map(|c| c.host.as_str()));
    let mut named = inputs.iter().map(|input| input.result.host.name.as_str());
    let known = named.find(|name| Host::builtin_names().any(|known| known == *name));
    Ok(Host::open(args.host.as_deref().or(told).or(known).unwrap_or("default"))?)
}
