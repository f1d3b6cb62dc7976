//! The medium of a card: emulated flash, which can be copied and damaged, or any other medium.

use crate::flash::Flash;
use crate::media::Media;
use std::any::Any;
use std::ops::{Deref, DerefMut};

/// The medium of a card.
#[derive(Debug)]
pub enum Medium {
    /// The medium is emulated flash.
    Flash(Box<Flash>),
    /// The medium lies outside of this program, in files or on drives.
    Outside(Box<dyn Media>),
}

impl Medium {
    /// The emulated flash, if it is that.
    pub fn flash(&self) -> Option<&Flash> {
        match self {
            Medium::Flash(flash) => Some(flash),
            Medium::Outside(_) => None,
        }
    }

    /// The emulated flash, to damage it.
    pub fn flash_mut(&mut self) -> Option<&mut Flash> {
        match self {
            Medium::Flash(flash) => Some(flash),
            Medium::Outside(_) => None,
        }
    }

    /// Gives the emulated flash back, if it is that.
    pub fn into_flash(self) -> Option<Flash> {
        match self {
            Medium::Flash(flash) => Some(*flash),
            Medium::Outside(_) => None,
        }
    }

    /// The medium outside, if it is of type `M`.
    pub fn outside<M: Media>(&self) -> Option<&M> {
        match self {
            Medium::Flash(_) => None,
            Medium::Outside(media) => (&**media as &dyn Any).downcast_ref(),
        }
    }

    /// The medium outside, if it is of type `M`, to change it.
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
    /// If the medium lies outside of this program, because it can't be copied.
    fn clone(&self) -> Medium {
        match self {
            Medium::Flash(flash) => Medium::Flash(flash.clone()),
            Medium::Outside(media) => panic!("a medium outside of this program can't be copied: {media:?}"),
        }
    }
}
