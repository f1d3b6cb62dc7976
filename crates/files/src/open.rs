//! Creates and opens module files.

use crate::buffer::Buffer;
use crate::disks::{Disks, Handle, IoKind, Make, Opened};
use crate::erase::Pages;
use crate::error::{FilesError, NoModuleReason};
use crate::files::{Files, Note, Options};
use crate::layout::{COPIES, Layout, MAX_SHARDS, best_log_bytes};
use crate::locked::LockedFiles;
use crate::look::ReadOnlyDisks;
use crate::marks::Marks;
use crate::module::{Die, Module, Slot, Sync, Syncs};
use crate::record;
use crate::ring::Ring;
use crate::sizes::PAGE_BYTES;
use crate::superblock::{NoSuperblock, Superblock};
use crate::table::{ENTRIES_PER_PAGE, ENTRY_BYTES, Entry};
use media::Shape;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The size of a request in long reads and writes.
const CHUNK_BYTES: u64 = 1 << 20;
/// The time that the requests in flight of a pulled module may take to end.
const LEAVING_LIMIT: Duration = Duration::from_secs(5);

fn ring() -> Result<Box<dyn Disks>, FilesError> {
    Ok(rings(1)?.remove(0))
}

/// A ring for each shard. They share the files.
fn rings(shards: u32) -> Result<Vec<Box<dyn Disks>>, FilesError> {
    let locked = LockedFiles::default();
    let ring = |_| Ok(Box::new(Ring::sharing(&locked)?) as Box<dyn Disks>);
    (0..shards).map(ring).collect::<io::Result<_>>().map_err(|error| FilesError::Io {
        path: PathBuf::from("io_uring"),
        action: "ask the kernel for it (it may be switched off: sysctl kernel.io_uring_disabled)",
        error,
    })
}

fn io_error(path: &Path, action: &'static str, result: i32) -> FilesError {
    let error = match result {
        0.. => io::ErrorKind::UnexpectedEof.into(),
        error => io::Error::from_raw_os_error(-error),
    };
    FilesError::Io { path: path.into(), action, error }
}

fn no_module(path: &Path, reason: NoModuleReason) -> FilesError {
    FilesError::NoModule { path: path.into(), reason }
}

/// The layout of the card: that of most modules, and among equals of the lowest slot. A foreign module does not decide.
fn most(loaded: &[(u32, Module)]) -> Option<Layout> {
    let of = |module: &Module| module.superblock.layout;
    let is_like = |one: Layout, other: Layout| (one.shape(), one.log_bytes()) == (other.shape(), other.log_bytes());
    let alike = |layout: Layout| loaded.iter().filter(|(_, module)| is_like(of(module), layout)).count();
    loaded.iter().rev().map(|(_, module)| of(module)).max_by_key(|layout| alike(*layout))
}

/// The smallest division of a file whose disk has such blocks.
fn least(shape: Shape, path: &Path, align_bytes: u32, log_bytes: u64) -> Result<Layout, FilesError> {
    if u64::from(align_bytes) > PAGE_BYTES {
        return Err(no_module(path, NoModuleReason::BlocksTooLarge { align_bytes }));
    }
    Layout::least_with_log(&shape, align_bytes, log_bytes).ok_or(FilesError::BadShape { shape })
}

/// A module that was read from its file, and for each page of its table the copies that must be written again.
struct Loaded {
    module: Module,
    anew: Vec<[bool; COPIES]>,
}

impl Files {
    /// Creates a module in each of these files, one for each slot, and opens them. Reserves the room for them.
    pub fn create(shape: Shape, paths: &[PathBuf], options: &Options) -> Result<Files, FilesError> {
        Files::create_on(ring()?, shape, paths, options)
    }

    /// The alignment that requests to a module at this path need, in bytes. Writes nothing.
    pub fn align_bytes(path: &Path) -> Result<u32, FilesError> {
        ring()?.align_bytes(path)
    }

    /// As [`Files::create`], for a card that is divided over shards, each of which has this shape: the files of each shard.
    pub fn create_shards(
        shape: Shape,
        shards: u32,
        paths: &[PathBuf],
        options: &Options,
    ) -> Result<Vec<Files>, FilesError> {
        Files::create_shards_on(rings(shards)?, shape, paths, options)
    }

    /// The least number of bytes that a module of a card takes at this path, whose shards have this shape. Writes nothing.
    pub fn module_bytes(shape: Shape, shards: u32, path: &Path) -> Result<u64, FilesError> {
        let align_bytes = ring()?.align_bytes(path)?;
        Files::module_bytes_of(shape, shards, path, align_bytes)
    }

