//! Results as pages.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use results::WhatifResult;
use serde_json::Value;

/// The page of a result: one HTML file that needs no network. Several reviews or runs make a page of comparison.
///
/// Raises ValueError where a text is no result that has a page.
#[pyfunction]
pub fn page(py: Python<'_>, texts: Vec<String>) -> PyResult<String> {
    py.detach(|| made(&texts)).map_err(PyValueError::new_err)
}

fn made(texts: &[String]) -> Result<String, String> {
    if let [text] = texts {
        let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if json["kind"] == WhatifResult::KIND {
            let result: WhatifResult = serde_json::from_value(json).map_err(|error| error.to_string())?;
            return Ok(report::whatif_page(&result));
        }
    }
    let read = |text: &String| import::parse("result", text.as_bytes()).map_err(|error| error.to_string());
    let mut reviews = texts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    match reviews.as_slice() {
        [] => Err("there is no result".into()),
        [review] => Ok(report::review_page(review)),
        several if several.len() > report::MAX_DEVICES => {
            Err(format!("{} results; a page has at most {}", several.len(), report::MAX_DEVICES))
        }
        _ => {
            report::line_up(&mut reviews);
            Ok(report::compare_page(&reviews))
        }
    }
}
