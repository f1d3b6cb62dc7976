//! `flashrig top`: a running card, watched in the terminal.

mod frame;
mod look;

use crate::args::TopArgs;
use crate::cancel;
use crate::error::{Failure, StreamFailure};
use crate::output::print;
use control::{Client, find_socket};
use look::{Look, Watched};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::text::Text;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Bound on the time for an answer before it is said that there is none.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bound on the time for which keys may wait.
const KEYS: Duration = Duration::from_millis(100);
/// Exit code of a program whose terminal is gone: 128 + SIGHUP.
const HUNG_UP: i32 = 129;
/// Size of a frame that is printed.
const PRINTED: (u16, u16) = (80, 24);

pub fn top(args: &TopArgs) -> Result<ExitCode, Failure> {
    let client = Client::new(find_socket(args.card.as_deref())?)?.with_patience(PATIENCE);
    let mut watched = Watched::new(Look::at(&client)?);
    if args.once {
        std::thread::sleep(args.interval);
        watched.add(Look::at(&client)?);
        let (width, height) = PRINTED;
        print(&frame::plain(&frame::frame(&watched, None, width, height)))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(StreamFailure::NoTerminal.into());
    }
    cancel::listen()?;
    end_with_terminal();
    // From here on a panic gives the terminal back before it says what it has to say.
    let mut terminal = ratatui::try_init().map_err(StreamFailure::Terminal)?;
    let watched = watch(&client, &mut terminal, watched, args.interval);
    ratatui::try_restore().map_err(StreamFailure::Terminal)?;
    watched.map_err(StreamFailure::Terminal)?;
    Ok(ExitCode::SUCCESS)
}

/// Ends the program when its terminal is gone: nobody watches any more, and crossterm would read from it for ever.
fn end_with_terminal() {
    std::thread::spawn(|| {
        let stdin = stdin();
        // That it hung up is told whether it is asked for or not.
        let mut asked = [PollFd::new(&stdin, PollFlags::empty())];
        loop {
            let told = poll(&mut asked, None).is_ok_and(|told| told > 0);
            if told && asked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                std::process::exit(HUNG_UP);
            }
        }
    });
}

/// Until somebody has seen enough.
fn watch(
    client: &Client,
    terminal: &mut ratatui::DefaultTerminal,
    mut watched: Watched,
    interval: Duration,
) -> std::io::Result<()> {
    let mut trouble: Option<String> = None;
    let mut next = Instant::now() + interval;
    loop {
        terminal.draw(|canvas| {
            let area = canvas.area();
            let lines = frame::frame(&watched, trouble.as_deref(), area.width, area.height);
            canvas.render_widget(Text::from(lines), area);
        })?;
        // A new size is drawn at once.
        while Instant::now() < next {
            if cancel::requested() {
                return Ok(());
            }
            let wait = next.saturating_duration_since(Instant::now()).min(KEYS);
            if !event::poll(wait)? {
                continue;
            }
            match event::read()? {
                Event::Key(key) if ends(key) => return Ok(()),
                Event::Resize(..) => break,
                _ => {}
            }
        }
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + interval;
        match Look::at(client) {
            Ok(look) => {
                watched.add(look);
                trouble = None;
            }
            // It may come back.
            Err(error) => trouble = Some(error.to_string()),
        }
    }
}

fn ends(key: KeyEvent) -> bool {
    let is_ctrl_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (is_ctrl_c || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc))
}
