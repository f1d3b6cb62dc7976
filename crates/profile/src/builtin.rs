//! The files that come with the program. A test holds these lists against the folders.

macro_rules! embedded {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, ".toml")))),+]
    };
}

/// Names and texts of `cards/`, sorted by name.
pub(crate) const CARDS: &[(&str, &str)] = embedded!("cards":
    "aws-gp3",
    "aws-io2-16000",
    "azure-p20",
    "azure-p30",
    "azure-premium-v2",
    "consumer-qlc-2tb",
    "datacenter-tlc-3840",
    "drive-array-16",
    "flashmax-n800",
    "gcp-pd-ssd-500",
    "intel-p3600-2tb",
    "intel-p3700-2tb",
    "intel-p3700-800",
    "intel-p4320-7680",
    "intel-p4500-1tb",
    "intel-p4500-2tb",
    "intel-p4500-4tb",
    "intel-p4800x-375",
    "intel-p5500-7680",
    "intel-p5600-6400",
    "intel-p5800x-400",
    "iodrive-160-slc",
    "iodrive-320-mlc",
    "iodrive-duo-320-slc",
    "iodrive-duo-640-mlc",
    "kioxia-cd8-7680",
    "memory-16",
    "micron-9100-max-2400",
    "samsung-845dc-evo-960",
    "samsung-970-pro-512",
    "samsung-980-1tb",
    "samsung-pm9a3-7680",
    "samsung-pm9d3a-7680",
    "sas-raid10-6",
    "tachion-200",
    "tachion-300",
    "tachion-400",
    "tachion-400-preproduction",
    "tachion-800",
    "violin-3205",
);

/// Names and texts of `hosts/`, sorted by name.
pub(crate) const HOSTS: &[(&str, &str)] = embedded!("hosts":
    "default",
    "flashmax-bach",
    "postgres-2009",
    "ssdperformanceblog-2010",
    "unlimited",
    "violin-8core",
);

/// The text of a built-in file.
pub(crate) fn find(files: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    files.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> Vec<String> {
        let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.map(|n| n.strip_suffix(".toml").unwrap_or(&n).to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn every_file_of_the_folders_is_built_in() {
        assert_eq!(CARDS.iter().map(|(n, _)| *n).collect::<Vec<_>>(), folder("cards"));
        assert_eq!(HOSTS.iter().map(|(n, _)| *n).collect::<Vec<_>>(), folder("hosts"));
    }
}