    /// As [`Files::module_bytes`], at a place whose alignment is known.
    pub fn module_bytes_of(shape: Shape, shards: u32, path: &Path, align_bytes: u32) -> Result<u64, FilesError> {
        let least = least(shape, path, align_bytes, best_log_bytes(&shape))?;
        Ok(least.of_shard(0, shards).ok_or(FilesError::BadShape { shape })?.module_bytes())
    }

    /// Opens the modules of a card, by slot. A slot without a file, or whose file can't be used, is empty, and
    /// [`Files::notes`] says why; a file that another process has, or that belongs to another card, is an error.
    pub fn open(paths: &[Option<PathBuf>]) -> Result<Files, FilesError> {
        Files::open_on(ring()?, paths)
    }

    /// As [`Files::open`], for a card that is divided over shards: the files of each shard.
    pub fn open_shards(paths: &[Option<PathBuf>], shards: u32) -> Result<Vec<Files>, FilesError> {
        Files::open_shards_on(rings(shards)?, paths)
    }

    /// Opens the modules of a card read-only, as the next start would find them. Operations that would write fail with
    /// [`media::MediaError::Host`].
    pub fn look(paths: &[Option<PathBuf>]) -> Result<Files, FilesError> {
        Files::look_shard(paths, 0, 1)
    }

    /// As [`Files::look`], at a shard of a card that has so many.
    pub fn look_shard(paths: &[Option<PathBuf>], shard: u32, shards: u32) -> Result<Files, FilesError> {
        Files::look_shard_on(Files::read_only_disks(), (shard, shards), paths)
    }

    /// The disks on which modules in files lie, one for each shard. They share the files.
    pub fn disks(shards: u32) -> Result<Vec<Box<dyn Disks>>, FilesError> {
        rings(shards)
    }

    /// Disks that read modules in files, and change nothing.
    pub fn read_only_disks() -> Box<dyn Disks> {
        Box::new(ReadOnlyDisks::default())
    }

    /// As [`Files::look_shard`], on other disks, which change nothing.
    pub fn look_shard_on(
        disks: Box<dyn Disks>,
        shard: (u32, u32),
        paths: &[Option<PathBuf>],
    ) -> Result<Files, FilesError> {
        Files::open_with(disks, shard, paths, true)
    }

    /// Looks at modules that are none of this card, or not yet, at the places that its own disks reach.
    pub fn look_beside(&self, paths: &[Option<PathBuf>]) -> Result<Files, FilesError> {
        let disks = self.disks.beside().unwrap_or_else(Files::read_only_disks);
        Files::look_shard_on(disks, self.shard, paths)
    }

    /// There is something at a path, as the card's disks see it.
    pub fn is_there(&self, path: &Path) -> bool {
        self.disks.is_there(path)
    }

    /// As [`Files::create`], on other disks.
    pub fn create_on(
        disks: Box<dyn Disks>,
        shape: Shape,
        paths: &[PathBuf],
        options: &Options,
    ) -> Result<Files, FilesError> {
        Ok(Files::create_shards_on(vec![disks], shape, paths, options)?.remove(0))
    }

    /// As [`Files::create_shards`], on other disks, which share their files.
    pub fn create_shards_on(
        disks: Vec<Box<dyn Disks>>,
        shape: Shape,
        paths: &[PathBuf],
        options: &Options,
    ) -> Result<Vec<Files>, FilesError> {
        if paths.len() != shape.modules as usize {
            return Err(FilesError::Count { found: paths.len(), modules: shape.modules });
        }
        let shards = disks.len() as u32;
        let empty = |(shard, disks)| Files::empty(shape, (shard, shards), disks);
        let mut all: Vec<Files> = (0..).zip(disks).map(empty).collect();
        let first = &mut all[0];
        for (number, path) in paths.iter().enumerate() {
            if let Err(error) = first.create_module(path, options) {
                paths[..number].iter().for_each(|path| first.disks.unmake(path));
                return Err(error);
            }
        }
        for files in &mut all {
            for (slot, path) in (0..).zip(paths) {
                files.insert(slot, path)?;
            }
        }
        Ok(all)
    }

    /// As [`Files::open`], on other disks.
    pub fn open_on(disks: Box<dyn Disks>, paths: &[Option<PathBuf>]) -> Result<Files, FilesError> {
        Files::open_with(disks, (0, 1), paths, false)
    }

