//! Options of a job: its own over the global ones.

use super::schema::{Job, Options};
use crate::Problem;
use crate::number;
use crate::scalar::Scalar;
use crate::sweeps::Mode;
use crate::text::excerpt;

/// Blocks where the job has no option for them.
const DEFAULT_BLOCK_BYTES: u64 = 4 << 10;
/// Share of reads in mixed loads where the job has no option for it.
const DEFAULT_READ_PERCENT: u32 = 50;

/// Options of a job.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub job: String,
    /// `None`: it only trims.
    pub mode: Option<Mode>,
    pub block_bytes: Option<u64>,
    /// Copies of the job.
    pub copies: u32,
    pub depth: u32,
    pub read_percent: Option<u32>,
    /// Through the page cache of the machine.
    pub buffered: bool,
    /// Those of [`KEPT`] that were given.
    pub kept: Vec<(&'static str, String)>,
}

/// Options that a point's `load` repeats as they were typed. A list, so that a file with many jobs and many global
/// options doesn't become the product of both.
const KEPT: [&str; 20] = [
    "filename",
    "directory",
    "size",
    "io_size",
    "offset",
    "ioengine",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "rwmixread",
    "rate",
    "rate_iops",
    "thinktime",
    "random_distribution",
    "norandommap",
    "iodepth_batch",
    "runtime",
    "ramp_time",
];

impl Told {
    pub fn new(job: &Job, global: Option<&Options>) -> Result<Told, Problem> {
        let name = job.jobname.as_ref().map(Scalar::text).unwrap_or_default();
        // A job's own options go first.
        let given = [job.options.as_ref(), global];
        let text = |names: &[&str]| {
            given.iter().flatten().find_map(|options| names.iter().find_map(|&n| options.get(n))).map(Scalar::text)
        };
        let count = |option: &'static str| match text(&[option]) {
            None => Ok(1),
            Some(value) => number::count(&value).ok_or_else(|| Problem::BadOption {
                job: name.as_str().into(),
                option,
                value: value.into(),
            }),
        };
        let mode = mode(text(&["rw", "readwrite"]).as_deref().unwrap_or("read"));
        let mixed = matches!(mode, Some(Mode::RndRw | Mode::SeqRw));
        let read_percent = match (text(&["rwmixread"]), text(&["rwmixwrite"])) {
            (Some(read), _) => read.trim().parse().ok(),
            (None, Some(write)) => write.trim().parse::<u32>().ok().and_then(|write| 100_u32.checked_sub(write)),
            (None, None) => Some(DEFAULT_READ_PERCENT),
        };
        let varying = ["bssplit", "bsrange", "blocksize_range"].iter().any(|&name| text(&[name]).is_some());
        let block_bytes = match text(&["bs", "blocksize"]) {
            _ if varying => None,
            None => Some(DEFAULT_BLOCK_BYTES),
            Some(text) => block(&text, mode),
        };
        let engine = text(&["ioengine"]);
        let synchronous = engine.as_deref().is_none_or(is_synchronous);
        let direct = match (text(&["direct"]), text(&["buffered"])) {
            (Some(direct), _) => is_on(&direct),
            (None, Some(buffered)) => !is_on(&buffered),
            (None, None) => false,
        };
        Ok(Told {
            mode,
            block_bytes,
            buffered: !direct && engine.as_deref().is_none_or(has_page_cache),
            copies: count("numjobs")?,
            depth: if synchronous { 1 } else { count("iodepth")? },
            read_percent: read_percent.filter(|percent| mixed && *percent <= 100),
            kept: KEPT.into_iter().filter_map(|name| Some((name, excerpt(&text(&[name])?)))).collect(),
            job: name,
        })
    }
}

/// Engines that have one request outstanding whatever `iodepth` says. Without the option it is `psync`, as on Linux.
fn is_synchronous(engine: &str) -> bool {
    let engine = engine.trim();
    matches!(engine, "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" | "mmap" | "falloc" | "ftruncate")
}

