//! The channels of AXI on ports, as values of [`crate::axi`]. Junk stands where nothing is valid.

use verilated::{Input, Port};

use crate::axi::{Burst, Kind, ReadBeat, Resp, WriteBeat, WriteEnd};

/// Sets a word of at most 64 bits; a narrower port gets the low bits.
pub fn set_word(port: &dyn Input, word: u64) {
    port.set(word & (u64::MAX >> (64 - port.width())));
}

/// The burst that an address channel offers. Ports: valid, ID, address, length, size, burst, lock, cache, protection.
pub fn burst(ports: [&dyn Port; 9]) -> Option<Burst> {
    let [valid, id, addr, len, size, kind, lock, cache, prot] = ports;
    valid.is_set().then(|| Burst {
        id: id.get() as u32,
        addr: addr.get() as u32,
        len: len.get() as u8,
        size: size.get() as u8,
        kind: Kind::from_bits(kind.get() as u8),
        lock: lock.is_set(),
        cache: cache.get() as u8,
        prot: prot.get() as u8,
    })
}

/// Offers a burst at `base` + its address; junk without one. Ports as of [`burst`].
pub fn set_burst(ports: [&dyn Input; 9], burst: Option<Burst>, base: u64) {
    let [valid, id, addr, len, size, kind, lock, cache, prot] = ports;
    valid.set_bool(burst.is_some());
    let burst = burst.unwrap_or(Burst {
        id: 1,
        addr: 0xbad,
        len: 9,
        size: 1,
        kind: Kind::Wrap,
        lock: true,
        cache: 0xf,
        prot: 7,
    });
    set_word(id, burst.id.into());
    set_word(addr, base + u64::from(burst.addr));
    len.set(burst.len.into());
    size.set(burst.size.into());
    kind.set(burst.kind.bits().into());
    lock.set_bool(burst.lock);
    set_word(cache, burst.cache.into());
    prot.set(burst.prot.into());
}

/// The word that a write data channel offers. Ports: valid, data, strobes, last.
pub fn write_beat(ports: [&dyn Port; 4]) -> Option<WriteBeat> {
    let [valid, data, strb, last] = ports;
    valid.is_set().then(|| WriteBeat {
        data: data.get(),
        strb: strb.get() as u8,
        last: last.is_set(),
    })
}

/// Offers a word of write data; junk without one. Ports: valid, data, strobes.
pub fn set_write_beat(ports: [&dyn Input; 3], beat: Option<WriteBeat>) {
    let [valid, data, strb] = ports;
    valid.set_bool(beat.is_some());
    set_word(data, beat.map_or(0xbad, |beat| beat.data));
    set_word(strb, beat.map_or(3, |beat| beat.strb.into()));
}

/// The word that a read data channel of AXI4-Lite offers. Ports: valid, data, response.
pub fn read_beat(ports: [&dyn Port; 3]) -> Option<ReadBeat> {
    let [valid, data, resp] = ports;
    valid.is_set().then(|| ReadBeat {
        id: 0,
        data: data.get(),
        resp: Resp::from_bits(resp.get() as u8),
        last: true,
    })
}

/// Offers a word of read data; junk without one. Ports: valid, ID, data, response, last.
pub fn set_read_beat(ports: [&dyn Input; 5], beat: Option<ReadBeat>) {
    let [valid, id, data, resp, last] = ports;
    valid.set_bool(beat.is_some());
    let beat = beat.unwrap_or(ReadBeat {
        id: 1,
        data: 0xbad0_bad1_bad2_bad3,
        resp: Resp::DecErr,
        last: true,
    });
    set_word(id, beat.id.into());
    set_word(data, beat.data);
    resp.set(beat.resp.bits().into());
    last.set_bool(beat.last);
}

/// The word that a write response channel of AXI4-Lite offers. Ports: valid, response.
pub fn write_end(ports: [&dyn Port; 2]) -> Option<WriteEnd> {
    let [valid, resp] = ports;
    valid.is_set().then(|| WriteEnd {
        id: 0,
        resp: Resp::from_bits(resp.get() as u8),
    })
}

/// Offers a write response; junk without one. Ports: valid, ID, response.
pub fn set_write_end(ports: [&dyn Input; 3], end: Option<WriteEnd>) {
    let [valid, id, resp] = ports;
    valid.set_bool(end.is_some());
    set_word(id, end.map_or(1, |end| end.id.into()));
    resp.set(end.map_or(Resp::DecErr, |end| end.resp).bits().into());
}