    /// As [`Files::open_shards`], on other disks, which share their files.
    pub fn open_shards_on(disks: Vec<Box<dyn Disks>>, paths: &[Option<PathBuf>]) -> Result<Vec<Files>, FilesError> {
        let shards = disks.len() as u32;
        (0..).zip(disks).map(|(shard, disks)| Files::open_with(disks, (shard, shards), paths, false)).collect()
    }

    fn open_with(
        disks: Box<dyn Disks>,
        shard: (u32, u32),
        paths: &[Option<PathBuf>],
        read_only: bool,
    ) -> Result<Files, FilesError> {
        let unknown = Shape {
            modules: paths.len() as u32,
            dies_per_module: 0,
            blocks_per_die: 0,
            rows_per_block: 0,
            unit_sectors: 0,
            payload_bytes: 0,
            rows_sharing_cells: 0,
        };
        let mut files = Files::empty(unknown, shard, disks);
        files.read_only = read_only;
        let (mut first_error, mut loaded) = (None, Vec::new());
        let (mut read, mut failed) = (Vec::new(), Vec::new());
        for (slot, path) in (0..).zip(paths) {
            let Some(path) = path else { continue };
            match files.load(path, slot) {
                Ok(module) => read.push((slot, module)),
                Err(error @ FilesError::InUse { .. }) => return Err(error),
                Err(error) => failed.push((slot, error)),
            }
        }
        for (slot, begun) in files.begin_sessions(read) {
            match begun {
                Ok(module) => loaded.push((slot, module)),
                Err(error) => failed.push((slot, error)),
            }
        }
        failed.sort_by_key(|(slot, _)| *slot);
        for (slot, error) in failed {
            files.notes.push(Note { slot, text: error.to_string() });
            first_error.get_or_insert(error);
        }
        let Some(layout) = most(&loaded) else {
            return Err(match first_error {
                Some(error) => FilesError::Nothing(Box::new(error)),
                None => FilesError::Count { found: 0, modules: unknown.modules },
            });
        };
        let modules = layout.shape().modules;
        if modules != unknown.modules {
            return Err(FilesError::Count { found: paths.len(), modules });
        }
        files.shape = *layout.shape();
        files.log_bytes = layout.log_bytes();
        for (slot, module) in loaded {
            files.put(slot, module)?;
        }
        let dies = files.shape.dies_per_module;
        files.slots.iter_mut().for_each(|slot| slot.dies.resize_with(dies as usize, || Die::Idle));
        Ok(files)
    }

    /// Waits until the files of pulled modules are free, with some patience: a module that was just pulled keeps its file
    /// locked until its requests in flight have ended.
    pub fn let_go(&mut self) {
        let began = Instant::now();
        while self.is_leaving() && began.elapsed() < LEAVING_LIMIT {
            let _ = self.disks.wait(Some(Duration::from_millis(10)));
            self.collect();
        }
    }

    /// Puts the module of a file into an empty slot.
    pub fn insert(&mut self, slot: u32, path: &Path) -> Result<(), FilesError> {
        let modules = self.shape.modules;
        let Some(state) = self.slots.get(slot as usize) else { return Err(FilesError::NoSlot { slot, modules }) };
        if state.module.is_some() {
            return Err(FilesError::Taken { slot });
        }
        self.let_go();
        self.notes.retain(|note| note.slot != slot);
        let read = self.load(path, slot)?;
        let (_, module) = self.begin_sessions(vec![(slot, read)]).remove(0);
        self.put(slot, module?)
    }

    fn put(&mut self, slot: u32, module: Module) -> Result<(), FilesError> {
        let (found, card) = (*module.superblock.layout.shape(), self.shape);
        let fields = [
            ("modules", found.modules, card.modules),
            ("dies", found.dies_per_module, card.dies_per_module),
            ("blocks per die", found.blocks_per_die, card.blocks_per_die),
            ("rows per block", found.rows_per_block, card.rows_per_block),
            ("sectors per unit", found.unit_sectors, card.unit_sectors),
            ("bytes per payload", found.payload_bytes, card.payload_bytes),
            ("rows sharing cells", found.rows_sharing_cells, card.rows_sharing_cells),
        ];
        let pages = |bytes: u64| (bytes / PAGE_BYTES) as u32;
        let log = ("pages of log", pages(module.superblock.layout.log_bytes()), pages(self.log_bytes));
        if let Some((field, found, card)) = fields.into_iter().chain([log]).find(|(_, found, card)| found != card) {
            self.disks.close(module.handle);
            return Err(FilesError::Shape { path: module.path, field, found, card });
        }
        let state = &mut self.slots[slot as usize];
        let dies = (0..card.dies_per_module).map(|_| Die::Idle).collect();
        *state = Slot { module: Some(module), visit: state.visit + 1, dies, sync: Sync::Idle };
        Ok(())
    }

