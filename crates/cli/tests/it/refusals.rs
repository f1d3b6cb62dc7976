//! A wrong input is refused in one line, with exit code 2, before any work.

use std::fs;
use std::path::Path;

/// A command line of words, and what its message must contain.
type Case = (&'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    ("serve sas-raid10-6 --memory --nbd unix:/nowhere/s", &["would be plain memory", "--timing model"]),
    (
        "serve tachion-400 --memory --set card.acknowledge_flush_early=true --nbd unix:/nowhere/s",
        &["loses nothing", "power_loss_protection=false"],
    ),
    ("run datacenter-tlc-3840 --load rndwr --set zones.bands=1", &["written in order", "seqrewr", "without [zones]"]),
    ("run datacenter-tlc-3840 --load oltp --set zones.bands=1", &["written in order"]),
    ("run datacenter-tlc-3840 --load seqwr --block 512 --set zones.bands=1", &["whole sectors", "4,096"]),
    (
        "run datacenter-tlc-3840 --load seqwr --own-regions --threads 8 --set zones.bands=1",
        &["8 zones at once", "7 may be active"],
    ),
    (
        "run datacenter-tlc-3840 --load seqwr --set zones.bands=1 --set zones.max_open=9",
        &["zones.max_open=9", "max_open is above max_active"],
    ),
    (
        "run datacenter-tlc-3840 --load seqwr --set zones.bands=1 --set card.power_loss_protection=false",
        &["power_loss_protection = true", "which zones needs"],
    ),
    ("review datacenter-tlc-3840 --set zones.bands=1", &["overwrites at random", "flashrig run"]),
    ("lifetime datacenter-tlc-3840 --set zones.bands=1", &["a life with zones"]),
    ("serve datacenter-tlc-3840 --memory --set zones.bands=1 --nbd unix:/nowhere/s", &["only a model has zones"]),
    ("create new --card datacenter-tlc-3840 --set zones.bands=1", &["only a model has zones"]),
    ("run tachion-200 --load rndrd --cache-mode writeback", &["--cache-of <CARD>"]),
    (
        "run tachion-200 --load rndwr --set compression.granule=512 --set placement.handles=2",
        &["compression.granule=512", "without handles"],
    ),
    ("run tachion-200 --load rndwr --compressible 100%", &["host.compressible=100%", "from 0 to below 1"]),
    ("lifetime tachion-200 --compressible half", &["host.compressible=half", "a share"]),
    ("whatif tachion-200 --set compression.granule=768", &["768", "power of two"]),
    (
        "run tachion-200 --load rndrd --cache-of sas-raid10-6 --cache-policy arc",
        &["'arc'", "lru, fifo, clock, s3-fifo"],
    ),
    ("run tachion-200 --load rndrd --cache-of sas-raid10", &["unknown card 'sas-raid10'", "nearest: sas-raid10-6"]),
    ("run tachion-200 --load rndrd --cache-of /nowhere/x.toml", &["/nowhere/x.toml", "No such file"]),
    ("run tachion-800 --load rndrd --cache-of iodrive-160-slc", &["nothing to choose", "iodrive-160-slc"]),
    (
        "run tachion-200 --load rndrd --cache-of sas-raid10-6 --cache-size 300GB",
        &["cache.size=300000000000", "larger than the card"],
    ),
    ("run tachion-200 --load rndrd --set cache.mode=writeback", &["missing key 'of' in [cache]"]),
    (
        "run tachion-200 --load rndrd --cache-of sas-raid10-6 --set cache.dirty_share=0.8 --set cache.dirty_limit=0.5",
        &["dirty_share is above dirty_limit"],
    ),
    ("run tachion-200 --load rndrd --cache-of sas-raid10-6 --set cache.block=6000", &["multiple of 4,096"]),
    ("run sas-raid10-6 --load rndrd --cache-of sas-raid10-6", &["[cache] does not belong to a card of kind \"disks\""]),
    ("lifetime tachion-200 --set cache.of=sas-raid10-6", &["cache.of"]),
    ("serve tachion-200 --memory --set cache.of=sas-raid10-6 --nbd unix:/nowhere/s", &["a cache", "holds no contents"]),
    ("create new --size 1", &["'--size <BYTES>'", "must be at least 1m"]),
    ("create new --size 1023k", &["must be at least 1m"]),
    ("create . --size 1 --card nothing", &["must be at least 1m"]),
    ("serve memory-16 --memory --size 4k --nbd unix:/nowhere/s", &["'--size <BYTES>'", "must be at least 1m"]),
    (
        "serve memory-16 --memory --size 64m --nbd unix:/nowhere/s --web 0.0.0.0:80",
        &["0.0.0.0:80", "others than this machine", "127.0.0.1", "--web-insecure"],
    ),
    ("serve memory-16 --memory --size 64m --nbd unix:/nowhere/s --web [::]:80", &["[::]:80", "--web-insecure"]),
    ("serve memory-16 --memory --size 64m --nbd unix:/nowhere/s --web 8080", &["can't listen at 8080"]),
    (
        "serve memory-16 --memory --size 64m --nbd 0.0.0.0:0",
        &["NBD at 0.0.0.0:0", "others than this machine", "127.0.0.1", "--tls-certificate", "--insecure"],
    ),
    (
        "serve memory-16 --memory --size 64m --nvme [::]:0",
        &["NVMe at [::]:0", "others than this machine", "127.0.0.1", "--nvme-secret", "--insecure"],
    ),
    (
        "serve memory-16 --memory --size 64m --nvme 127.0.0.1:0 --nvme-secret DHHC-1:01:AAAA:",
        &["--nvme-secret: ", "32, 48 or 64 bytes"],
    ),
    (
        "serve memory-16 --memory --size 64m --nvme 127.0.0.1:0 --nvme-secret @/nowhere/x",
        &["/nowhere/x", "No such file"],
    ),
    ("serve memory-16 --memory --size 64m --nbd unix:/nowhere/s --nvme-secret x", &["--nvme <HOST:PORT>"]),
    ("serve memory-16 --memory --size 64m --nvme unix:/nowhere/s", &["unix:/nowhere/s", "HOST:PORT"]),
    ("serve memory-16 --memory --size 64m", &["--nbd <ADDRESS>"]),
    ("serve memory-16 --memory --size 64m --nbd unix:/nowhere/s --web-insecure", &["--web <HOST:PORT>"]),
    ("attach memory-16 --volume data", &["--volume", "no served card"]),
    ("serve memory-16 --memory --shards 0 --nbd unix:/nowhere/s", &["'--shards <N>'", "0 is not in 1..=64"]),
    ("serve memory-16 --memory --shards 65 --nbd unix:/nowhere/s", &["'--shards <N>'", "65 is not in 1..=64"]),
    ("serve memory-16 --memory --size 4m --shards 5 --nbd unix:/nowhere/s", &["--shards 5", "has room for 4"]),
    (
        "serve tachion-400 --memory --size 64m --shards 2 --timing model --nbd unix:/nowhere/s",
        &["--shards", "own times"],
    ),
    ("serve sas-raid10-6 --memory --size 64m --shards 2 --timing model --nbd unix:/nowhere/s", &["--shards", "disks"]),
    (
        "serve tachion-400 --memory --size 4TiB --nbd unix:/nowhere/s",
        &["comes to take 6.", " TB of memory, and ", " are free", "smaller --size"],
    ),
    ("serve sas-raid10-6 --memory --size 300GB --timing model --nbd unix:/nowhere/s", &["300 GB of memory, and "]),
    ("review /dev/nvme9n9 --size 64m", &["/dev/nvme9n9: there is no such device", "lsblk"]),
    (
        "create new --size 64m --quick --modules /dev/nvme9n7,/dev/nvme9n8,/dev/nvme9n9",
        &["/dev/nvme9n7: there is no such device"],
    ),
    (
        "run sas-raid10-6 --load rndwr --scale 1/64",
        &["--scale has no effect on disks, which are modelled at full size"],
    ),
    ("whatif sas-raid10-6 --load rndwr --scale 1/64", &["--scale has no effect on disks"]),
    ("serve ./card --shards 2 --nbd unix:/nowhere/s", &["--memory"]),
    ("run tachion-4000 --load rndwr", &["unknown card 'tachion-4000'", "nearest: tachion-400"]),
    ("show iodrive", &["unknown card 'iodrive'", "nearest: iodrive-"]),
    ("run tachion-400 --load rndwr --host defualt", &["unknown host 'defualt'", "nearest: default"]),
    ("rnu tachion-400", &["unrecognized subcommand 'rnu'"]),
    ("shwo tachion-400", &["a similar subcommand exists: 'show'"]),
    ("run tachion-400", &["required", "--load <LOAD>"]),
    ("run tachion-400 --load rndwrr", &["invalid value 'rndwrr'", "a similar value exists: 'rndwr'"]),
    ("run tachion-400 --load randwrit", &["invalid value 'randwrit'", "a similar value exists: 'rndwr'"]),
    ("run tachion-400 --load randwrite --fsync-all --rw-ratio 2", &["'--rw-ratio <R>'", "'--load rndwr'"]),
    ("run tachion-400 --load rndwr --thread 8", &["unexpected argument '--thread'", "'--threads'"]),
    ("run tachion-400 --load rndwr --threads 0", &["'--threads <N>'", "0 is not in 1.."]),
    ("run tachion-400 --load rndwr --threads 99999999999", &["'--threads <N>'"]),
    ("run tachion-400 --load rndwr --threads 65536 --depth 2", &["queue_depth is 2", "must be 1 to 1"]),
    ("run tachion-400 --load rndwr --fill 120%", &["'--fill <SHARE>'", "at most 100%"]),
    ("run tachion-400 --load rndwr --fill 0", &["'--fill <SHARE>'"]),
    ("run tachion-400 --load rndwr --fill -1", &["--fill"]),
    ("run tachion-400 --load rndwr --fill nan", &["'nan' is not a share"]),
    ("run tachion-400 --load rndwr --block 1000", &["'--block <SIZE>'", "multiple of 512"]),
    ("run tachion-400 --load rndwr --block 0", &["'--block <SIZE>'", "must be from 512 to 64m"]),
    ("run tachion-400 --load rndwr --block 16q", &["'16q' is not a size"]),
    ("run tachion-400 --load rndwr --block 99999999999999999999999G", &["larger than any device"]),
    ("run tachion-400 --load rndwr --file-size 16383P", &["footprint"]),
    ("run tachion-400 --load rndwr --file-size 300GB", &["needs 300 GB", "6.29 GB at scale 1/64", "use --scale 1 "]),
    ("run tachion-400 --load rndwr --file-size 401GB", &["needs 401 GB", "400 GB at full size"]),
    ("run tachion-400 --load rndwr --file-size 4k", &["file_bytes is 4096"]),
    ("run tachion-400 --load rndwr --offset-shift 100", &["'--offset-shift <SIZE>'", "multiple of 512"]),
    ("run tachion-400 --load rndwr --scale 0", &["'--scale <PART>'", "above 0"]),
    ("run tachion-400 --load rndwr --scale 2", &["'--scale <PART>'", "at most 1"]),
    ("run tachion-400 --load rndwr --scale 1/0", &["'1/0' is not a share"]),
    ("run tachion-400 --load rndwr --access zipf:x", &["zipf:0.99"]),
    ("run tachion-400 --load rndwr --access zipf:99", &["theta is 99"]),
    ("run tachion-400 --load rndwr --think 5", &["with its unit"]),
    ("run tachion-400 --load rndwr --think 2000h", &["with its unit"]),
    ("run tachion-400 --load rndwr --rate 0", &["'--rate <IOPS>'"]),
    ("run tachion-400 --load rndwr --seconds 0", &["'--seconds <S>'"]),
    ("run tachion-400 --load rndwr --seconds inf", &["'--seconds <S>'"]),
    ("run tachion-400 --load rndwr --requests 0", &["'--requests <N>'"]),
    ("run tachion-400 --load rndwr --seconds 1 --requests 5", &["cannot be used with"]),
    ("run tachion-400 --load rndwr --seed -1", &["--seed"]),
    ("run tachion-400 --load rndwr --seed 18446744073709551616", &["'--seed <N>'"]),
    ("run tachion-400 --load rndrd --fsync-all", &["'--fsync-all'", "'--load rndrd'"]),
    ("run tachion-400 --load rndwr --slob-readers 4", &["'--slob-readers <N>'", "'--load rndwr'"]),
    ("run tachion-400 --load slob --slob-readers 4000000000 --slob-writers 4000000000", &["readers is 4000000000"]),
    ("run tachion-400 --load slob --slob-readers 0", &["readers + writers is 0"]),
    ("run tachion-400 --load slob --slob-blocks 4294967295", &["scale_blocks is 4294967295"]),
    ("run tachion-400 --load slob --slob-redo 99g", &["redo_bytes_per_update is"]),
    ("run tachion-400 --load oltp --oltp-db 100000", &["db_bytes is 100000"]),
    ("run tachion-400 --load replica --replica-workers 0", &["workers is 0: must be 1 to 1024"]),
    ("run tachion-400 --load tpcc --tpcc-warehouses 0", &["warehouses is 0: must be 1 to 10000"]),
    ("run tachion-400 --load tpcc --tpcc-warehouses 100", &["needs 9.", "use --scale 1/32 "]),
    ("run tachion-400 --load oltp --oltp-db 16g", &["needs 17.45 GB", "use --scale 1/16 "]),
    ("run tachion-400 --load rndwr --set ftl.victm=fifo", &["unknown key 'victm' in [ftl]", "nearest: victim"]),
    ("run tachion-400 --load rndwr --set flt.victim=fifo", &["unknown table [flt]", "nearest: [ftl]"]),
    ("run tachion-400 --load rndwr --set ftl.victim=fifi", &["nearest: fifo"]),
    ("run tachion-400 --load rndwr --set ftl.victim", &["a setting is table.key=value"]),
    ("run tachion-400 --load rndwr --set host.core=8", &["unknown key 'core' in [host]", "nearest: cores"]),
    ("run tachion-400 --load rndwr --set card.user_gb=999999", &["user"]),
    ("run tachion-400 --load rndwr --json no/such/dir/result.json", &["can't write no/such/dir/result.json"]),
    ("run tachion-400 --load rndwr --json .", &["can't write .", "directory"]),
    ("run ./nowhere.toml --load rndwr", &["can't read ./nowhere.toml"]),
    ("run nowhere.toml --load rndwr", &["can't read nowhere.toml"]),
    ("show . --sources", &["unknown card '.'"]),
    ("show ./ --sources", &["can't read ./", "directory"]),
    ("show tachion-400 --json --sources", &["cannot be used with"]),
    ("cards tachion-400", &["unexpected argument 'tachion-400'"]),
    ("review tachion-400 --out no/such/dir/r", &["can't write no/such/dir/r.json"]),
    ("review tachion-40", &["nearest: tachion-400", "./tachion-40"]),
    ("review tachion-400 --size 8g", &["--size has no effect on a modelled card"]),
    ("review tachion-400 --budget 10m", &["--budget has no effect on a modelled card"]),
    ("review tachion-400 --destroy-data", &["--destroy-data has no effect"]),
    ("review tachion-400 --only fill,thread", &["'--only <PHASES>'", "fill, timeline, threads"]),
    ("review tachion-400 --price 0", &["'--price <USD>'", "above 0"]),
    ("review tachion-400 --resume", &["tachion-400.json", "can't be read"]),
    ("review tachion-400 --resume --overwrite", &["cannot be used with"]),
    ("review ./file --size 1g --scale 1/2", &["--scale has no effect on a real device"]),
    ("review ./file --size 1g --set ftl.victim=fifo", &["--set has no effect on a real device"]),
    ("review ./file", &["./file", "no such file or device", "--size"]),
    ("review ./file --size 1g --budget 5", &["'--budget <TIME>'", "with its unit"]),
    ("review ./file --size 1g --budget 1s", &["a budget of 1 s is too short", "at least", "--only"]),
    ("review ./file --size 64k", &["too small to review"]),
    ("review ./file --size 9P", &["./file", "are needed", "smaller --size"]),
    ("review ./no/such/dir/file --size 1g", &["./no/such/dir"]),
    ("review . --size 1g", &["directory"]),
    ("review /dev/null", &["/dev/null", "character device"]),
    ("review /dev/no-such-device", &["/dev/no-such-device", "no such device"]),
    ("review ./file --size 1g --serial X", &["--destroy-data"]),
    ("compare", &["<RESULT>..."]),
    ("compare no-such.json", &["no-such.json"]),
    ("compare published:tachion", &["published:tachion-400-fill"]),
    ("compare published:violin-3205 -o page.txt", &["page.txt", ".html"]),
    ("fit", &["<RESULT>..."]),
    ("fit no-such.json", &["no-such.json"]),
    ("fit no-such.csv", &["no-such.csv", "No such file"]),
    ("fit published:tachion", &["published:tachion-400-fill"]),
    ("fit published:duo-320-fill published:tachion-400-fill", &["two devices", "a fit is of one"]),
    ("fit published:duo-320-fill --hold-out 1", &["'--hold-out <N>'"]),
    ("fit published:duo-320-fill -o mine.json", &["mine.json", ".toml"]),
    ("fit published:duo-320-fill -o no/such/mine.toml", &["can't write no/such/mine.toml"]),
    ("fit published:duo-320-fill --force", &["--out <CARD.toml>"]),
    ("fit published:duo-320-fill --base iodrive-du", &["unknown card 'iodrive-du'"]),
    ("fit published:duo-320-fill --base sas-raid10-6", &["sas-raid10-6 is no flash card"]),
    ("fit published:duo-320-fill --host nobody", &["unknown host 'nobody'"]),
    ("validate --table tachion-fil", &["a similar value exists: 'tachion-fill'"]),
    ("validate --datasheets --table tachion-fill", &["'--datasheets' cannot be used with '--table"]),
    ("validate --datasheets --card tachion-400", &["invalid value 'tachion-400'"]),
    ("validate --json no/such/dir/v.json", &["can't write no/such/dir/v.json"]),
    ("fsck", &["<CARD>"]),
    ("fsck nowhere", &["nowhere", "No such file"]),
    ("fsck .", &[".: no modules here", "module-00.frm"]),
    ("fsck /dev/null", &["/dev/null", "name the folder"]),
    ("fsck . --lba x", &["'--lba <N[..M]>'", "first..last"]),
    ("fsck . --lba 9..7", &["'--lba <N[..M]>'"]),
    ("fsck . --stripe 7", &["BAND:STRIPE"]),
    ("fsck . --band 7 --lba 3", &["cannot be used with"]),
    ("fsck . --verify --stripe 1:2", &["cannot be used with"]),
    ("fsck . --read-time 5", &["with its unit"]),
    ("attach", &["<SOURCE>"]),
    ("attach nowhere", &["nowhere", "No such file"]),
    ("attach .", &[".: no card is mounted there", "--fuse"]),
    ("attach /dev/null", &["/dev/null", "neither a regular file nor a socket"]),
    ("attach nbd://", &["'nbd://'", "nbd://HOST"]),
    ("attach nbd:unix:nowhere", &["nowhere", "No such file"]),
    ("attach . --list", &["cannot be used with"]),
    ("detach", &["<TARGET>"]),
    ("detach --all /dev/loop0", &["cannot be used with"]),
    ("whatif", &["<CARD>"]),
    ("whatif tachion-40", &["unknown card 'tachion-40'"]),
    ("whatif tachion-400 --fill 50,120", &["'--fill <PERCENT>'", "\"120\" is no percentage above 0"]),
    ("whatif tachion-400 --fill 50,50", &["'--fill <PERCENT>'", "50 stands there twice"]),
    ("whatif tachion-400 --fill 50,", &["'--fill <PERCENT>'"]),
    ("whatif tachion-400 --fill 90..50 --target-p99 1ms", &["a range goes from least to most"]),
    ("whatif tachion-400 --fill 50..90", &["--target-p99 or --min-mb-s"]),
    ("whatif tachion-400 --target-p99 1ms", &["one range, 0 are given"]),
    ("whatif tachion-400 --fill 5..90 --threads 1..8 --target-p99 1ms", &["one range, 2 are given"]),
    ("whatif tachion-400 --fill 0.5..90 --target-p99 1ms", &["whole numbers"]),
    ("whatif tachion-400 --target-p99 5 --fill 5..90", &["with its unit"]),
    ("whatif tachion-400 --reserve 0,100", &["'--reserve <PERCENT>'", "to below 100"]),
    ("whatif tachion-400 --reserve 0,99.999999", &["--reserve 99.999999: "]),
    ("whatif tachion-400 --threads 0,8", &["'--threads <N>'", "from 1 to 65536"]),
    ("whatif tachion-400 --threads 8,65536 --depth 2", &["--threads 65536: queue_depth is 2"]),
    ("whatif tachion-400 --load rndwr,slob", &["'--load <LOAD>'", "\"slob\" is no load of a grid"]),
    ("whatif tachion-400 --read-percent 50", &["--read-percent has no effect on loads other than rndrw and seqrw"]),
    ("whatif tachion-400 --block 4k,1000", &["'--block <SIZE>'", "multiple of 512"]),
    ("whatif tachion-400 --block 4k..16k --target-p99 1ms", &["--block has no effect on searches"]),
    ("whatif tachion-400 --vary ftl.victim", &["write table.key=V1,V2"]),
    ("whatif tachion-400 --vary ftl.victim=greedy,fifi", &["--vary ftl.victim=fifi: ", "nearest: fifo"]),
    ("whatif tachion-400 --vary ftl.stripe_width=16,7", &["--vary ftl.stripe_width=7: "]),
    ("whatif tachion-400 --vary ftl.victim=fifo --vary ftl.victim=greedy", &["ftl.victim is varied twice"]),
    ("whatif tachion-400 --fill 0.0001,50", &["--fill 0.0001: file_bytes is"]),
    ("whatif tachion-400 --csv - --json -", &["--csv - has no effect"]),
    ("whatif tachion-400 -o page.txt", &["page.txt", ".html"]),
    ("whatif tachion-400 -o no/such/dir/page.html", &["can't write no/such/dir/page.html"]),
    ("lifetime", &["<CARD>"]),
    ("lifetime aws-gp3", &["aws-gp3 is no flash card"]),
    ("lifetime tachion-400 --load rndrd", &["rndrd writes nothing"]),
    ("lifetime tachion-400 --load slob", &["'--load <LOAD>'"]),
    ("lifetime tachion-400 --load seqrewr --access zipf:1", &["--access has no effect on sequential loads"]),
    ("lifetime tachion-400 --per-day 0", &["--per-day 0 writes nothing"]),
    ("lifetime tachion-400 --per-day 2TBB", &["'2TBB' is not a size"]),
    ("lifetime tachion-400 --reserve 0,100", &["to below 100"]),
    ("lifetime tachion-400 --reserve 0..10", &["a range of --reserve has no effect"]),
    ("lifetime tachion-400 --reserve 0,1,2,3,4,5", &["6 reserves are too many: at most 5"]),
    ("lifetime tachion-400 --reserve 0,99.999999", &["--reserve 99.999999: "]),
    ("lifetime tachion-400 --set card.missing_module=0", &["card.missing_module has no effect on lives"]),
    ("lifetime tachion-400 --years 0", &["'--years <N>'", "from 0.1 to 100"]),
    ("lifetime tachion-400 --cycles 5", &["'--cycles <N>'", "5 is not in 20.."]),
    ("lifetime tachion-400 --fill 0", &["'--fill <SHARE>'"]),
    ("lifetime tachion-400 --csv - --json -", &["--csv - has no effect"]),
    ("lifetime tachion-400 --json no/such/dir/l.json", &["can't write no/such/dir/l.json"]),
    ("completions bahs", &["invalid value 'bahs'", "a similar value exists: 'bash'"]),
];

