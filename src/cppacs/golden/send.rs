//! The sender of the data channel: what its worms are, and how the transfer ends.

use crate::net::hyper::Place;

use super::message::sum;
use super::runs::{Run, runs};
use super::tcw::{Descriptor, SendReason};
use super::words::BusError;
use super::worms::cut;

/// How a transfer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Where the send flag is written.
    pub flag: Option<u32>,
    /// Why it was given up.
    pub reason: Option<SendReason>,
}

/// The data of a transfer, run by run, up to the first that is outside the area or cannot be read.
fn data(
    descriptor: &Descriptor,
    mut read: impl FnMut(Run) -> Result<Vec<u32>, (Vec<u32>, BusError)>,
) -> (Vec<u32>, Option<SendReason>) {
    let mut words = Vec::new();
    let stride = descriptor.strides.map(|strides| strides.of_source());
    for run in runs(descriptor.source, descriptor.length, stride, descriptor.size) {
        let Ok(run) = run else {
            return (words, Some(SendReason::Area));
        };
        match read(run) {
            Ok(data) => words.extend(data),
            Err((data, BusError)) => {
                words.extend(data);
                return (words, Some(SendReason::Memory));
            }
        }
    }
    (words, None)
}

/// The worms of a transfer that node `src` sends. `read` gives a run's words; or those before the first that memory
/// does not give.
pub fn worms(
    descriptor: &Descriptor,
    src: Place,
    read: impl FnMut(Run) -> Result<Vec<u32>, (Vec<u32>, BusError)>,
) -> (Vec<Vec<u32>>, Sent) {
    let (mut words, reason) = match (descriptor.request, descriptor.value) {
        (Some(request), _) => (request.words().to_vec(), None),
        (None, Some(value)) => (vec![value as u32, (value >> 32) as u32], None),
        (None, None) => data(descriptor, read),
    };
    let mut worms = Vec::new();
    for cut in cut(descriptor, src) {
        let count = cut.header.length as usize / 4;
        let rest = words.split_off(count.min(words.len()));
        let is_short = words.len() < count;
        // The rest of a broken worm is 0, and its sum says so.
        words.resize(count, 0);
        let mut worm = cut.header.worm(&words);
        if is_short {
            let last = worm.len() - 1;
            worm[last] = !sum(&worm[..last]);
        }
        worms.push(worm);
        words = rest;
        if is_short {
            break;
        }
    }
    let flag = descriptor.flag;
    (worms, Sent { flag, reason })
}
