//! Frame of the page's content: head, header, footer, data, scripts.

use crate::assets::{CSS, JS, UPLOT_CSS, UPLOT_JS, UPLOT_LICENSE, csp_hash};
use crate::devices::clip;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The document. Nothing may be loaded, and only the scripts and styles that are meant to be here run.
pub fn document(title: &str, body: &Markup, data: &Markup) -> Markup {
    let policy = format!(
        "default-src 'none'; script-src {} {}; style-src {} {}; img-src data:; base-uri 'none'; form-action 'none'",
        csp_hash(UPLOT_JS),
        csp_hash(JS),
        csp_hash(UPLOT_CSS),
        csp_hash(CSS),
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &policy, &html! {
                (PreEscaped(format!("<!--\nCharts are drawn by uPlot:\n\n{UPLOT_LICENSE}\n-->")))
                style { (PreEscaped(UPLOT_CSS)) }
            }))
            body {
                a.skip href="#main" { "Skip to the content" }
                (body)
                p #announce .hidden role="status" aria-live="polite" {}
                (data)
                script { (PreEscaped(UPLOT_JS)) }
                script { (PreEscaped(JS)) }
            }
        }
    }
}

/// The head of any page: its policy, its title, `more`, and the style that all pages share.
pub fn head(title: &str, policy: &str, more: &Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (title) " · Flashrig" }
            // Without it a browser would ask its server for one.
            link rel="icon" href="data:,";
            (more)
            style { (PreEscaped(CSS)) }
        }
    }
}

/// A block of JSON; `json` must come from [`crate::embed::json`].
pub fn data(id: &str, json: &str) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(json)) } }
}

/// Title, and what acts on the whole page.
pub fn header(title: &str, subtitle: &str) -> Markup {
    html! {
        header.page {
            div {
                h1 { (title) }
                p.subtitle { (subtitle) }
            }
            div.page-tools #page-tools {}
        }
        noscript {
            p.partial { "Charts need JavaScript; the tables below have their figures." }
        }
    }
}

/// Renders the footer, which names the generator.
pub fn footer(generator: &str) -> Markup {
    let generator = clip(generator, 80);
    html! {
        footer {
            p { "Written by " (generator) ". MB are 10" sup { "6" } " bytes, KiB 1024. This page loads nothing from anywhere." }
        }
    }
}
