//! Answers about the volumes of a card.

use crate::answer::{Refusal, body};
use crate::served::Served;
use crate::words::{Grow, NewVolume, Volumes};
use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use live::{VolumeChange, VolumeError};
use std::io::Read;
use std::sync::Arc;

type Shared = State<Arc<Served>>;
type Answer = Result<Json<Volumes>, Refusal>;

impl From<VolumeChange> for Refusal {
    fn from(error: VolumeChange) -> Refusal {
        let status = match &error {
            VolumeChange::Table(VolumeError::Unknown { .. }) => StatusCode::NOT_FOUND,
            VolumeChange::Table(VolumeError::Name { .. } | VolumeError::Size { .. }) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            _ => StatusCode::CONFLICT,
        };
        Refusal::new(status, error.to_string())
    }
}

fn found(served: &Served) -> Answer {
    let volumes = served.live.volumes().ok_or(VolumeChange::NotDivided)?;
    Ok(Json(volumes.into()))
}

/// Does what waits for the card, and then tells the servers of the card.
async fn change(served: Arc<Served>, act: impl FnOnce(&Served) -> Result<(), Refusal> + Send + 'static) -> Answer {
    let changed = tokio::task::spawn_blocking(move || {
        act(&served)?;
        if let Some(frontends) = &served.frontends {
            frontends.volumes_changed();
        }
        found(&served)
    });
    changed.await.map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?
}

pub(crate) async fn all(State(served): Shared) -> Answer {
    found(&served)
}

pub(crate) async fn create(State(served): Shared, request: Request) -> Answer {
    let NewVolume { name, size_bytes } = body(request).await?;
    let uuid = random().map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    change(served, move |served| {
        if served.frontends.as_ref().is_some_and(|frontends| frontends.is_taken(&name)) {
            return Err(VolumeChange::Table(VolumeError::Exists { name: name.as_str().into() }).into());
        }
        served.live.create_volume(&name, size_bytes, uuid)?;
        tracing::info!(card = served.name, volume = name, size_bytes, "a volume was made");
        Ok(())
    })
    .await
}

pub(crate) async fn grow(State(served): Shared, Path(name): Path<String>, request: Request) -> Answer {
    let Grow { size_bytes } = body(request).await?;
    change(served, move |served| {
        served.live.grow_volume(&name, size_bytes)?;
        tracing::info!(card = served.name, volume = name, size_bytes, "a volume has grown");
        Ok(())
    })
    .await
}

pub(crate) async fn delete(State(served): Shared, Path(name): Path<String>) -> Answer {
    change(served, move |served| {
        served.live.delete_volume(&name)?;
        tracing::info!(card = served.name, volume = name, "a volume was deleted");
        Ok(())
    })
    .await
}

/// A name that no other volume has, of this or another card.
fn random() -> std::io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