/// Engines that ask a file or a device of this machine through its system calls: without `direct` the page cache is asked.
/// Others go to a server, to a device past the kernel, or nowhere.
fn has_page_cache(engine: &str) -> bool {
    let engine = engine.trim();
    is_synchronous(engine)
        || matches!(engine, "libaio" | "io_uring" | "posixaio" | "solarisaio" | "windowsaio" | "splice")
}

/// An option that is a switch; without a value it is on.
fn is_on(text: &str) -> bool {
    !matches!(text.trim(), "0" | "false" | "no")
}

/// `randread`, `randread:8`, `rw:+4k` …
fn mode(rw: &str) -> Option<Mode> {
    match rw.trim().split(':').next().unwrap_or("") {
        "write" => Some(Mode::SeqRewr),
        "randread" => Some(Mode::RndRd),
        "randwrite" => Some(Mode::RndWr),
        "randrw" => Some(Mode::RndRw),
        "rw" | "readwrite" => Some(Mode::SeqRw),
        other if other.contains("trim") => None,
        _ => Some(Mode::SeqRd),
    }
}

/// One block size: `16k`, or `4k,8k,4k` for reads, writes and trims, of which the one counts that the mode has.
fn block(text: &str, mode: Option<Mode>) -> Option<u64> {
    let sizes: Vec<&str> = text.split(',').map(str::trim).collect();
    let read = *sizes.first()?;
    // A size that is left out is the same as the one before it.
    let write = sizes.get(1).copied().filter(|size| !size.is_empty()).unwrap_or(read);
    let size = match mode? {
        Mode::RndRw | Mode::SeqRw if read != write => return None,
        Mode::RndWr | Mode::SeqRewr => write,
        _ => read,
    };
    // fio has it the other way round by default: `4k` is 4,096 bytes, and `4ki`, which can only be a mistake, is 4,000.
    if size.to_ascii_lowercase().contains('i') { None } else { number::size(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(options: &[(&str, &str)]) -> Result<Told, Problem> {
        let options: Options = options.iter().map(|(k, v)| (k.to_string(), Scalar::Text(v.to_string()))).collect();
        let job: Job = serde_json::from_str("{\"jobname\": \"j\"}").unwrap();
        Told::new(&Job { options: Some(options), ..job }, None)
    }

    #[test]
    fn options_are_understood_as_fio_does() {
        let plain = told(&[]).unwrap();
        assert_eq!((plain.mode, plain.block_bytes, plain.copies, plain.depth), (Some(Mode::SeqRd), Some(4096), 1, 1));
        let job = told(&[("rw", "randwrite:8"), ("bs", "4k,16k"), ("iodepth", "32"), ("ioengine", "libaio")]).unwrap();
        assert_eq!((job.mode, job.block_bytes, job.depth), (Some(Mode::RndWr), Some(16_384), 32));
        assert_eq!(told(&[("iodepth", "32")]).unwrap().depth, 1, "synchronous engines have no queue");
        assert_eq!(told(&[("rw", "randtrim")]).unwrap().mode, None);
        assert_eq!(told(&[("bsrange", "4k-16k")]).unwrap().block_bytes, None);
        let mix = |options: &[(&str, &str)]| told(options).unwrap().read_percent;
        assert_eq!(mix(&[("rw", "randrw")]), Some(50));
        assert_eq!(mix(&[("rw", "randrw"), ("rwmixwrite", "30")]), Some(70));
        assert_eq!(mix(&[("rw", "randrw"), ("rwmixwrite", "300")]), None);
        assert_eq!(mix(&[("rw", "randread"), ("rwmixread", "70")]), None);
        let buffered = |options: &[(&str, &str)]| told(options).unwrap().buffered;
        assert!(
            buffered(&[]) && buffered(&[("direct", "0")]) && buffered(&[("ioengine", "libaio"), ("buffered", "1")])
        );
        assert!(!buffered(&[("direct", "1")]) && !buffered(&[("buffered", "0")]) && !buffered(&[("direct", "")]));
        assert!(!buffered(&[("ioengine", "nbd")]) && !buffered(&[("ioengine", "null")]));
        assert!(matches!(told(&[("numjobs", "many")]), Err(Problem::BadOption { option: "numjobs", .. })));
    }
}
