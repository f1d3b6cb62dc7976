//! Contents of the page, question by question.

mod burst;
mod database;
mod distribution;
mod fill;
mod first;
mod generic;
mod preconditioning;
mod price;
mod published;
mod redo;
mod section;
mod sweep;
mod thermal;
mod timeline;
mod whatif;

pub use first::first;
pub use section::{Question, Section};
pub use sweep::x_axis;
pub use whatif::{fixed as whatif_fixed, questions as whatif_questions};

use crate::devices::Devices;

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
        ("Does it get too hot?", vec![thermal::section(devices)]),
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
