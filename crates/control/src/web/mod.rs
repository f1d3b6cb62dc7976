//! The live view: a page for browsers that shows how cards stand, second by second, and can change nothing.
//!
//! A thread looks at the cards once a second and keeps the last fifteen minutes ([`watch`]); what it has seen is written
//! as JSON once, whoever watches. Browsers get the page, all that is kept, and each second from then on ([`site`]).

mod happenings;
mod history;
mod row;
mod site;
mod standing;
mod watch;

pub use site::{WebAddress, WebServer, web_server};
