//! The page and its messages over HTTP: what is answered to whom.

use super::watch::{Watch, Watcher};
use crate::answer::Refusal;
use crate::error::ServeError;
use crate::routes::finished;
use crate::served::Served;
use crate::server::Running;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::body::Frame;
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;

/// Connections at once: those of all viewers, of which each has one for messages, and of pages that are being loaded.
const MAX_CONNECTIONS: usize = 256;

const PAGE: &str = include_str!("../../page/live.html");
const STYLE: &str = include_str!("../../page/live.css");
/// One scope, so that nothing of it is global.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../page/format.js"),
    include_str!("../../page/chart.js"),
    include_str!("../../page/charts.js"),
    include_str!("../../page/standing.js"),
    include_str!("../../page/live.js"),
    "})();\n",
);

/// A server of the live view. It ends when this is dropped.
pub struct WebServer {
    // Viewers are let go before the server waits for its thread.
    _watcher: Watcher,
    _running: Running,
    address: SocketAddr,
}

impl WebServer {
    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// An address of this machine at which browsers may ask.
#[derive(Clone, Debug)]
pub struct WebAddress {
    words: String,
    addresses: Vec<SocketAddr>,
}

impl WebAddress {
    /// Understands `HOST:PORT`. Others than this machine can reach the address only where that is allowed.
    pub fn new(words: &str, may_be_reached: bool) -> Result<WebAddress, ServeError> {
        let failed = |source| ServeError::Address { address: words.into(), source };
        let addresses: Vec<SocketAddr> = words.to_socket_addrs().map_err(failed)?.collect();
        if !may_be_reached && !addresses.iter().all(|address| address.ip().is_loopback()) {
            return Err(ServeError::Exposed { address: words.into() });
        }
        Ok(WebAddress { words: words.into(), addresses })
    }
}

/// Shows cards to browsers at an address.
pub fn web_server(served: Vec<Served>, address: &WebAddress) -> Result<WebServer, ServeError> {
    let failed = |source| ServeError::Address { address: address.words.as_str().into(), source };
    let listener = TcpListener::bind(&address.addresses[..]).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let watcher = Watcher::begin(served).map_err(failed)?;
    let listen = || {
        listener.set_nonblocking(true)?;
        tokio::net::TcpListener::from_std(listener)
    };
    let site = site(Arc::clone(&watcher.watch));
    let running = Running::begin("web", listen, site, MAX_CONNECTIONS).map_err(failed)?;
    Ok(WebServer { _watcher: watcher, _running: running, address: bound })
}

fn site(watch: Arc<Watch>) -> Router {
    let page = Bytes::from(page());
    let policy = HeaderValue::from_str(&policy()).expect("hashes are text");
    let shows = async move || Html(page);
    let router = Router::new().route("/", get(shows)).route("/messages", get(messages));
    finished(router, watch).layer(middleware::from_fn_with_state(policy, guard))
}

/// The page, with all that it needs.
fn page() -> String {
    PAGE.replace("/*style*/", STYLE).replace("/*script*/", SCRIPT)
}

/// Our own script and style, our own messages, and nothing else.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Answers only who has asked this machine by its address, and tells browsers what a page of ours may do.
async fn guard(State(policy): State<HeaderValue>, request: Request, next: Next) -> Response {
    let mut response = match is_ours(request.headers(), request.uri()) {
        true => next.run(request).await,
        false => {
            let message = "ask by address or by localhost: a name may be another site's (DNS rebinding)";
            Refusal::new(StatusCode::MISDIRECTED_REQUEST, message).into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The host that was asked is an address or `localhost`: no site can have these names for its own, and so none can have a
/// browser that has loaded it read from here.
fn is_ours(headers: &HeaderMap, uri: &Uri) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let is_ours = |host: &str| is_address(host);
    host.to_str().is_ok_and(is_ours) && uri.authority().is_none_or(|of_uri| is_ours(of_uri.as_str()))
}

fn is_address(host: &str) -> bool {
    if host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok() {
        return true;
    }
    let is_v6 = |host: &str| host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).is_some_and(is_ip);
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost") || is_v6(name)
}

fn is_ip(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

async fn messages(State(watch): State<Arc<Watch>>) -> Response {
    let Some(receiver) = watch.join() else {
        let message = format!("{} viewers watch already", super::watch::MOST_VIEWERS);
        return Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::new(Messages(receiver))).into_response()
}

/// The messages to a viewer, until it goes or is let go.
struct Messages(Receiver<Bytes>);

impl hyper::body::Body for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|message| message.map(|message| Ok(Frame::data(message))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_asked() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "[::1]", "localhost", "LOCALHOST:80", "10.0.0.7:1"] {
            assert!(is_address(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "localhost:evil",
            "127.0.0.1@evil.example",
            "[::1].evil.example",
            "127.0.0.1:99999",
        ] {
            assert!(!is_address(host), "{host}");
        }
    }

    #[test]
    fn the_page_is_small_and_whole() {
        let page = page();
        assert!(page.len() <= 150_000, "{} bytes", page.len());
        assert!(page.contains(SCRIPT) && page.contains(STYLE));
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
        assert!(!page.contains("http://") && !page.contains("https://"));
    }
}
