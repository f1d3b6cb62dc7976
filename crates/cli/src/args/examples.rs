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

  A card as the cache of disks that hold more than it:
  flashrig run tachion-200 --cache-of sas-raid10-6 --load rndrd

  A recorded trace at its own times, and as fast as the card goes:
  flashrig run tachion-400 --trace usr_0.csv.gz
  flashrig run tachion-400 --trace usr_0.csv.gz --speed max --depth 64

  The result as JSON, nothing else:
  flashrig run tachion-400 --load rndrd --threads 64 --json -";

pub(super) const WHATIF: &str = "\
Each point is what flashrig run gives for it. A range LEAST..MOST of one axis and
a bound make a search: the fullest fill, the smallest reserve or the most threads
that hold it, for each combination of the other axes. With --min-mb-s alone, the
fewest threads that reach it.

Examples:
  flashrig whatif tachion-400 --fill 50,90 --reserve 0,25 --scale 1/512

  Other flash management, and a page of curves:
  flashrig whatif tachion-400 --vary ftl.victim=greedy,fifo --fill 50,75,100 \\
      --scale 1/512 -o page.html

  How full may it be, if 99 of 100 requests are to take 1 ms at most?
  flashrig whatif tachion-400 --fill 20..100 --target-p99 1ms --scale 1/512

  How many threads does 400 MB/s take?
  flashrig whatif tachion-400 --threads 1..64 --min-mb-s 400 --scale 1/512";

pub(super) const WORK: &str = "\
Shares depend on nothing but the plan: each may be answered anywhere and at any
time, also again. A worker that was stopped goes on where it was.

Examples:
  flashrig whatif tachion-400 --fill 50,90 --scale 1/512 --plan plan.json
  flashrig work plan.json --shard 1/2 -o part1.jsonl
  flashrig work plan.json --shard 2/2 -o part2.jsonl
  flashrig merge part1.jsonl part2.jsonl --json whole.json";

pub(super) const MERGE: &str = "\
The result is that of flashrig whatif on one machine, byte for byte. A share that is
missing is named, and answers that differ are refused.

Examples:
  flashrig whatif tachion-400 --fill 50,90 --scale 1/512 --plan plan.json
  flashrig work plan.json -o part.jsonl
  flashrig merge part.jsonl --json -";

pub(super) const LIFETIME: &str = "\
A small card is worn out in the card's place, without time: until its first block
has the rated cycles, and until bad blocks have used up its spare. The closed form
stands beside it. Requests a second come from a run of the modelled card.

Examples:
  flashrig lifetime tachion-400 --per-day 2TB --cycles 50 --scale 1/512

  A tenth of the data takes nine tenths of the writes; no reserve, 30 % reserve:
  flashrig lifetime tachion-400 --per-day 2TB --access hot-cold:10/90 \\
      --reserve 0,30 --cycles 50 --scale 1/512

  The lives, moment by moment:
  flashrig lifetime tachion-400 --reserve 0 --cycles 50 --scale 1/512 --csv -";

pub(super) const RECORD: &str = "\
Needs root, a kernel that traces, debugfs, and blktrace. Without --for it goes on
until Ctrl-C. FILE is there when the recording has ended in order.

Examples:
  # flashrig record /dev/nvme0n1 -o nvme.trace --for 60s
  # flashrig run tachion-400 --trace nvme.trace";

pub(super) const REVIEW: &str = "\
NAME.json has everything that was measured, NAME.html is the page to read.

Examples:
  A modelled card, in seconds:
  flashrig review tachion-400

  The disk under a file, in ten minutes; the file is new and removed afterwards:
  flashrig review ./somefile --size 8g --budget 10m

  A drive, first the plan, then the review that destroys what is on it:
  flashrig review /dev/nvme1n1 --plan
  flashrig review /dev/nvme1n1 --destroy-data --budget 2h --price 299

  The same points as jobs of fio:
  flashrig review ./somefile --size 8g --export-fio fio-jobs

  Two phases only; the rest of a review that was stopped:
  flashrig review tachion-400 --only fill,threads --out fills
  flashrig review ./somefile --size 8g --resume

  PostgreSQL on a mounted device, in a cluster of its own:
  flashrig review /mnt/flash --database postgres --sessions 1,4,16,64";

