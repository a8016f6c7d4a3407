//! From a transfer to worms: where it is cut, and what each header says.

use crate::cppacs::regs::{SIZE_ACK, SIZE_BROADCAST, SIZE_WORM};
use crate::net::hyper::Place;

use super::message::Header;
use super::runs::{Bad, Run, Stride, runs};
use super::tcw::{Descriptor, Strides};

/// A worm of a transfer before its data are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub header: Header,
    /// Its data in the sender's area, up to the first bad run.
    pub runs: Vec<Run>,
    /// A run leaves the area: the worm is given up, and none follows.
    pub is_bad: bool,
}

/// The worms of a transfer; see [`cut`].
#[derive(Clone, Debug)]
pub struct Cuts {
    descriptor: Descriptor,
    src: Place,
    /// Bytes still to come.
    bytes: u32,
    worm: u32,
    /// Where the next worm begins in the area and in the field.
    source: u32,
    offset: u32,
    /// What is left of its first element.
    left: u32,
    is_over: bool,
}

/// Cuts a transfer that node `src` sends: into worms of 64 KB, with a mask of 992 bytes, anywhere at 8 bytes.
pub fn cut(descriptor: &Descriptor, src: Place) -> Cuts {
    Cuts {
        descriptor: *descriptor,
        src,
        bytes: descriptor.request.map_or(descriptor.length, |_| SIZE_ACK),
        worm: 0,
        source: descriptor.source,
        offset: descriptor.offset,
        left: descriptor.strides.map_or(0, |strides| strides.element),
        is_over: false,
    }
}

impl Cuts {
    /// No worm follows.
    pub fn is_over(&self) -> bool {
        self.bytes == 0 || self.is_over
    }

    fn stride(&self, step: impl Fn(Strides) -> u32) -> Option<Stride> {
        self.descriptor.strides.map(|strides| Stride {
            element: strides.element,
            left: self.left,
            step: step(strides),
        })
    }

    /// Goes on behind the runs of a worm of so many bytes. Places beyond 32 bits wrap; who takes them checks them.
    fn advance(&mut self, bytes: u32) {
        self.bytes -= bytes;
        self.worm += 1;
        let Some(Strides {
            element,
            source_step,
            step,
        }) = self.descriptor.strides
        else {
            self.source = self.source.wrapping_add(bytes);
            self.offset = self.offset.wrapping_add(bytes);
            return;
        };
        // Bytes from the start of the first element; elements that are behind us.
        let done = element - self.left + bytes;
        let (elements, part) = (done / element, done % element);
        let moved = |at: u32, step: u32| {
            let start = at.wrapping_sub(element - self.left);
            start.wrapping_add(step.wrapping_mul(elements)).wrapping_add(part)
        };
        (self.source, self.offset) = (moved(self.source, source_step), moved(self.offset, step));
        self.left = element - part;
    }
}

impl Iterator for Cuts {
    type Item = Cut;

