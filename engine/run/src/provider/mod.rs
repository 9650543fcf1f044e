//! Models: written ones and those behind HTTP, one gate per provider and model.
//!
//! 1. A key goes only to the host it is bound to: the vendor's own, or the `base_url` of a user's, policy's or flag's
//!    layer that names the key's variable. It stands in no message.
//! 2. An answer is whole or it is none: what a broken stream has brought is thrown away.
//! 3. Waiting and trying again happen here and nowhere else; a caller sees one answer or one final failure.
//! 4. Dropping a request ends it.

mod address;
#[cfg(test)]
mod docs_tests;
mod endpoint;
mod error;
mod gate;
mod handle;
mod http;
mod registry;
mod retry;
mod script;
mod sign;
#[cfg(test)]
pub(crate) mod testing;

pub use error::ProviderError;
pub use handle::{ModelHandle, Written};
pub use registry::{Chosen, Lookup, ProviderConfig, Providers};
pub use sign::{Cursor, Sign, Tried};
