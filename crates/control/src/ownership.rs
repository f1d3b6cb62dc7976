//! The resources of a shared card's owner, and of an operator who wants another one.

use crate::answer::{Nothing, Refusal, body};
use crate::controller::{Controller, Ownership, OwnershipReply, Part};
use crate::served::Served;
use axum::extract::{FromRef, Request, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use std::sync::Arc;

type Answer = Result<(StatusCode, Json<OwnershipReply>), Refusal>;

/// The controller of a card, if it is shared.
#[derive(Clone)]
pub(crate) struct OfCard(Option<Arc<dyn Controller>>);

impl FromRef<Arc<Served>> for OfCard {
    fn from_ref(served: &Arc<Served>) -> OfCard {
        OfCard(served.controller.clone())
    }
}

pub(crate) async fn show(State(OfCard(controller)): State<OfCard>) -> Json<OwnershipReply> {
    Json(OwnershipReply { ownership: controller.map(|controller| controller.ownership()) })
}

pub(crate) async fn take_over(State(OfCard(controller)): State<OfCard>, request: Request) -> Answer {
    let Nothing {} = body(request).await?;
    wish(controller, Part::Owner, |controller| controller.take_over())
}

pub(crate) async fn release(State(OfCard(controller)): State<OfCard>, request: Request) -> Answer {
    let Nothing {} = body(request).await?;
    wish(controller, Part::Standby, |controller| controller.release())
}

/// Has it do what makes it have a part, unless it has it already.
fn wish(controller: Option<Arc<dyn Controller>>, part: Part, act: impl FnOnce(&dyn Controller)) -> Answer {
    let Some(controller) = controller else {
        return Err(Refusal::new(StatusCode::CONFLICT, "the card is not shared (flashrig serve --controller)"));
    };
    let is = controller.ownership();
    if is.part == part {
        let message = match part {
            Part::Owner => "this controller owns the card already",
            _ => "this controller does not own the card",
        };
        return Err(Refusal::new(StatusCode::CONFLICT, message));
    }
    act(&*controller);
    Ok((StatusCode::ACCEPTED, Json(OwnershipReply { ownership: Some(controller.ownership()) })))
}

/// The resources of a controller that does not own its card.
pub(crate) fn of_standby(controller: Arc<dyn Controller>) -> Router {
    let asked = Arc::clone(&controller);
    let elsewhere = async move || {
        let Ownership { controller: number, claimant, generation, .. } = asked.ownership();
        let owner = match claimant.filter(|claimant| *claimant != number) {
            Some(claimant) => format!("the last claim is that of controller {claimant}, generation {generation}"),
            None => "no other controller has claimed it".to_owned(),
        };
        Refusal::new(StatusCode::CONFLICT, format!("controller {number} does not own the card: {owner}"))
    };
    Router::new()
        .route("/v1/ownership", get(show))
        .route("/v1/ownership/take-over", post(take_over))
        .fallback(elsewhere)
        .with_state(OfCard(Some(controller)))
}