    fn next(&mut self) -> Option<Cut> {
        if self.is_over() {
            return None;
        }
        let d = self.descriptor;
        let most = if d.mask == 0 { SIZE_WORM } else { SIZE_BROADCAST };
        let length = self.bytes.min(most);
        let (mut read, mut is_bad) = (Vec::new(), false);
        if d.request.is_none() && d.value.is_none() {
            let source = self.stride(|strides| strides.source_step);
            let all: Vec<Result<Run, Bad>> = runs(self.source, length, source, d.size).collect();
            is_bad = all.last() == Some(&Err(Bad));
            read = all.into_iter().flatten().collect();
        }
        let header = Header {
            to: d.place,
            mask: d.mask,
            channel: d.channel,
            kind: d.kind,
            last: length == self.bytes,
            notify: d.notify,
            src: self.src,
            field: d.field,
            key: d.key,
            offset: self.offset,
            length,
            worm: self.worm,
            stride: self.stride(|strides| strides.step),
        };
        self.is_over = is_bad;
        self.advance(length);
        let runs = read;
        Some(Cut { header, runs, is_bad })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cppacs::golden::message::{Kind, Request};
    use crate::net::hyper::Channel;

    const SRC: Place = Place { x: 1, y: 2, z: 3 };

    fn descriptor(length: u32) -> Descriptor {
        Descriptor {
            process: 1,
            tcw: 2,
            place: Place { x: 3, y: 0, z: 0 },
            mask: 0,
            channel: Channel::Data,
            kind: Kind::Write,
            notify: false,
            field: 4,
            key: 5,
            offset: 16,
            base: 0x1000,
            size: 0x20_0000,
            source: 8,
            length,
            strides: None,
            flag: None,
            value: None,
            request: None,
        }
    }

    fn lengths(descriptor: &Descriptor) -> Vec<(u32, u32, bool)> {
        cut(descriptor, SRC)
            .map(|cut| (cut.header.offset, cut.header.length, cut.header.last))
            .collect()
    }

    #[test]
    fn a_transfer_is_cut_at_64_kb_and_a_broadcast_at_992_bytes() {
        assert_eq!(lengths(&descriptor(0x1_0000)), [(16, 0x1_0000, true)]);
        assert_eq!(
            lengths(&descriptor(0x1_0008)),
            [(16, 0x1_0000, false), (0x1_0010, 8, true)]
        );
        assert_eq!(cut(&descriptor(0x10_0000), SRC).count(), 16);
        let masked = Descriptor {
            mask: 7,
            ..descriptor(2000)
        };
        assert_eq!(
            lengths(&masked),
            [(16, 992, false), (1008, 992, false), (2000, 16, true)]
        );
        let worms: Vec<_> = cut(&masked, SRC)
            .map(|cut| (cut.header.worm, cut.runs[0].offset))
            .collect();
        assert_eq!(worms, [(0, 8), (1, 1000), (2, 1992)]);
    }

    #[test]
    fn a_request_is_32_bytes_and_reads_nothing() {
        let get = Descriptor {
            kind: Kind::Get,
            channel: Channel::Ack,
            request: Some(Request::default()),
            ..descriptor(0x8000)
        };
        let cuts: Vec<Cut> = cut(&get, SRC).collect();
        assert_eq!((cuts.len(), cuts[0].header.length, cuts[0].runs.len()), (1, 32, 0));
    }

    /// The bytes that runs cover, in order.
    fn bytes(runs: impl IntoIterator<Item = Run>) -> Vec<u32> {
        runs.into_iter()
            .flat_map(|run| (run.offset..run.offset + run.bytes).step_by(8))
            .collect()
    }

    #[test]
    fn cutting_a_stride_changes_no_place() {
        for element in [8, 24, 1000, 70_000] {
            let strides = Some(Strides {
                element,
                source_step: element + 8,
                step: element + 64,
            });
            for mask in [0, 1] {
                let whole = Descriptor {
                    mask,
                    strides,
                    size: u32::MAX,
                    ..descriptor(200_000)
                };
                let stride = |step| {
                    Some(Stride {
                        element,
                        left: element,
                        step,
                    })
                };
                let all = |offset, step| runs(offset, whole.length, stride(step), u32::MAX).flatten();
                let cuts: Vec<Cut> = cut(&whole, SRC).collect();
                assert!(cuts.len() > 3);
                let read = bytes(cuts.iter().flat_map(|cut| cut.runs.clone()));
                assert_eq!(read, bytes(all(8, element + 8)));
                let written = |header: &Header| runs(header.offset, header.length, header.stride, u32::MAX).flatten();
                let put = bytes(cuts.iter().flat_map(|cut| written(&cut.header)));
                assert_eq!(put, bytes(all(16, element + 64)));
                assert!(
                    cuts.iter()
                        .all(|cut| Header::parse(&cut.header.words()) == Ok(cut.header))
                );
            }
        }
    }

    #[test]
    fn nothing_follows_a_bad_run() {
        let strides = Some(Strides {
            element: 0x8000,
            source_step: 0x1_0000,
            step: 0x8000,
        });
        let bad = Descriptor {
            strides,
            size: 0x2_0000,
            ..descriptor(0x4_0000)
        };
        let cuts: Vec<Cut> = cut(&bad, SRC).collect();
        let read: Vec<_> = cuts.iter().map(|cut| (cut.runs.len(), cut.is_bad)).collect();
        assert_eq!(read, [(2, false), (0, true)]);
    }
}