pub(super) const COMPARE: &str = "\
A condition is [SWEEP[@X]:][CLASS.]FIGURE, < or >, and a limit. SWEEP is a name of
the page (threads-rndrd), X a point of it, CLASS read, write or sync, FIGURE iops,
bw, mean, max or a percentile (p99). +10% and -5% are changes against the first
result at the same point; 2ms, 50k and 400MB/s are limits of the figure itself. Of
repeats the geometric means count, and a condition is met when the whole interval
of 95 % lies beyond its limit (Welch's t test on logarithms).

Exit status: 0 when no condition is met, 1 when one is, 2 for errors.

Examples:
  flashrig compare tachion-400.json iodrive-160-slc.json -o page.html
  flashrig compare old=monday.json new=friday.json
  flashrig compare nvme1n1.json fio.json sysbench.txt -o page.html
  flashrig compare tachion-400.json published:tachion-400-fill -o page.html
  flashrig compare before.json after.json --fail-if 'p99>+10%' \\
      --fail-if 'iops<-5%' --junit result.xml
  flashrig compare old=a1.json old=a2.json new=b1.json new=b2.json
  flashrig compare old/ new/ --fail-if 'threads-rndrd@16:read.p99>+10%'";

pub(super) const HISTORY: &str = "\
Reviews are of one device where model and serial number are the same, else where
name, size and title are. A figure counts as changed beyond 10 %.

Examples:
  flashrig history reviews/
  flashrig history reviews/ -o history.html --markdown history.md
  flashrig history may.json november.json --svg history.svg";

pub(super) const FIT: &str = "\
The fitted card is a card like any other: run, review and serve take it. Each of
its numbers says how well the results determine it; what they say nothing of is
called undetermined and stays what the base says.

Exit status: 0 when the fit is good, 1 when what was left out is predicted badly
(then no card is written without --force), 2 for errors.

Examples:
  flashrig fit published:tachion-400-fill --hold-out 2 -o mine.toml
  flashrig fit nvme1n1.json fio.json -o mine.toml --host default
  flashrig fit fill-percent.csv:duo_320 --base iodrive-duo-320-slc

Then, for instance:
  flashrig review ./mine.toml";

pub(super) const VALIDATE: &str = "\
Exit status: 0 when every bound holds, 1 when one is missed, 2 for errors.

Examples:
  flashrig validate
  flashrig validate --table tachion-fill --json validation.json
  flashrig validate --datasheets";

pub(super) const TORTURE: &str = "\
Cards of a few hundred sectors in virtual time, which hold stamps in place of data. After each recovery every sector is
read: it must be its last durable version or a later one. A life that fails is made small and kept in torture-SEED.json.

Exit status: 0 when every promise was kept, 1 when one was broken, 2 for errors.

Examples:
  flashrig torture
  flashrig torture --seed 7 --for 10m --card unprotected
  flashrig torture --beyond --lives 100000
  flashrig torture --takeovers --lives 2000
  flashrig torture --replay torture-7.json --image left-behind
  flashrig fsck left-behind";

pub(super) const CREATE: &str = "\
What a host writes to such a card is durable when it is flushed, or written with
FUA: a process that holds a buffer is no capacitor. Modules in files can be
pulled, moved, copied and put back like those of any card.

With --modules and without --card the drives or files are measured for some ten
seconds, within the room of their modules, and the card gets the size of units
and the buffer that suit them; card.toml says why.

Examples:
  flashrig create ./card --size 8GiB
  flashrig create ./card --size 1200GB --destroy-data \\
      --modules /dev/sdb,/dev/sdc,/dev/sdd,/dev/sde
  flashrig create ./card --card iodrive-320-mlc --size 8GiB
  flashrig create ./card --card drive-array-16 --size 1200GB \\
      --set geometry.modules=4 --set ftl.stripe_width=4 \\
      --set card.user_bytes=1280GB \\
      --modules /dev/sdb,/dev/sdc,/dev/sdd,/dev/sde --destroy-data";

pub(super) const SERVE: &str = "\
With --timing none a card is as fast as memory is; with --timing model it is as
fast as its own flash, link and controller, as far as this machine can keep up.
SIGTERM and Ctrl-C end the server in order.

Examples:
  flashrig serve ./card --nbd unix:/tmp/card.sock
  flashrig serve memory-16 --memory --size 1GiB --nbd unix:/tmp/card.sock
  flashrig serve memory-16 --memory --size 1GiB --shards 2 --nbd 127.0.0.1:10809
  flashrig serve tachion-400 --memory --size 4GiB --timing model \\
      --nbd 127.0.0.1:10809
  flashrig serve tachion-400 iodrive-320-mlc --memory --size 1GiB \\
      --nbd unix:/tmp/cards.sock
  flashrig serve ./card --nvme 127.0.0.1:4420
  flashrig serve ./card --nbd unix:/tmp/card.sock --web 127.0.0.1:8080
  # flashrig serve ./card --ublk

  One of two controllers of a card on shelves (docs/two-controllers.md):
  flashrig serve ./card --controller 1 --nvme 127.0.0.1:4420 \\
      --peer 127.0.0.1:4421

Then, for instance:
  nbdinfo 'nbd+unix:///?socket=/tmp/card.sock'
  fio --ioengine=nbd --uri='nbd+unix:///?socket=/tmp/card.sock' --name=test \\
      --rw=randwrite --bs=4k --iodepth=16 --size=1g
  nvme connect-all -t tcp -a 127.0.0.1 -s 4420";

pub(super) const SHELF: &str = "\
A shelf knows nothing of cards: each file or drive is an NVMe subsystem with one
namespace and persistent reservations. Its name and its reservations survive any
end of the shelf. Nothing is overwritten before a host writes.

Examples:
  flashrig shelf a.img b.img --listen 127.0.0.1:4420
  flashrig shelf /dev/disk/by-id/nvme-A /dev/disk/by-id/nvme-B \\
      --listen 10.0.0.1:4420 --nvme-secret @/etc/flashrig/shelf.secret

A card whose modules are those of three shelves:
  flashrig create ./card --shelf 10.0.0.1:4420,10.0.0.2:4420,10.0.0.3:4420

Then, for instance:
  nvme discover -t tcp -a 127.0.0.1 -s 4420";

pub(super) const FSCK: &str = "\
CARD is a folder with an image of each module, module-00.frm and so on, or one
that \"flashrig create\" made and that nobody serves. It is only read.

Exit status: 0 when nothing is wrong in what was looked at, 1 when something is,
2 for errors.

Examples:
  flashrig fsck saved-card
  flashrig fsck saved-card --verify --json
  flashrig fsck saved-card --lba 7..9
  flashrig fsck saved-card --band 12
  flashrig fsck saved-card --stripe 12:4
  flashrig fsck card-in-files --verify";

pub(super) const CTL: &str = "\
CARD is the directory that the card is served from, the path of its control
socket, or the name that it is served under.

Examples:
  flashrig ctl card status
  flashrig ctl card modules --json
  flashrig ctl card module pull 3
  flashrig ctl card module insert 3 --new
  flashrig ctl card power cut
  flashrig ctl card power on
  flashrig ctl card smart
  flashrig ctl card clients
  flashrig ctl card scrub
  flashrig ctl card trim 0 16m
  flashrig ctl card ownership
  flashrig ctl card set gc=paced target_free_bands=3 rebuild_bytes_per_s=100m";

pub(super) const VOLUME: &str = "\
A card is one disk until its first volume is made, for which it has to hold
nothing. From then on flashrig serve exports its volumes, each under its name
over NBD, and as an NVMe subsystem of its own. A volume takes room only where
something was written, and gives it back where whole extents are trimmed.

Examples:
  flashrig volume create card data --size 200g
  flashrig volume create card log --size 20g
  flashrig volume list card --json
  flashrig volume grow card data --size 400g
  flashrig volume delete card log --destroy-data";

pub(super) const TOP_COMMAND: &str = "\
q ends it.

Examples:
  flashrig top card --once";

pub(super) const ATTACH: &str = "\
Prints the device; the command that made it goes to standard error. Needs root,
and losetup (util-linux) or nbd-client where the server has made no ublk disk.

Examples:
  flashrig attach --list
  flashrig attach --list --json
  A served card by the best way, one that is mounted, and one behind a socket:
  # flashrig attach ./card
  # flashrig attach /mnt/card
  # flashrig attach nbd:unix:/run/card.sock";

pub(super) const DETACH: &str = "\
What is mounted or held by anything is refused, and told by what. The mount of a
server that has died is taken away as well.

Examples:
  # flashrig detach /dev/loop0
  # flashrig detach /mnt/card
  # flashrig detach --all";

pub(super) const COMPLETIONS: &str = "\
Examples:
  flashrig completions bash";

pub(super) const MAN: &str = "\
Examples:
  flashrig man
  flashrig man --out man";
