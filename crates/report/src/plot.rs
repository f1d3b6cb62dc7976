//! One chart as data: what `page/*.js` draws, what its table shows, what its CSV file has.

use crate::unit::Unit;
use serde::Serialize;
use std::borrow::Cow;

/// The machine that asked was the limit.
pub const HOST_LIMITED: u8 = 1;
/// The measured time was not steady.
pub const NOT_STEADY: u8 = 2;
/// The second is a stall.
pub const STALL: u8 = 4;

/// Marks and their meaning in words.
pub const MARKS: [(u8, &str); 3] = [
    (HOST_LIMITED, "the machine that asked was the limit"),
    (NOT_STEADY, "not steady while it was measured"),
    (STALL, "stall"),
];

/// A chart over one x axis, in one or several views.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// Id of its element, unique on the page.
    pub id: String,
    /// Caption of the plot.
    pub title: String,
    /// The quantity that varies.
    pub x: XAxis,
    /// Values of x, rising.
    pub xs: Vec<f64>,
    /// Views among which a reader chooses; never empty.
    pub views: Vec<View>,
    /// The view that is shown first.
    pub first_view: usize,
    /// Label of the choice among views.
    pub choice: &'static str,
    /// Small, without tools and without a table: another chart of the page has them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
    /// The table below, where it is not simply one row for each x.
    #[serde(skip)]
    pub table: Option<Table>,
}

/// The x axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct XAxis {
    /// Label of the axis, such as `Threads`.
    pub label: Cow<'static, str>,
    /// Suffix of a value in a sentence: `16 threads`.
    pub suffix: &'static str,
    /// Unit of its values.
    pub unit: Unit,
    /// Scale of the axis.
    pub scale: Scale,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// As it is; a y axis begins at zero.
    Linear,
    /// Each doubling (x) or tenfold (y) takes as much room.
    Log,
    /// Percentiles: 90, 99, 99.9 % are as far apart.
    Nines,
}

/// The series that are shown at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// On its button.
    pub name: String,
    /// One or two.
    pub axes: Vec<YAxis>,
    /// Lines of the view.
    pub series: Vec<Series>,
}

/// A y axis, the first on the left, the second on the right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct YAxis {
    /// Label of the axis, such as `Throughput`.
    pub label: &'static str,
    /// Unit of its values.
    pub unit: Unit,
    /// Scale of the axis.
    pub scale: Scale,
}

/// A line of a plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// Colour, dashes and marker.
    pub style: usize,
    /// Index of the view's axis.
    pub axis: usize,
    /// For each x of the plot.
    pub values: Vec<Option<f64>>,
    /// For each x, bits of [`MARKS`]; empty: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<u8>,
    /// Points without a line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dots: bool,
    /// A line without points.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub thin: bool,
}

impl Series {
    /// A line with points; drops marks that say nothing and values that can't be drawn.
    pub fn line(name: impl Into<String>, style: usize, values: Vec<Option<f64>>, marks: Vec<u8>) -> Series {
        let values = values.into_iter().map(|v| v.filter(|v| v.is_finite())).collect();
        let marks = if marks.iter().all(|&m| m == 0) { Vec::new() } else { marks };
        Series { name: name.into(), style, axis: 0, values, marks, dots: false, thin: false }
    }

    /// Returns whether there is anything to draw.
    pub fn has_values(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }
}

impl View {
    /// With one axis.
    pub fn new(name: impl Into<String>, axis: YAxis, series: Vec<Series>) -> View {
        View { name: name.into(), axes: vec![axis], series: series.into_iter().filter(Series::has_values).collect() }
    }
}

impl Plot {
    /// A plot of the views that have something to show; none when no view has.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        x: XAxis,
        xs: Vec<f64>,
        views: Vec<View>,
    ) -> Option<Plot> {
        let views: Vec<View> = views.into_iter().filter(|v| !v.series.is_empty()).collect();
        let (id, title) = (id.into(), title.into());
        (!views.is_empty()).then_some(Plot {
            id,
            title,
            x,
            xs,
            views,
            first_view: 0,
            choice: "Show",
            compact: false,
            table: None,
        })
    }

    /// Begins with the first view that `wanted` accepts.
    pub fn starting_with(mut self, wanted: impl Fn(&View) -> bool) -> Plot {
        self.first_view = self.views.iter().position(wanted).unwrap_or(0);
        self
    }

    /// The table below it.
    pub fn to_table(&self) -> Table {
        self.table.clone().unwrap_or_else(|| self.row_for_each_x())
    }

    fn row_for_each_x(&self) -> Table {
        let lines = || self.views.iter().flat_map(|view| view.series.iter().map(move |series| (view, series)));
        let several = self.views.len() > 1;
        let marked = lines().any(|(_, s)| !s.marks.is_empty());
        let columns = std::iter::once(self.x.label.to_string())
            .chain(lines().map(|(view, s)| if several { format!("{}: {}", view.name, s.name) } else { s.name.clone() }))
            .chain(marked.then(|| "Remarks".to_string()))
            .collect();
        let row = |(i, &x): (usize, &f64)| {
            std::iter::once(self.x.unit.show(x))
                .chain(lines().map(|(view, s)| match s.values[i] {
                    Some(value) => view.axes[s.axis].unit.show(value),
                    None => "–".into(),
                }))
                .chain(marked.then(|| self.remarks(i)))
                .collect()
        };
        let rows = self.xs.iter().enumerate().map(row).collect();
        Table { caption: self.title.clone(), columns, rows, text_columns: usize::from(marked) }
    }

    /// Returns the remarks on the values at an x.
    fn remarks(&self, i: usize) -> String {
        let mut said: Vec<String> = Vec::new();
        for view in &self.views {
            for series in &view.series {
                let mark = series.marks.get(i).copied().unwrap_or(0);
                for (_, words) in MARKS.iter().filter(|(bit, _)| mark & bit != 0) {
                    let alone = view.series.iter().filter(|s| !s.marks.is_empty()).all(|s| s.marks == series.marks);
                    let text = if alone { words.to_string() } else { format!("{}: {words}", series.name) };
                    if !said.contains(&text) {
                        said.push(text);
                    }
                }
            }
        }
        said.join("; ")
    }
}

/// A table, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Caption of the table.
    pub caption: String,
    /// Headings; the first column's cells are headings too.
    pub columns: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// Number of columns at the end that hold words, not numbers.
    pub text_columns: usize,
}
