//! A picture as SVG, without script or style.

use super::canvas::{Canvas, Font, PAPER, Place};
use crate::xml::escaped_xml;
use std::fmt::Write;

/// An SVG file that is being drawn.
pub(crate) struct Svg(String);

impl Svg {
    pub fn new((width, height): (f64, f64), title: &str) -> Svg {
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, 'Liberation Sans', Arial, sans-serif\">\n\
             <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#{PAPER:06x}\"/>\n",
            escaped_xml(title)
        ))
    }

    pub fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

impl Canvas for Svg {
    fn text(&mut self, (x, y): Place, font: Font, colour: u32, words: &str) {
        let (size, weight) = match font {
            Font::Title => (20, "bold"),
            Font::Text => (14, "normal"),
            Font::Figure => (15, "bold"),
            Font::Small => (12, "normal"),
        };
        let words = escaped_xml(words);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" font-weight=\"{weight}\" fill=\"#{colour:06x}\">{words}</text>"
        );
    }

    fn line(&mut self, points: &[Place], colour: u32, width: f64) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.0,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#{colour:06x}\" stroke-width=\"{width}\"/>",
            points.join(" ")
        );
    }

    fn dot(&mut self, (x, y): Place, radius: f64, colour: u32) {
        let _ = writeln!(self.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"#{colour:06x}\"/>");
    }
}
