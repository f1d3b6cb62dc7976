//! Modules on shelves as places for those of a card.

use crate::args::CreateArgs;
use crate::error::{Failure, ServeFailure, ShelfFailure};
use crate::nvme_secrets;
use files::PAGE_BYTES;
use serve::nvme::Secrets;
use serve::remote::{ModuleAddress, ModuleClient, RemoteError, RemoteOptions, ShelfAddress, discover};
use std::path::{Path, PathBuf};

/// The beginning of a superblock (docs/module-files.md).
pub const MODULE_MAGIC: &[u8; 8] = b"FLRMODUL";

/// The files of the secrets of a card's shelves. The card's description names them; it holds no secret itself.
#[derive(Clone, Debug, Default)]
pub struct SecretFiles {
    /// The file of the secret that this host knows.
    pub host: Option<PathBuf>,
    /// The file of the secret by which shelves prove themselves.
    pub controller: Option<PathBuf>,
}

impl SecretFiles {
    /// The files that a person has named for a new card.
    pub fn of(args: &CreateArgs) -> SecretFiles {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let of = |path: &Option<PathBuf>| path.as_ref().map(absolute);
        SecretFiles { host: of(&args.shelf_secret), controller: of(&args.shelf_controller_secret) }
    }

    /// The options of connections to the shelves of a card.
    pub fn options(&self) -> Result<RemoteOptions, ServeFailure> {
        let read = |option, path: &PathBuf| nvme_secrets::read(option, &format!("@{}", path.display()));
        let controller = self.controller.as_ref().map(|path| read("shelf_controller_secret", path)).transpose()?;
        let host = self.host.as_ref().map(|path| read("shelf_secret", path)).transpose()?;
        Ok(RemoteOptions { secrets: host.map(|host| Secrets { host, controller }), ..RemoteOptions::default() })
    }
}

/// The contents of a module, as far as they speak against a new card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    Nothing,
    Data,
    Module,
}

/// A module on a shelf that was looked at.
#[derive(Debug)]
pub struct ShelfModule {
    path: PathBuf,
    address: ModuleAddress,
    guid: [u8; 16],
    /// The size of the module.
    pub bytes: u64,
    /// Requests are multiples of this.
    pub block_bytes: u32,
    contents: Contents,
    /// The key of another host that holds the reservation.
    reserved: Option<u64>,
}

impl ShelfModule {
    /// Looks at a module, and changes nothing.
    pub fn look(path: &Path, options: &RemoteOptions) -> Result<ShelfModule, ShelfFailure> {
        let address: ModuleAddress = path.to_string_lossy().parse()?;
        let failed = |source| ShelfFailure::Module { path: path.into(), source };
        let mut client = ModuleClient::connect(&address, options).map_err(failed)?;
        let holder = client.report().map_err(failed)?.holder().copied();
        let (blocks, block_bytes) = client.size();
        let bytes = blocks * u64::from(block_bytes);
        let pages = bytes / PAGE_BYTES;
        let mut contents = Contents::Nothing;
        for page in [0, pages.saturating_sub(1)].into_iter().filter(|_| pages > 0) {
            let first = page * (PAGE_BYTES / u64::from(block_bytes));
            let found = client.read(first, (PAGE_BYTES / u64::from(block_bytes)) as u32).map_err(failed)?;
            contents = match contents {
                Contents::Module => Contents::Module,
                _ if found.starts_with(MODULE_MAGIC) => Contents::Module,
                _ if found.iter().any(|byte| *byte != 0) => Contents::Data,
                before => before,
            };
        }
        let reserved = holder.filter(|holder| holder.host != options.host.id).map(|holder| holder.key);
        let (path, guid) = (path.into(), client.guid());
        Ok(ShelfModule { path, address, guid, bytes, block_bytes, contents, reserved })
    }

    /// Both are one module, reached by two addresses.
    pub fn is(&self, other: &ShelfModule) -> bool {
        self.address == other.address || self.guid != [0; 16] && self.guid == other.guid
    }

    /// Refuses a module that is another host's, and one that holds something unless that may be overwritten.
    pub fn may_be_made(&self, overwrite: bool) -> Result<(), ShelfFailure> {
        let path = self.path.clone();
        match (self.reserved, self.contents) {
            (Some(key), _) => Err(ShelfFailure::Reserved { path, key }),
            (None, Contents::Module) if !overwrite => Err(ShelfFailure::HoldsModule { path }),
            (None, Contents::Data) if !overwrite => Err(ShelfFailure::HoldsData { path }),
            (None, _) => Ok(()),
        }
    }
}