fn assert_refused(dir: &Path, words: &[&str], expected: &[&str]) {
    let output = crate::common::run_in(dir, words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    assert!(stderr.starts_with("flashrig: error: ") && stderr.ends_with('\n'), "{words:?}: {stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains('\u{1b}'), "{words:?}: {stderr}");
    for part in expected {
        assert!(stderr.contains(part), "{words:?} does not say {part:?}: {stderr}");
    }
    assert!(output.stdout.is_empty(), "{words:?} printed a result");
}

#[test]
fn a_wrong_command_line_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    for (line, expected) in CASES {
        assert_refused(dir.path(), &line.split(' ').collect::<Vec<_>>(), expected);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused command leaves nothing behind");
}

#[test]
fn a_card_is_made_in_no_folder_that_holds_something() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let small =
        "--card memory-16 --size 1m --set geometry.modules=4 --set ftl.stripe_width=4 --set card.user_bytes=100GB";
    let create = |more: &str| format!("create full {small}{more}");
    let refused = |line: &str, found: &str| {
        let said = ["full is not empty", found, "name another folder, or empty this one"];
        assert_refused(dir.path(), &line.split(' ').collect::<Vec<_>>(), &said);
    };
    fs::create_dir(dir.path().join("full")).unwrap();
    fs::write(dir.path().join("full/thesis.tex"), "two years").unwrap();
    fs::write(dir.path().join("full/words.txt"), "").unwrap();
    refused(&create(""), "(thesis.tex lies in it)");
    refused(&create(" --modules m0,m1,m2,m3"), "(thesis.tex lies in it)");
    fs::remove_file(dir.path().join("full/thesis.tex")).unwrap();
    refused(&create(""), "(words.txt lies in it)");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was made");
    // Modules without their card are not made anew.
    fs::rename(dir.path().join("full/words.txt"), dir.path().join("full/module-00")).unwrap();
    refused(&create(""), "(module-00 lies in it)");
    // A file that is named as a module is judged as one, and an empty folder is as good as none.
    fs::rename(dir.path().join("full/module-00"), dir.path().join("full/m0")).unwrap();
    let line = create(" --modules full/m0,full/m1,full/m2,full/m3");
    assert_refused(dir.path(), &line.split(' ').collect::<Vec<_>>(), &["full/m0: exists already"]);
    fs::remove_file(dir.path().join("full/m0")).unwrap();
    let output = crate::common::run_in(dir.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.path().join("full/card.toml").is_file());
}

#[test]
fn a_wrong_file_is_refused_with_its_line() {
    let card = include_str!("../../../../cards/tachion-400.toml");
    let broken: &[(&str, String, &[&str])] = &[
        ("no-toml.toml", card.replacen("[card]", "[card", 1), &["no-toml.toml:", "not TOML"]),
        ("key.toml", card.replacen("pages_per_block", "pages_per_blok", 1), &["key.toml:", "nearest: pages_per_block"]),
        (
            "value.toml",
            card.replacen("planes_per_die = { value = 1", "planes_per_die = { value = 0", 1),
            &["value.toml:", "planes_per_die"],
        ),
        ("table.toml", format!("{card}\n[lnik]\n"), &["table.toml:", "nearest: [link]"]),
        ("empty.toml", String::new(), &["empty.toml", "missing"]),
        ("huge.toml", "#".repeat(2 << 20), &["huge.toml", "bytes long"]),
        ("escape.toml", format!("{card}\n\"\u{1b}[2J\nx\" = 1\n"), &["escape.toml"]),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (name, text, expected) in broken {
        fs::write(dir.path().join(name), text).unwrap();
        assert_refused(dir.path(), &["show", name], expected);
        assert_refused(dir.path(), &["run", name, "--load", "rndwr"], expected);
    }
    fs::write(dir.path().join("latin.toml"), b"[card]\ntitle = \"\xe9\"\n").unwrap();
    assert_refused(dir.path(), &["show", "latin.toml"], &["can't read latin.toml"]);
}

#[test]
fn what_was_typed_cannot_break_the_line() {
    let dir = tempfile::tempdir().unwrap();
    for word in ["a\nb", "a\u{1b}[2Jb", "a\r\nb/", "\u{7}.toml", ""] {
        assert_refused(dir.path(), &["show", word], &[]);
        assert_refused(dir.path(), &["run", word, "--load", word], &[]);
        assert_refused(dir.path(), &["run", "tachion-400", "--load", "rndwr", "--set", word], &[]);
        assert_refused(dir.path(), &["run", "tachion-400", "--load", "rndwr", "--block", word], &[]);
    }
}

#[test]
fn words_that_are_not_utf_8_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let word = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    let output = crate::common::command().arg("show").arg(word).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
}