    /// Creates a blank module of this card's shape in a file, to be inserted.
    pub fn create_module(&mut self, path: &Path, options: &Options) -> Result<(), FilesError> {
        let align_bytes = self.disks.align_bytes(path)?.max(options.align_bytes);
        let shape = self.shape;
        let (_, shards) = self.shard;
        let bad_shape = || FilesError::BadShape { shape };
        let least = least(shape, path, align_bytes, self.log_bytes)?.of_shard(0, shards).ok_or_else(bad_shape)?;
        let made = self.disks.make(path, Make { bytes: least.module_bytes(), overwrite: options.overwrite })?;
        let region_bytes = made.bytes / u64::from(shards) / PAGE_BYTES * PAGE_BYTES;
        let written = (0..shards).try_for_each(|shard| {
            let layout = Layout::with_log(&shape, least.align_bytes(), region_bytes, self.log_bytes);
            let layout = layout.and_then(|layout| layout.of_shard(shard, shards)).ok_or_else(bad_shape)?;
            self.write_blank(path, &made, layout)
        });
        self.disks.close(made.handle);
        if written.is_err() {
            self.disks.unmake(path);
        }
        written
    }

    fn write_blank(&mut self, path: &Path, made: &Opened, layout: Layout) -> Result<(), FilesError> {
        let file = self.disks.unique();
        // A record of the log is durable at once: its first write must not have a file system convert extents.
        let log = layout.log()..layout.log() + layout.log_bytes();
        let whole = layout.superblock(0)..layout.superblock(0) + layout.total_bytes();
        self.write_zeroes(path, made.handle, if made.is_zero { log } else { whole })?;
        let table = vec![Entry::BLANK; layout.blocks() as usize];
        for copy in 0..COPIES {
            self.write_table(path, made.handle, &layout, file, &table, copy, 0..layout.table_pages())?;
        }
        self.sync_now(path, made.handle)?;
        let superblock = Superblock { file, writes: 1, claim: 0, session: 0, layout, synced: Vec::new() };
        let (written, result) = self.write_superblocks(&[(made.handle, &superblock)]).remove(0);
        written.map_err(|_| io_error(path, "write its superblock", result))
    }

    fn write_zeroes(&mut self, path: &Path, handle: Handle, range: Range<u64>) -> Result<(), FilesError> {
        let mut offset = range.start;
        while offset < range.end {
            let mut buffer = self.pool.take((range.end - offset).min(CHUNK_BYTES) as usize);
            buffer.bytes_mut().fill(0);
            let len = buffer.bytes().len() as u64;
            self.write(path, handle, offset, buffer)?;
            offset += len;
        }
        Ok(())
    }

    fn write(&mut self, path: &Path, handle: Handle, offset: u64, buffer: Buffer) -> Result<(), FilesError> {
        let (written, result, buffer) = self.call(handle, IoKind::Write { durable: false }, offset, buffer);
        self.pool.give(buffer);
        written.map_err(|_| io_error(path, "write to it", result))
    }

    fn sync_now(&mut self, path: &Path, handle: Handle) -> Result<(), FilesError> {
        let (synced, result, _) = self.call(handle, IoKind::Sync, 0, Buffer::none());
        synced.map_err(|_| io_error(path, "sync it", result))
    }

    /// Writes pages of one copy of a table.
    #[expect(clippy::too_many_arguments, reason = "a file that is no module yet")]
    fn write_table(
        &mut self,
        path: &Path,
        handle: Handle,
        layout: &Layout,
        file: u64,
        table: &[Entry],
        copy: usize,
        pages: impl Iterator<Item = u32>,
    ) -> Result<(), FilesError> {
        for page in pages {
            let mut buffer = self.pool.take(PAGE_BYTES as usize);
            Pages::default().image(page, table, file, buffer.bytes_mut());
            self.write(path, handle, layout.table(copy, page), buffer)?;
        }
        Ok(())
    }

