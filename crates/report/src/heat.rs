//! A table whose cells are coloured by their value: a figure against two axes.

use crate::unit::Unit;

/// Depths of colour.
pub const STEPS: u8 = 10;

/// One figure against two axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMap {
    /// Caption of the heat map.
    pub caption: String,
    /// Names of the rows and of the columns.
    pub corner: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Headings and cells.
    pub rows: Vec<(String, Vec<Cell>)>,
    /// Deep is good.
    pub more_is_better: bool,
}

/// A cell of the heat map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The figure in words.
    pub text: String,
    /// Depth of its colour; none where there is no figure.
    pub step: Option<u8>,
}

/// The cells of rows of figures, from the least of all to the most. Each factor counts the same where figures go over
/// more than a decade: a tail of seconds must not make all milliseconds look alike.
pub fn cells(rows: &[Vec<Option<f64>>], unit: Unit) -> Vec<Vec<Cell>> {
    let figures = || rows.iter().flatten().flatten().copied().filter(|figure| figure.is_finite());
    let (least, most) = (figures().fold(f64::INFINITY, f64::min), figures().fold(f64::NEG_INFINITY, f64::max));
    let by_factor = least > 0.0 && most > 10.0 * least;
    let place = |figure: f64| if by_factor { figure.ln() } else { figure };
    let (from, to) = (place(least), place(most));
    let step = |figure: f64| {
        let share = if to > from { (place(figure) - from) / (to - from) } else { 0.0 };
        ((share * f64::from(STEPS)) as u8).min(STEPS - 1)
    };
    let cell = |figure: &Option<f64>| match figure.filter(|figure| figure.is_finite()) {
        Some(figure) => Cell { text: unit.show(figure), step: Some(step(figure)) },
        None => Cell { text: "–".into(), step: None },
    };
    rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(rows: &[Vec<Option<f64>>]) -> Vec<Option<u8>> {
        cells(rows, Unit::Ratio).iter().flatten().map(|cell| cell.step).collect()
    }

    #[test]
    fn colours_go_from_the_least_to_the_most() {
        assert_eq!(steps(&[vec![Some(1.0), Some(1.5)], vec![None, Some(2.0)]]), [Some(0), Some(5), None, Some(9)]);
        assert_eq!(steps(&[vec![Some(1.0), Some(1e3), Some(1e6)]]), [Some(0), Some(5), Some(9)]);
        assert_eq!(steps(&[vec![Some(3.0), Some(3.0), Some(f64::NAN)]]), [Some(0), Some(0), None]);
        assert!(steps(&[]).is_empty());
    }
}
