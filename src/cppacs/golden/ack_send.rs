//! The sender of the acknowledge channel: a transfer is one worm.

use crate::net::hyper::Place;

use super::send::Sent;
use super::tcw::{Descriptor, SendReason};
use super::words::BusError;
use super::worms::cut;

/// The worm of a transfer that node `src` sends. `read` gives so many words from an address on. Where memory reports an
/// error nothing is sent.
pub fn worm(
    descriptor: &Descriptor,
    src: Place,
    read: impl FnOnce(u32, u32) -> Result<Vec<u32>, BusError>,
) -> (Option<Vec<u32>>, Sent) {
    let flag = descriptor.flag;
    let payload = match descriptor.request {
        Some(request) => Ok(request.words().to_vec()),
        None => read(descriptor.base.wrapping_add(descriptor.source), descriptor.length / 4),
    };
    let header = cut(descriptor, src).next().expect("a transfer has a worm").header;
    match payload {
        Ok(payload) => (Some(header.worm(&payload)), Sent { flag, reason: None }),
        Err(BusError) => {
            let reason = Some(SendReason::Memory);
            (None, Sent { flag, reason })
        }
    }
}