    /// Opens a file and reads the superblock and the tables of the module in it.
    fn load(&mut self, path: &Path, slot: u32) -> Result<Loaded, FilesError> {
        let opened = self.disks.open(path)?;
        let module = self.load_opened(path, &opened);
        match &module {
            Err(_) => self.disks.close(opened.handle),
            Ok(_) => {
                let text = opened.note.map(|note| format!("{}: {note}", path.display()));
                self.notes.extend(text.map(|text| Note { slot, text }));
            }
        }
        module
    }

    fn load_opened(&mut self, path: &Path, opened: &Opened) -> Result<Loaded, FilesError> {
        let handle = opened.handle;
        let mut superblock = self.read_superblock(path, opened)?;
        let layout = superblock.layout;
        if layout.module_bytes() > opened.bytes {
            let (found, bytes) = (opened.bytes, layout.module_bytes());
            return Err(FilesError::Truncated { path: path.into(), found, bytes });
        }
        if opened.align_bytes > layout.align_bytes() {
            let (disk_bytes, made_bytes) = (opened.align_bytes, layout.align_bytes());
            return Err(no_module(path, NoModuleReason::Alignment { made_bytes, disk_bytes }));
        }
        if superblock.is_used_up() {
            return Err(no_module(path, NoModuleReason::TooManySessions));
        }
        let (table, anew) = self.read_table(handle, &superblock);
        let records = [0, 1].map(|copy| {
            let page = self.read_pages(handle, layout.record(copy), 1);
            let synced = record::decode(superblock.file, &page);
            (synced, if synced > 0 { record::decode_marks(&page) } else { Vec::new() })
        });
        let (synced, marks) = records.into_iter().max_by_key(|(synced, _)| *synced).unwrap_or_default();
        superblock.begin_session(synced);
        superblock.writes += 1;
        let last_program = superblock.base();
        let syncs = Syncs { synced: last_program, recorded: last_program, ..Syncs::default() };
        let module = Module {
            path: path.into(),
            handle,
            superblock,
            is_claimed: false,
            table,
            pages: Pages::default(),
            ahead: Default::default(),
            frames: Default::default(),
            marks: Marks::of(marks),
            syncs,
            discards: (self.discards && opened.can_discard).then(Default::default),
            last_program,
        };
        Ok(Loaded { module, anew })
    }

    /// Begins the sessions of modules that were read: side by side, for each has to be durable.
    fn begin_sessions(&mut self, loaded: Vec<(u32, Loaded)>) -> Vec<(u32, Result<Module, FilesError>)> {
        let written = match self.read_only {
            true => vec![(Ok(()), 0); loaded.len()],
            false => {
                let modules = loaded.iter().map(|(_, Loaded { module, .. })| (module.handle, &module.superblock));
                self.write_superblocks(&modules.collect::<Vec<_>>())
            }
        };
        let begun = loaded.into_iter().zip(written).map(|((slot, Loaded { module, anew }), (written, result))| {
            let repaired = written
                .map_err(|_| io_error(&module.path, "write its superblock", result))
                .and_then(|()| self.repair_table(&module, &anew));
            if let Err(error) = repaired {
                self.disks.close(module.handle);
                return (slot, Err(error));
            }
            (slot, Ok(module))
        });
        begun.collect()
    }

    /// Writes the pages of the table again that one copy has lost. One copy is whole before the other is written.
    fn repair_table(&mut self, module: &Module, anew: &[[bool; COPIES]]) -> Result<(), FilesError> {
        let Module { path, handle, superblock, table, .. } = module;
        let copies = if self.read_only { 0..0 } else { 0..COPIES };
        for copy in copies {
            let pages: Vec<u32> = (0..).zip(anew).filter(|(_, anew)| anew[copy]).map(|(page, _)| page).collect();
            if !pages.is_empty() {
                self.write_table(path, *handle, &superblock.layout, superblock.file, table, copy, pages.into_iter())?;
                self.sync_now(path, *handle)?;
            }
        }
        Ok(())
    }