/// All modules of some shelves, in an order in which neighbours lie on different ones where that is possible.
pub fn all_of(shelves: &[ShelfAddress], options: &RemoteOptions) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for shelf in shelves {
        let failed = |source: RemoteError| ShelfFailure::Shelf { shelf: shelf.clone(), source };
        let modules: Vec<PathBuf> =
            discover(shelf, options).map_err(failed)?.iter().map(|found| found.address.to_path()).collect();
        if modules.is_empty() {
            return Err(ShelfFailure::NoModules { shelf: shelf.clone() }.into());
        }
        found.push(modules);
    }
    Ok(spread(found))
}

/// Takes one of each shelf in turn. Shelves with more than others come first at each turn, so that what is left at the end
/// of the largest is as little as can be.
fn spread(mut shelves: Vec<Vec<PathBuf>>) -> Vec<PathBuf> {
    shelves.iter_mut().for_each(|modules| modules.reverse());
    let mut all = Vec::new();
    let mut last = None;
    loop {
        let left = |at: &usize| shelves[*at].len();
        let others = (0..shelves.len()).filter(|at| left(at) > 0 && Some(*at) != last);
        // Among equals the next one behind the last goes first, so that the order goes round.
        let behind = |at: &usize| (at + shelves.len() - last.map_or(0, |last| last + 1)) % shelves.len();
        let next = others.max_by_key(|at| (left(at), std::cmp::Reverse(behind(at))));
        let Some(at) = next.or(last).filter(|at| left(at) > 0) else { return all };
        all.extend(shelves[at].pop());
        last = Some(at);
    }
}

/// The number of shelves that the modules lie on, if all have equally many, and a stripe can have one unit on each.
pub fn even_shelves(modules: &[PathBuf]) -> Option<u32> {
    let of = |path: &PathBuf| ModuleAddress::of_path(path).map(|address| address.shelf);
    let shelves: Option<Vec<ShelfAddress>> = modules.iter().map(of).collect();
    let shelves = shelves?;
    let first = shelves.iter().skip(1).position(|shelf| *shelf == shelves[0]).map_or(shelves.len(), |at| at + 1);
    let goes_round = shelves.chunks(first).all(|round| round == &shelves[..first]);
    (goes_round && shelves.len().is_multiple_of(first)).then_some(first as u32)
}

/// The shelf whose loss takes more units of a stripe than parity stands for, and how many, if there is one.
pub fn weakest(modules: &[PathBuf], stripe_width: u32, spared: u32) -> Option<(ShelfAddress, u32)> {
    let of = |path: &PathBuf| ModuleAddress::of_path(path).map(|address| address.shelf);
    let shelves: Vec<Option<ShelfAddress>> = modules.iter().map(of).collect();
    let most = shelves.chunks(stripe_width.max(1) as usize).flat_map(|stripe| {
        let named = stripe.iter().flatten();
        named.map(|shelf| (shelf.clone(), stripe.iter().flatten().filter(|other| *other == shelf).count() as u32))
    });
    most.max_by_key(|(_, units)| *units).filter(|(_, units)| *units > spared)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(counts: &[usize]) -> Vec<PathBuf> {
        let of = |(shelf, count): (usize, &usize)| {
            (0..*count).map(|at| PathBuf::from(format!("nvme://shelf-{shelf}:4420/nqn.m{at}"))).collect()
        };
        spread(counts.iter().enumerate().map(of).collect())
    }

    fn order(counts: &[usize]) -> String {
        let digit = |path: &PathBuf| path.to_str().unwrap().chars().nth("nvme://shelf-".len()).unwrap();
        modules(counts).iter().map(digit).collect()
    }

    #[test]
    fn neighbours_lie_on_different_shelves_where_that_is_possible() {
        for (counts, expected) in [
            (&[2, 2, 2][..], "012012"),
            (&[1, 1, 1], "012"),
            (&[3, 1, 1], "01020"),
            (&[1, 3], "1011"),
            (&[3], "000"),
            (&[4, 4], "01010101"),
            (&[3, 2, 1], "010201"),
        ] {
            let found = order(counts);
            assert_eq!(found.len(), expected.len());
            let pairs = |text: &str| text.as_bytes().windows(2).filter(|pair| pair[0] == pair[1]).count();
            assert_eq!(pairs(&found), pairs(expected), "{counts:?}: {found}");
        }
        assert_eq!(order(&[2, 2, 2]), "012012");
    }

    #[test]
    fn a_stripe_over_all_shelves_survives_the_loss_of_one() {
        assert_eq!(even_shelves(&modules(&[2, 2, 2])), Some(3));
        assert_eq!(weakest(&modules(&[2, 2, 2]), 3, 1), None);
        assert_eq!(weakest(&modules(&[2, 2, 2]), 6, 1).unwrap().1, 2);
        assert_eq!(even_shelves(&modules(&[2, 1, 1])), None);
        assert_eq!(weakest(&modules(&[2, 1, 1]), 4, 1).unwrap().1, 2);
        assert_eq!(even_shelves(&["/dev/sda".into()]), None);
        assert_eq!(weakest(&["/dev/sda".into(), "/dev/sdb".into()], 2, 1), None);
    }
}
