//! The resources, and what is answered.

use crate::answer::{Nothing, Refusal, body};
use crate::drives;
use crate::metrics::{METRICS_TYPE, metrics};
use crate::ownership;
use crate::served::Served;
use crate::volumes;
use crate::words::{BeyondParity, Insert, Latencies, Pull, Pulled, Range, Smart, StatusReply};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, patch, post};
use axum::{Json, Router};
use device::SECTOR_BYTES;
use live::{Action, Bell, Change, ControlError, Kind, ModuleStatus, Settings};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Notify;

type Shared = State<Arc<Served>>;
type Answer<T> = Result<Json<T>, Refusal>;

fn table() -> [(&'static str, &'static str, MethodRouter<Arc<Served>>); 23] {
    [
        ("GET", "/v1/status", get(status)),
        ("GET", "/v1/modules", get(modules)),
        ("GET", "/v1/drives", get(drives)),
        ("GET", "/v1/smart", get(smart)),
        ("GET", "/v1/latencies", get(latencies)),
        ("GET", "/v1/metrics", get(prometheus)),
        ("GET", "/v1/clients", get(clients)),
        ("GET", "/v1/exports", get(exports)),
        ("GET", "/v1/settings", get(settings)),
        ("PATCH", "/v1/settings", patch(change)),
        ("POST", "/v1/modules/{slot}/pull", post(pull)),
        ("POST", "/v1/modules/{slot}/insert", post(insert)),
        ("POST", "/v1/power/cut", post(power_cut)),
        ("POST", "/v1/power/on", post(power_on)),
        ("POST", "/v1/scrub", post(scrub)),
        ("POST", "/v1/trim", post(trim)),
        ("GET", "/v1/ownership", get(ownership::show)),
        ("POST", "/v1/ownership/take-over", post(ownership::take_over)),
        ("POST", "/v1/ownership/release", post(ownership::release)),
        ("GET", "/v1/volumes", get(volumes::all)),
        ("POST", "/v1/volumes", post(volumes::create)),
        ("PATCH", "/v1/volumes/{name}", patch(volumes::grow)),
        ("DELETE", "/v1/volumes/{name}", delete(volumes::delete)),
    ]
}

/// Method and path of each resource.
pub fn routes() -> Vec<(&'static str, &'static str)> {
    table().into_iter().map(|(method, path, _)| (method, path)).collect()
}

/// Routes all resources.
pub(crate) fn control(served: Arc<Served>) -> Router {
    let router = table().into_iter().fold(Router::new(), |router, (_, path, answer)| router.route(path, answer));
    finished(router, served)
}

/// Metrics and nothing else.
pub(crate) fn metrics_only(served: Vec<Served>) -> Router {
    let served: Arc<[Served]> = served.into();
    let all = async move |State(served): State<Arc<[Served]>>| exposition(&served);
    finished(Router::new().route("/metrics", get(all)), served)
}

/// With answers for what is not there.
pub(crate) fn finished<S: Clone + Send + Sync + 'static>(router: Router<S>, served: S) -> Router {
    router.fallback(unknown).method_not_allowed_fallback(not_so).with_state(served)
}

fn exposition(served: &[Served]) -> Response {
    ([(header::CONTENT_TYPE, METRICS_TYPE)], metrics(served)).into_response()
}

async fn unknown(request: Request) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("there is no {}", request.uri().path()))
}

async fn not_so(request: Request) -> Refusal {
    let message = format!("{} does not go with {}", request.uri().path(), request.method());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

async fn status(State(served): Shared) -> Json<StatusReply> {
    Json(StatusReply {
        name: served.name.clone(),
        card: served.card.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        clients_turned_away: served.frontend().turned_away,
        status: served.live.status(),
    })
}

async fn modules(State(served): Shared) -> Json<Value> {
    Json(json!({ "modules": served.live.modules() }))
}

async fn drives(State(served): Shared) -> Answer<Value> {
    // Drives are asked, and may take their time.
    let asked = tokio::task::spawn_blocking(move || drives::drives(&served.live)).await;
    let drives = asked.map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the drives could not be asked"))?;
    Ok(Json(json!({ "drives": drives })))
}

async fn smart(State(served): Shared) -> Answer<Smart> {
    Ok(Json(served.live.health().ok_or(ControlError::NoPower)?.into()))
}

async fn latencies(State(served): Shared) -> Json<Latencies> {
    let of = |kind| served.live.latencies(kind);
    Json(Latencies { reads: of(Kind::Read), writes: of(Kind::Write), flushes: of(Kind::Flush), trims: of(Kind::Trim) })
}

async fn prometheus(State(served): Shared) -> Response {
    exposition(std::slice::from_ref(&served))
}

async fn clients(State(served): Shared) -> Json<Value> {
    Json(json!({ "clients": served.frontend().clients }))
}

async fn exports(State(served): Shared) -> Json<Value> {
    Json(json!({ "exports": served.frontend().exports }))
}

async fn settings(State(served): Shared) -> Json<Settings> {
    Json(served.live.status().settings)
}

async fn change(State(served): Shared, request: Request) -> Answer<Settings> {
    let change: Change = body(request).await?;
    served.live.act(Action::Set(change))?;
    Ok(Json(served.live.status().settings))
}

fn slot(words: &str) -> Result<u32, Refusal> {
    words.parse().map_err(|_| Refusal::new(StatusCode::NOT_FOUND, "a slot is a number"))
}

fn module(served: &Served, slot: u32) -> Answer<ModuleStatus> {
    let found = served.live.modules().into_iter().find(|module| module.slot == slot);
    found.map(Json).ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, format!("no slot {slot}")))
}

