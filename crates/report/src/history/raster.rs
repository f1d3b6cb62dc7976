//! A picture as PNG. Its letters come from fonts of pixels that are part of the program: the machine that writes it may have
//! no other.

use super::canvas::{Canvas, Font, PAPER, Place};
use embedded_graphics::Drawable;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::iso_8859_1::{FONT_9X18_BOLD, FONT_10X20};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::text::{Baseline, Text};
use std::convert::Infallible;
use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// Pixels of the file for each of the picture's, each way.
const SCALE: f64 = 2.0;

/// A picture that can't be made.
#[derive(Debug, thiserror::Error)]
pub enum RasterError {
    /// No picture has this size.
    #[error("no picture of {width} times {height} pixels can be made")]
    Size {
        /// Number of pixels across.
        width: u32,
        /// Number of pixels from top to bottom.
        height: u32,
    },
    /// The file could not be written to memory.
    #[error("the picture can't be encoded: {0}")]
    Encoding(Box<dyn std::error::Error + Send + Sync>),
}

/// A PNG file that is being drawn.
pub(crate) struct Raster(Pixmap);

impl Raster {
    pub fn new((width, height): (f64, f64)) -> Result<Raster, RasterError> {
        let (width, height) = ((width * SCALE) as u32, (height * SCALE).ceil() as u32);
        let mut pixels = Pixmap::new(width, height).ok_or(RasterError::Size { width, height })?;
        pixels.fill(colour_of(PAPER));
        Ok(Raster(pixels))
    }

    pub fn finish(self) -> Result<Vec<u8>, RasterError> {
        self.0.encode_png().map_err(|error| RasterError::Encoding(Box::new(error)))
    }
}

fn colour_of(colour: u32) -> Color {
    let [_, r, g, b] = colour.to_be_bytes();
    Color::from_rgba8(r, g, b, 0xff)
}

fn paint(colour: u32) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour_of(colour));
    paint
}

impl Canvas for Raster {
    fn text(&mut self, (x, y): Place, font: Font, colour: u32, words: &str) {
        let (of, enlarged): (&MonoFont, i32) = match font {
            Font::Title => (&FONT_10X20, 2),
            Font::Figure => (&FONT_9X18_BOLD, 1),
            Font::Text | Font::Small => (&FONT_10X20, 1),
        };
        let mut letters =
            Letters { pixels: &mut self.0, paint: paint(colour), left: x * SCALE, base: y * SCALE, enlarged };
        let style = MonoTextStyle::new(of, BinaryColor::On);
        let Ok(_) = Text::with_baseline(&known(words), Point::zero(), style, Baseline::Alphabetic).draw(&mut letters);
    }

    fn line(&mut self, points: &[Place], colour: u32, width: f64) {
        let mut path = PathBuilder::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let (x, y) = ((x * SCALE) as f32, (y * SCALE) as f32);
            if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        // A single point has no line.
        let Some(path) = path.finish() else { return };
        let stroke = Stroke { width: (width * SCALE) as f32, ..Stroke::default() };
        self.0.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), None);
    }

    fn dot(&mut self, (x, y): Place, radius: f64, colour: u32) {
        let circle = PathBuilder::from_circle((x * SCALE) as f32, (y * SCALE) as f32, (radius * SCALE) as f32);
        let Some(circle) = circle else { return };
        self.0.fill_path(&circle, &paint(colour), FillRule::Winding, Transform::identity(), None);
    }
}

/// The characters that the fonts have, in place of those that they have not.
fn known(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        match c {
            '→' => out.push_str("to"),
            '…' => out.push_str("..."),
            '–' | '−' | '—' => out.push('-'),
            '\u{202f}' | '\u{2009}' => out.push(' '),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            'μ' => out.push('µ'),
            c => out.push(c),
        }
    }
    out
}

/// Letters that become squares of pixels.
struct Letters<'a> {
    pixels: &'a mut Pixmap,
    paint: Paint<'static>,
    left: f64,
    base: f64,
    /// Pixels of the file for each of the font's, each way.
    enlarged: i32,
}

impl OriginDimensions for Letters<'_> {
    fn size(&self) -> Size {
        Size::new(self.pixels.width(), self.pixels.height())
    }
}

impl DrawTarget for Letters<'_> {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(at, colour) in pixels {
            let side = self.enlarged as f32;
            let (x, y) = (self.left.round() as f32 + at.x as f32 * side, self.base.round() as f32 + at.y as f32 * side);
            if let (BinaryColor::On, Some(square)) = (colour, Rect::from_xywh(x, y, side, side)) {
                self.pixels.fill_rect(square, &self.paint, Transform::identity(), None);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels of a colour within a part of the picture, in the picture's own measure.
    fn count(raster: &Raster, colour: u32, (x, y, width, height): (u32, u32, u32, u32)) -> usize {
        let [_, r, g, b] = colour.to_be_bytes();
        let is = |x: u32, y: u32| raster.0.pixel(x, y).is_some_and(|p| (p.red(), p.green(), p.blue()) == (r, g, b));
        (2 * y..2 * (y + height))
            .flat_map(|y| (2 * x..2 * (x + width)).map(move |x| (x, y)))
            .filter(|p| is(p.0, p.1))
            .count()
    }

    #[test]
    fn words_lines_and_dots_are_where_they_were_put() {
        let mut raster = Raster::new((200.0, 100.0)).unwrap();
        raster.text((10.0, 30.0), Font::Title, 0x00_11_22, "Il");
        assert!(count(&raster, 0x00_11_22, (10, 10, 20, 22)) > 50, "two letters stand on their base line");
        assert_eq!(count(&raster, 0x00_11_22, (40, 0, 160, 100)), 0, "and nothing beside them");
        raster.line(&[(20.0, 60.0), (120.0, 60.0)], 0x00_72_b2, 2.0);
        assert_eq!(count(&raster, 0x00_72_b2, (20, 59, 100, 2)), 200 * 4);
        raster.dot((150.0, 60.0), 5.0, 0xb0_3a_00);
        assert!(count(&raster, 0xb0_3a_00, (145, 55, 10, 10)) > 250, "a circle of 314 pixels, its edge aside");
        let png = raster.finish().unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() < 10_000);
    }

    #[test]
    fn what_fonts_lack_is_written_otherwise() {
        assert_eq!(known("2,600 → 97 µs, −4 %…"), "2,600 to 97 µs, -4 %...");
    }
}
