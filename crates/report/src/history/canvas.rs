//! A picture's strokes and words, whatever file they become.

/// A place, in pixels of the picture as it is looked at.
pub(crate) type Place = (f64, f64);

/// The kinds of writing in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Font {
    Title,
    Text,
    Figure,
    Small,
}

/// Paper to draw on; colours are `0xrrggbb`.
pub(crate) trait Canvas {
    /// Words that begin at a place on their base line.
    fn text(&mut self, at: Place, font: Font, colour: u32, words: &str);
    /// A line through some points.
    fn line(&mut self, points: &[Place], colour: u32, width: f64);
    /// A filled circle.
    fn dot(&mut self, at: Place, radius: f64, colour: u32);
}

/// Colour of the paper.
pub(crate) const PAPER: u32 = 0xfdfdfb;
