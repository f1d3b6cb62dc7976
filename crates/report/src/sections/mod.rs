//! Contents of the page, question by question.

mod burst;
mod database;
mod distribution;
mod fill;
mod generic;
mod preconditioning;
mod price;
mod published;
mod redo;
mod sweep;
mod timeline;
mod whatif;

pub use sweep::x_axis;
pub use whatif::{fixed as whatif_fixed, questions as whatif_questions};

use crate::devices::Devices;
use crate::heat::HeatMap;
use crate::plot::{Plot, Table};

/// A question, and what answers it.
pub struct Question {
    /// As a heading.
    pub heading: &'static str,
    /// Sections, each of one subject.
    pub sections: Vec<Section>,
}

/// Charts and tables of one sweep or topic; what a claim links to.
pub struct Section {
    /// Sweep or topic, of which the anchor is made.
    pub topic: String,
    /// As a heading.
    pub heading: String,
    /// Remarks that a reader needs.
    pub notes: Vec<String>,
    /// Charts of the section.
    pub plots: Vec<Plot>,
    /// Tables that belong to no chart.
    pub tables: Vec<Table>,
    /// Tables whose cells are coloured by their value.
    pub heat_maps: Vec<HeatMap>,
}

impl Section {
    /// Without charts and tables yet.
    fn new(topic: impl Into<String>, heading: impl Into<String>) -> Section {
        let (topic, heading) = (topic.into(), heading.into());
        Section { topic, heading, notes: Vec::new(), plots: Vec::new(), tables: Vec::new(), heat_maps: Vec::new() }
    }

    fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    fn is_empty(&self) -> bool {
        self.plots.is_empty() && self.tables.is_empty() && self.heat_maps.is_empty() && self.notes.is_empty()
    }
}

/// Sweeps over threads, and what they are called.
const THREADS: [(&str, &str); 5] = [
    ("threads-rndrd", "Random reads against threads"),
    ("threads-rndwr", "Random writes against threads"),
    ("threads-rndrw", "Random reads and writes against threads"),
    ("threads-seqrd", "Sequential reads against threads"),
    ("threads-seqrewr", "Sequential overwrites against threads"),
];
const BLOCKS: [(&str, &str); 2] =
    [("blocks-rndrd", "Random reads of any size"), ("blocks-rndwr", "Random writes of any size")];
const OTHERS: [&str; 5] = ["fill", "rate", "sync", "mix", "redo"];

/// All questions that the results can answer. `curves` bounds the response-time distributions, the largest part.
pub fn questions(devices: &Devices, curves: usize) -> Vec<Question> {
    let named = |list: &[(&str, &str)]| -> Vec<Option<Section>> {
        list.iter().map(|(name, heading)| sweep::section(devices, name, heading)).collect()
    };
    let known = |name: &str| OTHERS.contains(&name) || THREADS.iter().chain(&BLOCKS).any(|(known, _)| *known == name);
    let others = devices.sweep_names().into_iter().filter(|name| !known(name));
    let questions = [
        ("How fast is it, and from how many threads?", named(&THREADS)),
        ("How long do responses take?", vec![distribution::section(devices, curves)]),
        ("What happens when it fills up?", vec![fill::section(devices)]),
        ("Does it stall?", vec![timeline::section(devices)]),
        ("How fast is a burst, and for how long?", vec![burst::section(devices)]),
        ("Which block size and which mix?", {
            let mut sections = named(&BLOCKS);
            sections.push(sweep::section(devices, "mix", "Reads among writes"));
            sections
        }),
        ("How long do responses take at a fixed rate?", vec![sweep::rate(devices)]),
        ("Can a log rely on it?", vec![sweep::sync(devices), redo::section(devices)]),
        ("What does a real database make of it?", database::sections(devices)),
        ("What does it cost?", vec![price::section(devices)]),
        ("Was it measured in steady state?", vec![preconditioning::section(devices)]),
        ("What did others measure?", published::sections(devices).into_iter().map(Some).collect()),
        ("What else was measured?", others.map(|name| generic::section(devices, name)).collect()),
    ];
    questions
        .into_iter()
        .map(|(heading, sections)| {
            let sections = sections.into_iter().flatten().filter(|s| !s.is_empty()).collect();
            Question { heading, sections }
        })
        .filter(|question: &Question| !question.sections.is_empty())
        .collect()
}