    fn read_superblock(&mut self, path: &Path, opened: &Opened) -> Result<Superblock, FilesError> {
        if opened.bytes < PAGE_BYTES {
            return Err(no_module(path, NoModuleReason::TooShort { bytes: opened.bytes }));
        }
        let front = Superblock::decode(&self.read_pages(opened.handle, 0, 1));
        // Any whole superblock tells where the regions lie.
        let guide = match &front {
            Ok(superblock) => Ok(superblock.layout),
            // A later version may have moved the other copy.
            Err(why @ NoSuperblock::Version(_)) => Err(*why),
            Err(why) => {
                self.layout_at_end(opened).map_err(|at_end| if *why == NoSuperblock::Magic { at_end } else { *why })
            }
        };
        let layout = guide.map_err(|why| no_module(path, why.into()))?;
        let ((_, found), (shard, shards)) = (layout.shard(), self.shard);
        if found != shards {
            return Err(FilesError::Shape { path: path.into(), field: "shards", found, card: shards });
        }
        let layout = layout.of_shard(shard, shards).ok_or_else(|| no_module(path, NoSuperblock::Field.into()))?;
        let copy = |files: &mut Files, offset: u64| match offset + PAGE_BYTES <= opened.bytes {
            true => Superblock::decode(&files.read_pages(opened.handle, offset, 1)),
            false => Err(NoSuperblock::Magic),
        };
        let first = if shard == 0 { front } else { copy(self, layout.superblock(0)) };
        let second = copy(self, layout.superblock(1));
        let newest = match (first, second) {
            (Ok(first), Ok(second)) if first.file == second.file && first.writes < second.writes => Ok(second),
            (Ok(first), _) => Ok(first),
            (Err(NoSuperblock::Magic | NoSuperblock::Checksum), Ok(second)) => Ok(second),
            (Err(why @ NoSuperblock::Version(_)), _) | (Err(NoSuperblock::Magic), Err(why)) | (Err(why), _) => Err(why),
        };
        newest
            .and_then(|superblock| if superblock.layout == layout { Ok(superblock) } else { Err(NoSuperblock::Field) })
            .map_err(|why| no_module(path, why.into()))
    }

    /// The layout that the last superblock of a file tells of. Regions of equal size may leave some pages behind the last
    /// one, less than one for each shard.
    fn layout_at_end(&mut self, opened: &Opened) -> Result<Layout, NoSuperblock> {
        let pages = opened.bytes / PAGE_BYTES;
        let mut last = Err(NoSuperblock::Magic);
        for page in (pages.saturating_sub(MAX_SHARDS.into())..pages).rev() {
            let found = Superblock::decode(&self.read_pages(opened.handle, page * PAGE_BYTES, 1));
            match found {
                Ok(superblock) => return Ok(superblock.layout),
                Err(why) if page + 1 == pages => last = Err(why),
                Err(_) => {}
            }
        }
        last
    }

    /// The table of a module, and for each page the copies that must be written again.
    fn read_table(&mut self, handle: Handle, superblock: &Superblock) -> (Vec<Entry>, Vec<[bool; COPIES]>) {
        let (layout, file) = (superblock.layout, superblock.file);
        let blocks = layout.blocks() as usize;
        let mut table = Vec::with_capacity(blocks);
        let mut anew = Vec::with_capacity(layout.table_pages() as usize);
        let chunk = (CHUNK_BYTES / PAGE_BYTES) as u32;
        for first in (0..layout.table_pages()).step_by(chunk as usize) {
            let pages = chunk.min(layout.table_pages() - first);
            let copies = [0, 1].map(|copy| self.read_pages(handle, layout.table(copy, first), pages));
            for page in 0..pages as usize {
                let mut to_write = [false; COPIES];
                for entry in 0..ENTRIES_PER_PAGE.min(blocks - table.len()) {
                    let block = table.len() as u32;
                    let at = page * PAGE_BYTES as usize + entry * ENTRY_BYTES;
                    let read = |copy: usize| Entry::decode(block, file, &copies[copy][at..][..ENTRY_BYTES]);
                    let (merged, anew) = Entry::merge([read(0), read(1)]);
                    table.push(merged);
                    to_write = [to_write[0] || anew[0], to_write[1] || anew[1]];
                }
                anew.push(to_write);
            }
        }
        (table, anew)
    }

    /// Reads pages; a page that can't be read is zeroes.
    pub(crate) fn read_pages(&mut self, handle: Handle, offset: u64, pages: u32) -> Vec<u8> {
        let buffer = self.pool.take(pages as usize * PAGE_BYTES as usize);
        let (read, _, buffer) = self.call(handle, IoKind::Read, offset, buffer);
        let mut bytes = vec![0; buffer.bytes().len()];
        if read.is_ok() {
            bytes.copy_from_slice(buffer.bytes());
        } else if pages > 1 {
            for (page, bytes) in bytes.chunks_exact_mut(PAGE_BYTES as usize).enumerate() {
                bytes.copy_from_slice(&self.read_pages(handle, offset + page as u64 * PAGE_BYTES, 1));
            }
        }
        self.pool.give(buffer);
        bytes
    }
}
