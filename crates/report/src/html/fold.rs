//! Parts of the page that are folded under their headings.

use maud::{Markup, html};

/// A heading that unfolds what belongs to it; the script draws charts when they are first seen.
pub fn folded(id: &str, heading: &str, open: bool, body: &Markup) -> Markup {
    html! {
        details.question open[open] {
            summary { h2 id=(id) { (heading) } }
            (body)
        }
    }
}
