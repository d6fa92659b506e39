//! From a profile to something that connects.

use std::sync::Arc;

use crate::link::Dial;
use crate::model::profile::{ServerProfile, TopologyProfile};
use crate::model::secret::Secret;

/// A dialer for one server of a topology, with the password found for it.
pub fn dialer(topology: &TopologyProfile, server: &ServerProfile, secret: Option<&Secret>) -> Arc<dyn Dial> {
    let _ = (topology, server, secret);
    todo!("lands with the dialects")
}
