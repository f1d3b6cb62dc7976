//! A section of the page: what is drawn and said of one subject.

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
    pub fn new(topic: impl Into<String>, heading: impl Into<String>) -> Section {
        let (topic, heading) = (topic.into(), heading.into());
        Section { topic, heading, notes: Vec::new(), plots: Vec::new(), tables: Vec::new(), heat_maps: Vec::new() }
    }

    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.plots.is_empty() && self.tables.is_empty() && self.heat_maps.is_empty() && self.notes.is_empty()
    }
}
