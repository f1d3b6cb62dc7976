//! Contents of the page besides its data: uPlot, our script, our style. No build step, no network.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// uPlot as its authors published it (vendor/uplot/README.md).
pub const UPLOT_JS: &str = include_str!("../vendor/uplot/uPlot.iife.min.js");
/// Style sheet of uPlot.
pub const UPLOT_CSS: &str = include_str!("../vendor/uplot/uPlot.min.css");
/// Its licence, which goes where it goes.
pub const UPLOT_LICENSE: &str = include_str!("../vendor/uplot/LICENSE");

/// Our own style sheet.
pub const CSS: &str = concat!(
    include_str!("../page/colours.css"),
    include_str!("../page/page.css"),
    include_str!("../page/answer.css"),
    include_str!("../page/plot.css"),
    include_str!("../page/print.css"),
);

/// Our script: one scope, so that nothing of it is global.
pub const JS: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../page/format.js"),
    include_str!("../page/scale.js"),
    include_str!("../page/style.js"),
    include_str!("../page/csv.js"),
    include_str!("../page/chart.js"),
    include_str!("../page/tooltip.js"),
    include_str!("../page/controls.js"),
    include_str!("../page/plot.js"),
    include_str!("../page/theme.js"),
    include_str!("../page/fold.js"),
    include_str!("../page/print.js"),
    include_str!("../page/main.js"),
    "})();\n",
);

/// A hash as a content security policy names it.
pub fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
