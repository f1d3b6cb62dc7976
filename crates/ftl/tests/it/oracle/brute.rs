//! The experiment itself: a page map and erase blocks, every step spelled out, no cleverness and no speed. It shares
//! nothing with the flash management under test, nor with the equations it stands beside.

use super::HotCold;

#[derive(Clone, Copy)]
pub enum Policy {
    Greedy,
    Fifo,
    RandomD(u32),
    CostBenefit,
}

#[derive(Clone, Copy)]
pub struct Setup {
    pub blocks: usize,
    pub pages_per_block: usize,
    /// Used share of the blocks that hold data: all but two.
    pub u: f64,
    pub policy: Policy,
    pub traffic: Option<HotCold>,
    /// Relocated pages go to an open block of their own; otherwise into the one that takes host writes.
    pub separate: bool,
}

const FREE: usize = usize::MAX;

struct Device {
    setup: Setup,
    /// Block of each page of the host.
    map: Vec<usize>,
    /// Pages written to each block since its erase, those that moved on included.
    log: Vec<Vec<usize>>,
    valid: Vec<usize>,
    /// Programs done when the block was closed; [`FREE`] while erased or open.
    closed: Vec<usize>,
    free: Vec<usize>,
    open: [usize; 2],
    programs: usize,
    seed: u64,
}

impl Device {
    /// Below `n` (splitmix64).
    fn draw(&mut self, n: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }

    fn append(&mut self, page: usize, stream: usize) {
        if self.log[self.open[stream]].len() == self.setup.pages_per_block {
            self.closed[self.open[stream]] = self.programs;
            self.open[stream] = self.free.pop().expect("a free block");
        }
        let block = self.open[stream];
        if self.map[page] != FREE {
            self.valid[self.map[page]] -= 1;
        }
        self.map[page] = block;
        self.valid[block] += 1;
        self.log[block].push(page);
        self.programs += 1;
    }

    fn victim(&mut self) -> usize {
        let closed = |d: &Device, block: usize| d.closed[block] != FREE;
        let age_benefit = |d: &Device, block: usize| {
            let u = d.valid[block] as f64 / d.setup.pages_per_block as f64;
            (1.0 - u) / (1.0 + u) * (d.programs - d.closed[block]) as f64
        };
        let all = (0..self.setup.blocks).filter(|&block| closed(self, block));
        match self.setup.policy {
            Policy::Greedy => all.min_by_key(|&block| self.valid[block]),
            Policy::Fifo => all.min_by_key(|&block| self.closed[block]),
            Policy::CostBenefit => all.max_by(|&a, &b| age_benefit(self, a).total_cmp(&age_benefit(self, b))),
            Policy::RandomD(d) => {
                let mut drawn = Vec::new();
                while drawn.len() < d as usize {
                    let block = self.draw(self.setup.blocks);
                    drawn.extend(closed(self, block).then_some(block));
                }
                drawn.into_iter().min_by_key(|&block| self.valid[block])
            }
        }
        .expect("a closed block")
    }

    fn write(&mut self, page: usize) {
        while self.free.len() < 2 {
            let victim = self.victim();
            for page in std::mem::take(&mut self.log[victim]) {
                // An overwritten page lives elsewhere by now; one logged twice moves at its first entry.
                if self.map[page] == victim {
                    self.append(page, usize::from(self.setup.separate));
                }
            }
            assert_eq!(self.valid[victim], 0);
            self.closed[victim] = FREE;
            self.free.push(victim);
        }
        self.append(page, 0);
    }
}

/// WAF over `measured` host writes per page, after `before` of them.
pub fn waf(setup: Setup, before: usize, measured: usize) -> f64 {
    let pages = ((setup.blocks - 2) as f64 * setup.pages_per_block as f64 * setup.u).round() as usize;
    let streams = 1 + usize::from(setup.separate);
    let mut device = Device {
        setup,
        map: vec![FREE; pages],
        log: vec![Vec::new(); setup.blocks],
        valid: vec![0; setup.blocks],
        closed: vec![FREE; setup.blocks],
        free: (streams..setup.blocks).collect(),
        open: [0, streams - 1],
        programs: 0,
        seed: 1,
    };
    (0..pages).for_each(|page| device.write(page));
    let mut start = 0;
    for i in 0..(before + measured) * pages {
        if i == before * pages {
            start = device.programs;
        }
        let (first, count) = match setup.traffic {
            Some(t) if (device.draw(1 << 30) as f64) < t.hot_rate * f64::from(1 << 30) => {
                (0, (pages as f64 * t.hot_share) as usize)
            }
            Some(t) => ((pages as f64 * t.hot_share) as usize, pages - (pages as f64 * t.hot_share) as usize),
            None => (0, pages),
        };
        let page = first + device.draw(count);
        device.write(page);
    }
    (device.programs - start) as f64 / (measured * pages) as f64
}
