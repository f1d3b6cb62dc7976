//! Sections with their charts: the elements that the script fills, and the tables that are there without it.

use super::fold::folded;
use super::table::{heat_map, table};
use crate::anchor::{Ids, chart};
use crate::plot::Plot;
use crate::sections::{Question, Section};
use maud::{Markup, html};

/// All charts of a page; every id is given out once.
pub struct Charts {
    first: Vec<Plot>,
    questions: Vec<(String, Question, Vec<String>)>,
    plots: Vec<Plot>,
    /// Number of questions that are not folded.
    open: usize,
}

/// Questions that are not folded: speed, and what becomes of it.
const OPEN: usize = 1;

/// Ids of elements that are not charts.
const TAKEN: [&str; 13] = [
    "winners",
    "main",
    "announce",
    "page-tools",
    "charts",
    "review",
    "verdict",
    "answer",
    "device",
    "method",
    "advantage",
    "advantage-all",
    "raw",
];

impl Charts {
    /// Gives out ids. The charts of the first screen have theirs.
    pub fn new(first: Vec<Plot>, questions: Vec<Question>) -> Charts {
        let mut ids = Ids::default();
        for id in TAKEN {
            ids.claim(id.into());
        }
        for plot in &first {
            ids.claim(plot.id.clone());
        }
        let mut charts = Charts { plots: first.clone(), first, questions: Vec::new(), open: OPEN };
        for (i, mut question) in questions.into_iter().enumerate() {
            let id = ids.claim(format!("question-{}", i + 1));
            let anchors = question.sections.iter().map(|section| ids.claim(chart(&section.topic))).collect();
            for plot in question.sections.iter_mut().flat_map(|s| &mut s.plots) {
                plot.id = ids.claim(chart(&plot.id).replace("chart-", ""));
                charts.plots.push(plot.clone());
            }
            charts.questions.push((id, question, anchors));
        }
        charts
    }

    /// No question is folded.
    pub fn all_open(mut self) -> Charts {
        self.open = usize::MAX;
        self
    }

    /// The charts of the first screen.
    pub fn first(&self) -> &[Plot] {
        &self.first
    }

    /// Returns the ids to which claims can link.
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().flat_map(|(_, _, anchors)| anchors.iter().map(String::as_str))
    }

    /// As the script draws them.
    pub fn plots(&self) -> &[Plot] {
        &self.plots
    }

    /// Question by question, each folded under its heading but for the first.
    pub fn markup(&self) -> Markup {
        html! {
            @for (i, (id, question, anchors)) in self.questions.iter().enumerate() {
                (folded(id, question.heading, i < self.open, &html! {
                    @for (anchor, topic) in anchors.iter().zip(&question.sections) { (section(anchor, topic)) }
                }))
            }
        }
    }
}

fn section(anchor: &str, section: &Section) -> Markup {
    html! {
        section.topic id=(anchor) tabindex="-1" aria-labelledby=(format!("{anchor}-heading")) {
            h3 id=(format!("{anchor}-heading")) { (section.heading) }
            @for note in &section.notes { p.note { (note) } }
            div.plots { @for plot in &section.plots { (figure(plot)) } }
            @for each in &section.heat_maps { (heat_map(each)) }
            @for each in &section.tables { (table(each)) }
        }
    }
}

/// A small chart, of which another one of the page has the table.
pub fn compact(plot: &Plot) -> Markup {
    html! {
        figure.plot.compact id=(plot.id) {
            figcaption { (plot.title) }
            div.drawing {}
        }
    }
}

/// The script puts buttons and the chart itself into `.drawing`, which says nothing without it.
fn figure(plot: &Plot) -> Markup {
    let rows = plot.to_table();
    html! {
        figure.plot id=(plot.id) {
            figcaption { (plot.title) }
            div.drawing {}
            details {
                summary { "Table" span.hidden { ": " (plot.title) } }
                (table(&rows))
            }
        }
    }
}