async fn pull(State(served): Shared, Path(words): Path<String>, request: Request) -> Answer<Pulled> {
    let Pull { force } = body(request).await?;
    let slot = slot(&words)?;
    let cost = served.live.cost_of_pull(slot);
    served.live.act(Action::Pull { slot, force })?;
    tracing::info!(card = served.name, slot, "a module was pulled");
    let Json(module) = module(&served, slot)?;
    Ok(Json(Pulled { module, beyond_parity: cost.map(BeyondParity::from) }))
}

async fn insert(State(served): Shared, Path(words): Path<String>, request: Request) -> Answer<ModuleStatus> {
    let Insert { new, path } = body(request).await?;
    let slot = slot(&words)?;
    match path {
        None => served.live.act(Action::Insert { slot, new })?,
        Some(path) if new && is_place(&path) => {
            may_be_overwritten(&path)?;
            served.live.insert_new(slot, &path)?;
        }
        Some(path) if is_place(&path) => served.live.insert_image(slot, &path)?,
        Some(_) => {
            let message = "the path of a module is absolute";
            return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message));
        }
    }
    tracing::info!(card = served.name, slot, new, "a module was inserted");
    module(&served, slot)
}

/// It means the same to the server and to the one who asks: an absolute path, or the address of a module on a shelf.
fn is_place(path: &std::path::Path) -> bool {
    path.is_absolute() || path.to_str().is_some_and(|text| text.starts_with("nvme://"))
}

/// Refuses a block device that is in use, or holds something, whoever asks: it would be lost.
fn may_be_overwritten(path: &std::path::Path) -> Result<(), Refusal> {
    let Ok(identity) = identify::block_device(path) else { return Ok(()) };
    let permit = identify::may_be_overwritten(&identity);
    permit.map(drop).map_err(|refusal| Refusal::new(StatusCode::CONFLICT, refusal.to_string()))
}

async fn power_cut(State(served): Shared, request: Request) -> Answer<Value> {
    power(&served, request, Action::PowerCut).await
}

async fn power_on(State(served): Shared, request: Request) -> Answer<Value> {
    power(&served, request, Action::PowerOn).await
}

async fn power(served: &Served, request: Request, action: Action) -> Answer<Value> {
    let Nothing {} = body(request).await?;
    served.live.act(action)?;
    match action {
        Action::PowerOn => tracing::info!(card = served.name, "the power is back"),
        _ => tracing::info!(card = served.name, "the power was cut"),
    }
    Ok(Json(json!({ "powered": action == Action::PowerOn })))
}

async fn scrub(State(served): Shared, request: Request) -> Result<(StatusCode, Json<Value>), Refusal> {
    let Nothing {} = body(request).await?;
    served.live.act(Action::Scrub)?;
    // It may be done already.
    let share = served.live.status().scrub.unwrap_or(1.0);
    Ok((StatusCode::ACCEPTED, Json(json!({ "scrub": share }))))
}

/// Bytes that are asked for at once.
const PIECE_BYTES: u64 = 1 << 30;

struct Rings(Notify);

impl Bell for Rings {
    fn ring(&self) {
        self.0.notify_one();
    }
}

async fn trim(State(served): Shared, request: Request) -> Answer<Value> {
    let Range { offset_bytes, len_bytes } = body(request).await?;
    if served.live.volumes().is_some() {
        let message = "the card is divided into volumes: their hosts trim them";
        return Err(Refusal::new(StatusCode::CONFLICT, message));
    }
    let size_bytes = served.live.size_bytes();
    let end_bytes = offset_bytes.checked_add(len_bytes).filter(|end| len_bytes > 0 && *end <= size_bytes);
    let Some(end_bytes) = end_bytes else {
        let message = format!("a range has at least a byte, and ends within the card's {size_bytes} bytes");
        return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message));
    };
    let bell = Arc::new(Rings(Notify::new()));
    let mut port = served.live.port(bell.clone());
    let mut from = offset_bytes;
    while from < end_bytes {
        // A piece ends where a sector does: what is cut in two would stay.
        let to = (from / PIECE_BYTES * PIECE_BYTES + PIECE_BYTES).min(end_bytes);
        let mut replies = Vec::new();
        port.submit(&[live::Request::trim(0, from, (to - from) as u32)], &mut replies);
        while replies.is_empty() {
            bell.0.notified().await;
            port.replies(&mut replies);
        }
        for reply in replies {
            reply.result?;
        }
        from = to;
    }
    let sector = SECTOR_BYTES;
    let whole = (end_bytes / sector * sector).saturating_sub(offset_bytes.next_multiple_of(sector));
    Ok(Json(json!({ "trimmed_bytes": whole })))
}
