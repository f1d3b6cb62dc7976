//! Identification of this machine.

use crate::facts::push;
use crate::system::{System, names, read_text};
use results::HostInfo;
use std::collections::BTreeSet;
use std::fs;

impl System {
    /// This machine, without its name, which is private.
    pub fn host(&self) -> HostInfo {
        // Takes affinity and a container's quota into account.
        let usable = std::thread::available_parallelism().map_or(1, usize::from);
        let cpuinfo = fs::read_to_string(self.proc.join("cpuinfo")).unwrap_or_default();
        let field = |name: &str| {
            let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
        };
        let mut facts = Vec::new();
        // ARM's kernels don't say; the device tree has the board's name.
        let model = field("model name").map(str::to_string);
        let model = model.or_else(|| read_text(self.proc.join("device-tree/model")));
        push(&mut facts, "processor", "Processor", model);
        let online = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
        let processors = if online > usable { format!("{usable} of {online}") } else { usable.to_string() };
        push(&mut facts, "processors", "Processors", Some(processors));
        push(&mut facts, "memory", "Memory", self.memory());
        let release = read_text(self.proc.join("sys/kernel/osrelease"));
        push(&mut facts, "kernel", "Kernel", release.map(|release| format!("{release} {}", std::env::consts::ARCH)));
        push(&mut facts, "governor", "Governor", self.governor());
        let virt = field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
        push(&mut facts, "virtual", "Virtual machine", virt.then(|| "yes".into()));
        HostInfo { name: "this machine".into(), cores: u32::try_from(usable).unwrap_or(u32::MAX), facts }
    }

    fn memory(&self) -> Option<String> {
        let text = fs::read_to_string(self.proc.join("meminfo")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(format!("{:.1} GiB", kib as f64 / f64::from(1 << 20)))
    }

    fn governor(&self) -> Option<String> {
        let cpus = self.sys.join("devices/system/cpu");
        let chosen: BTreeSet<String> = names(&cpus)
            .into_iter()
            .filter_map(|name| read_text(cpus.join(name).join("cpufreq/scaling_governor")))
            .collect();
        (!chosen.is_empty()).then(|| chosen.into_iter().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;
    use crate::system::System;

    #[test]
    fn the_host_is_told_without_its_name() {
        let fake = Fake::new();
        fake.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 7543\nflags\t\t: fpu hypervisor\n");
        fake.write("proc/meminfo", "MemTotal:       67108864 kB\nMemFree: 1 kB\n");
        fake.write("proc/sys/kernel/osrelease", "6.8.0-1\n");
        fake.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        let host = fake.system().host();
        let value = |key: &str| host.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str());
        assert_eq!(value("processor"), Some("AMD EPYC 7543"));
        assert_eq!(value("memory"), Some("64.0 GiB"));
        assert_eq!(value("governor"), Some("powersave"));
        assert_eq!(value("virtual"), Some("yes"));
        assert!(value("kernel").unwrap().starts_with("6.8.0-1 "));
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert!(!format!("{:?}", System::default().host()).contains(&format!("\"{}\"", name.trim())));
    }

    #[test]
    fn a_host_that_says_nothing_has_processors_all_the_same() {
        let host = Fake::new().system().host();
        assert!(host.cores >= 1);
        assert_eq!(host.facts.iter().map(|fact| fact.key.as_str()).collect::<Vec<_>>(), ["processors"]);
    }
}
