//! A card, served, attached, formatted and mounted.

use crate::device::{Device, Power};
use crate::guard::Guard;
use crate::mounted::programs::{make_file_system, mount};
use crate::mounted::undo::unmount_for_good;
use crate::mounted::work::{self, Names};
use crate::mounted::{MountedError, undo};
use attach::{Records, Source};
use control::{Client, Insert, Pull};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the server has to be ready.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// How long a module may be rebuilt.
const REBUILT_WITHIN: Duration = Duration::from_secs(900);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The word that tells a guard to undo a work directory: see [`undo`].
pub const GUARDED: &str = "card";

/// The card that is mounted, and the program that serves it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server and the guard: this program.
    pub program: PathBuf,
    /// The server's arguments that describe the card; the places where it is mounted and controlled come on top.
    pub serve: Vec<OsString>,
    /// It has a control socket: its power can be cut.
    pub is_controlled: bool,
    /// The card's description, for people.
    pub title: String,
    /// Acknowledged writes survive a power cut without a flush.
    pub power_loss_protection: bool,
    /// The modelled device has platters that turn.
    pub rotational: bool,
    /// Modules that can be pulled with all data still there.
    pub modules: u32,
    /// Memory that its contents may come to take, in bytes; 0: they lie elsewhere.
    pub memory_bytes: u64,
}

/// A card that is mounted, until it is dropped or [`Mounted::end`] is called.
pub struct Mounted {
    options: Options,
    work: PathBuf,
    names: Names,
    device: PathBuf,
    number: String,
    server: Option<Child>,
    guard: Option<Guard>,
    _lock: File,
}

impl Mounted {
    /// Serves, attaches, formats and mounts it. Where that does not work, nothing is left.
    pub fn new(options: Options) -> Result<Mounted, MountedError> {
        if !rustix::process::geteuid().is_root() {
            return Err(MountedError::NotRoot);
        }
        let (work, lock) = work::make()?;
        let names = Names::of(&work);
        let guard = Guard::start(&options.program, GUARDED, &[&work]).map_err(MountedError::io(&options.program));
        let mut mounted = Mounted {
            options,
            names,
            device: PathBuf::new(),
            number: String::new(),
            server: None,
            guard: None,
            _lock: lock,
            work,
        };
        mounted.guard = Some(guard?);
        mounted.serve()?;
        let source = Source::parse(&mounted.names.card.join("disk").display().to_string())?;
        let made = attach::attach(&source, false, &Records::default(), |_| {})?;
        mounted.device = made.device;
        let found = fs::metadata(&mounted.device).map_err(MountedError::io(&mounted.device))?;
        mounted.number = format!("{}:{}", rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
        make_file_system(&mounted.device)?;
        mount(&mounted.device, &mounted.names.data)?;
        let all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&mounted.names.data, all).map_err(MountedError::io(&mounted.names.data))?;
        Ok(mounted)
    }

    /// The directory on the card.
    pub fn dir(&self) -> &Path {
        &self.names.data
    }

    /// Everything that the server has said so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.names.log).unwrap_or_default()
    }

    /// The server has ended, though nobody told it to: how.
    pub fn ended(&mut self) -> Option<MountedError> {
        let status = self.server.as_mut()?.try_wait().ok()??;
        let said = fs::read_to_string(&self.names.log).unwrap_or_default();
        Some(MountedError::Ended { status, said: last_words(&said).into() })
    }

    /// Undoes everything, and returns the errors of steps that did not work.
    pub fn end(mut self) -> Vec<MountedError> {
        self.undo()
    }

    fn serve(&mut self) -> Result<(), MountedError> {
        let log = File::create(&self.names.log).map_err(MountedError::io(&self.names.log))?;
        let mut command = Command::new(&self.options.program);
        command.arg("serve").args(&self.options.serve).arg("--fuse").arg(&self.names.card);
        if self.options.is_controlled {
            command.arg("--control").arg(&self.names.control);
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(MountedError::io(&self.options.program))?;
        fs::write(&self.names.server, child.id().to_string()).map_err(MountedError::io(&self.names.server))?;
        let child = self.server.insert(child);
        let began = Instant::now();
        let disk = self.names.card.join("disk");
        while !disk.exists() || (self.options.is_controlled && !self.names.control.exists()) {
            if child.try_wait().map_err(MountedError::io(&self.names.server))?.is_some() {
                let said = fs::read_to_string(&self.names.log).unwrap_or_default();
                return Err(MountedError::Server { said: last_words(&said).into() });
            }
            if began.elapsed() > READY_WITHIN {
                return Err(MountedError::NotReady { seconds: READY_WITHIN.as_secs(), log: self.names.log.clone() });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn undo(&mut self) -> Vec<MountedError> {
        let Some(guard) = self.guard.take() else { return Vec::new() };
        let errors = undo(&self.work);
        if let Some(mut server) = self.server.take() {
            // It was told to end, or killed.
            let _ = server.wait();
        }
        drop(guard);
        errors
    }

    fn client(&self) -> Result<Client, String> {
        Client::new(self.names.control.clone()).map_err(|error| error.to_string())
    }
}

fn last_words(said: &str) -> String {
    said.lines().last().unwrap_or("nothing").trim_start_matches("flashrig: error: ").to_owned()
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A caller that wants to know the errors calls `end`.
        let _ = self.undo();
        // Without a guard there was nothing but the directory.
        let _ = undo(&self.work);
    }
}

impl Device for Mounted {
    fn title(&self) -> String {
        self.options.title.clone()
    }

    fn block_device(&self) -> Option<String> {
        Some(self.number.clone())
    }

    fn power_loss_protection(&self) -> Option<bool> {
        Some(self.options.power_loss_protection)
    }

    fn volatile_write_cache(&self) -> Option<bool> {
        Some(!self.options.power_loss_protection)
    }

    fn rotational(&self) -> bool {
        self.options.rotational
    }

    fn memory_bytes(&self) -> u64 {
        self.options.memory_bytes
    }

    fn power(&self) -> Option<&dyn Power> {
        self.options.is_controlled.then_some(self as &dyn Power)
    }
}

impl Power for Mounted {
    fn how(&self) -> String {
        "the card's server is told to cut the power (flashrig ctl CARD power cut)".into()
    }

    fn cut(&self) -> Result<(), String> {
        self.client()?.power_cut().map(drop).map_err(|error| error.to_string())
    }

    fn restore(&self) -> Result<(), String> {
        // Everything that the kernel still holds of the file system fails, and is forgotten.
        unmount_for_good(&self.names.data).map_err(|error| error.to_string())?;
        self.client()?.power_on().map_err(|error| error.to_string())?;
        mount(&self.device, &self.names.data).map_err(|error| error.to_string())
    }

    fn modules(&self) -> u32 {
        self.options.modules
    }

    fn pull(&self, module: u32) -> Result<(), String> {
        self.client()?.pull(module, Pull::default()).map(drop).map_err(|error| error.to_string())
    }

    fn insert(&self, module: u32) -> Result<(), String> {
        let done = self.client()?.insert(module, &Insert { new: false, path: None });
        done.map(drop).map_err(|error| error.to_string())
    }

    fn rebuilt(&self) -> Result<(), String> {
        let client = self.client()?;
        let began = Instant::now();
        while client.status().map_err(|error| error.to_string())?.status.degraded {
            if began.elapsed() > REBUILT_WITHIN {
                return Err(format!("a module was not rebuilt within {} s", REBUILT_WITHIN.as_secs()));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}
