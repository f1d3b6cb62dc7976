//! Examples for the ends of help texts. Tests parse every line that begins with the program's name.

pub(super) const TOP: &str = "\
Examples:
  flashrig cards
  flashrig run tachion-400 --load rndwr --block 16k --threads 8 --fill 90%
  flashrig review tachion-400";

pub(super) const CARDS: &str = "\
Examples:
  flashrig cards
  flashrig cards --json";

pub(super) const SHOW: &str = "\
Examples:
  flashrig show tachion-400
  flashrig show tachion-400 --sources
  flashrig show iodrive-duo-320-slc --set ftl.reserve=20%";

pub(super) const RUN: &str = "\
Examples:
  Random writes to a full card, and what its slow requests waited for:
  flashrig run tachion-400 --load rndwr --threads 16 --explain-tail

  The same card with other flash management:
  flashrig run tachion-400 --load rndwr --set ftl.victim=fifo

  Reads and writes, a flush after every hundred requests, ten virtual seconds:
  flashrig run tachion-400 --load rndrw --fsync-freq 100 --seconds 10

  A database: 16 readers and 4 updaters of 8 KiB blocks:
  flashrig run tachion-400 --load slob --slob-readers 16 --slob-writers 4

  The result as JSON, nothing else:
  flashrig run tachion-400 --load rndrd --threads 64 --json -";

pub(super) const REVIEW: &str = "\
Examples:
  flashrig review tachion-400
  flashrig review tachion-400 --quick --json review.json";

pub(super) const VALIDATE: &str = "\
Exit status: 0 when every bound holds, 1 when one is missed, 2 for errors.

Examples:
  flashrig validate
  flashrig validate --table tachion-fill --json validation.json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  flashrig completions bash";

pub(super) const MAN: &str = "\
Examples:
  flashrig man
  flashrig man --out man";
