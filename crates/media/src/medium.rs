//! The medium of a card: emulated flash, which can be copied and harmed, or anything else.

use crate::{Flash, Media};
use std::any::Any;
use std::ops::{Deref, DerefMut};

/// What a card's bytes lie on.
#[derive(Debug)]
pub enum Medium {
    /// Emulated flash.
    Flash(Box<Flash>),
    /// What lies outside of this program.
    Outside(Box<dyn Media>),
}

impl Medium {
    /// Emulated flash.
    pub fn flash(&self) -> Option<&Flash> {
        match self {
            Medium::Flash(flash) => Some(flash),
            Medium::Outside(_) => None,
        }
    }

    /// Emulated flash, to do it harm.
    pub fn flash_mut(&mut self) -> Option<&mut Flash> {
        match self {
            Medium::Flash(flash) => Some(flash),
            Medium::Outside(_) => None,
        }
    }

    /// Emulated flash.
    pub fn into_flash(self) -> Option<Flash> {
        match self {
            Medium::Flash(flash) => Some(*flash),
            Medium::Outside(_) => None,
        }
    }

    /// A medium of a certain kind.
    pub fn outside<M: Media>(&self) -> Option<&M> {
        match self {
            Medium::Flash(_) => None,
            Medium::Outside(media) => (&**media as &dyn Any).downcast_ref(),
        }
    }

    /// A medium of a certain kind.
    pub fn outside_mut<M: Media>(&mut self) -> Option<&mut M> {
        match self {
            Medium::Flash(_) => None,
            Medium::Outside(media) => (&mut **media as &mut dyn Any).downcast_mut(),
        }
    }
}

impl Deref for Medium {
    type Target = dyn Media;

    #[inline]
    fn deref(&self) -> &dyn Media {
        match self {
            Medium::Flash(flash) => &**flash,
            Medium::Outside(media) => &**media,
        }
    }
}

impl DerefMut for Medium {
    #[inline]
    fn deref_mut(&mut self) -> &mut dyn Media {
        match self {
            Medium::Flash(flash) => &mut **flash,
            Medium::Outside(media) => &mut **media,
        }
    }
}

impl From<Flash> for Medium {
    fn from(flash: Flash) -> Medium {
        Medium::Flash(Box::new(flash))
    }
}

impl Clone for Medium {
    /// # Panics
    /// When it lies outside of this program: there is one of it.
    fn clone(&self) -> Medium {
        match self {
            Medium::Flash(flash) => Medium::Flash(flash.clone()),
            Medium::Outside(media) => panic!("a medium outside of this program can't be copied: {media:?}"),
        }
    }
}
