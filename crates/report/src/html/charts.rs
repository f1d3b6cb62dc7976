//! Sections with their charts: the elements that the script fills, and the tables that are there without it.

use super::table::{heat_map, table};
use crate::anchor::{Ids, chart};
use crate::plot::Plot;
use crate::sections::{Question, Section};
use maud::{Markup, html};

/// All charts of a page; every id is given out once.
pub struct Charts {
    questions: Vec<(String, Question, Vec<String>)>,
    plots: Vec<Plot>,
}

/// Ids of elements that are not charts.
const TAKEN: [&str; 12] = [
    "main",
    "announce",
    "page-tools",
    "charts",
    "review",
    "verdict",
    "figures",
    "device",
    "method",
    "advantage",
    "advantage-all",
    "raw",
];

impl Charts {
    /// Gives out ids.
    pub fn new(questions: Vec<Question>) -> Charts {
        let mut ids = Ids::default();
        for id in TAKEN {
            ids.claim(id.into());
        }
        let mut charts = Charts { questions: Vec::new(), plots: Vec::new() };
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

    /// Returns the ids to which claims can link.
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().flat_map(|(_, _, anchors)| anchors.iter().map(String::as_str))
    }

    /// As the script draws them.
    pub fn plots(&self) -> &[Plot] {
        &self.plots
    }

    /// Contents, then question by question.
    pub fn markup(&self) -> Markup {
        html! {
            @if !self.questions.is_empty() {
                nav.contents aria-labelledby="contents-heading" {
                    h2 #contents-heading { "Questions" }
                    ul { @for (id, question, anchors) in &self.questions {
                        li {
                            a href=(format!("#{id}")) { (question.heading) }
                            @if anchors.len() > 1 { ul { @for (anchor, section) in anchors.iter().zip(&question.sections) {
                                li { a href=(format!("#{anchor}")) { (section.heading) } }
                            } } }
                        }
                    } }
                }
            }
            @for (id, question, anchors) in &self.questions {
                section.question aria-labelledby=(id) {
                    h2 id=(id) { (question.heading) }
                    @for (anchor, topic) in anchors.iter().zip(&question.sections) { (section(anchor, topic)) }
                }
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

/// Tables with more rows than this stay closed on paper.
const ROWS_ON_PAPER: usize = 60;

/// The script puts buttons and the chart itself into `.drawing`, which says nothing without it.
fn figure(plot: &Plot) -> Markup {
    let rows = plot.to_table();
    html! {
        figure.plot id=(plot.id) {
            figcaption { (plot.title) }
            div.drawing {}
            details .long[rows.rows.len() > ROWS_ON_PAPER] {
                summary { "Table" span.hidden { ": " (plot.title) } }
                (table(&rows))
            }
        }
    }
}
