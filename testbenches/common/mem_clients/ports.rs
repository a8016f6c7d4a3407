//! The four units as [`Adapter`]s.

use testbenches::rtl::*;
use testbenches::{Dut, read_ports, set_read_ports, set_write_ports, write_ports};
use verilated::{Input, Port};

use super::{Adapter, Answer, ClientOut, In, Out, Word};

/// `set` and `seen` of a unit that reads.
macro_rules! reads {
    ($ports:ident) => {
        fn set(dut: &impl $ports, inputs: &In) {
            set_commands([dut.cmd_valid_i(), dut.cmd_addr_i(), dut.cmd_len_i()], inputs);
            set_ready(dut.data_ready_i(), inputs);
            set_read_ports!(dut, &inputs.mem);
        }

        fn seen(dut: &impl $ports) -> Out {
            let answer: [&dyn Port; 4] = [
                dut.data_valid_o(),
                dut.data_data_o(),
                dut.data_last_o(),
                dut.data_err_o(),
            ];
            Out {
                clients: readers(dut.cmd_ready_o(), answer),
                mem: read_ports!(dut),
                busy: dut.busy_o().is_set(),
            }
        }
    };
}

/// `set` and `seen` of a unit that writes.
macro_rules! writes {
    ($ports:ident) => {
        fn set(dut: &impl $ports, inputs: &In) {
            set_commands([dut.cmd_valid_i(), dut.cmd_addr_i(), dut.cmd_len_i()], inputs);
            set_words(
                [
                    dut.data_valid_i(),
                    dut.data_data_i(),
                    dut.data_strb_i(),
                    dut.data_last_i(),
                ],
                inputs,
            );
            set_ready(dut.rsp_ready_i(), inputs);
            set_write_ports!(dut, &inputs.mem);
        }

        fn seen(dut: &impl $ports) -> Out {
            Out {
                clients: writers([
                    dut.cmd_ready_o(),
                    dut.data_ready_o(),
                    dut.rsp_valid_o(),
                    dut.rsp_err_o(),
                ]),
                mem: write_ports!(dut),
                busy: dut.busy_o().is_set(),
            }
        }
    };
}

pub fn read_mux<U: MemReadMuxUnit + 'static>(outstanding: usize) -> Adapter {
    reads!(MemReadMuxPorts);
    reader(Dut::of::<U>(set, seen), outstanding)
}

pub fn read_wide<U: MemReadWideUnit + 'static>(outstanding: usize) -> Adapter {
    reads!(MemReadWidePorts);
    reader(Dut::of::<U>(set, seen), outstanding)
}

pub fn write_mux<U: MemWriteMuxUnit + 'static>(outstanding: usize) -> Adapter {
    writes!(MemWriteMuxPorts);
    writer(Dut::of::<U>(set, seen), outstanding)
}

pub fn write_wide<U: MemWriteWideUnit + 'static>(outstanding: usize) -> Adapter {
    writes!(MemWriteWidePorts);
    writer(Dut::of::<U>(set, seen), outstanding)
}

fn reader(dut: Dut<In, Out>, outstanding: usize) -> Adapter {
    Adapter {
        writes: false,
        clients: dut.width("cmd_valid_i"),
        word: dut.width("data_data_o") as u32 / 8,
        bus: dut.width("mem_data_data_i") as u32 / 8,
        outstanding,
        dut,
    }
}

fn writer(dut: Dut<In, Out>, outstanding: usize) -> Adapter {
    let clients = dut.width("cmd_valid_i");
    Adapter {
        writes: true,
        clients,
        word: (dut.width("data_data_i") / clients) as u32 / 8,
        bus: dut.width("mem_data_data_o") as u32 / 8,
        outstanding,
        dut,
    }
}

/// Ports: valid, address, length.
fn set_commands([valid, addr, len]: [&dyn Input; 3], inputs: &In) {
    for (i, client) in inputs.clients.iter().enumerate() {
        let (at, beats) = client.command.unwrap_or((0xdead, 0xbe));
        valid.set_bits(i, 1, client.command.is_some().into());
        addr.set_bits(32 * i, 32, at.into());
        len.set_bits(8 * i, 8, beats.into());
    }
}

/// Ports: valid, data, strobes, last.
fn set_words([valid, data, strb, last]: [&dyn Input; 4], inputs: &In) {
    let bytes = data.width() / 8 / inputs.clients.len();
    for (i, client) in inputs.clients.iter().enumerate() {
        let junk = Word {
            data: 0xdead,
            strb: 1,
            last: true,
        };
        let word = client.word.unwrap_or(junk);
        valid.set_bits(i, 1, client.word.is_some().into());
        data.set_bits(8 * bytes * i, 8 * bytes, word.data);
        strb.set_bits(bytes * i, bytes, word.strb.into());
        last.set_bits(i, 1, word.last.into());
    }
}

fn set_ready(ready: &dyn Input, inputs: &In) {
    for (i, client) in inputs.clients.iter().enumerate() {
        ready.set_bits(i, 1, client.ready.into());
    }
}

/// Ports: command ready; valid, data, last, error.
fn readers(cmd_ready: &dyn Port, [valid, data, last, err]: [&dyn Port; 4]) -> Vec<ClientOut> {
    let answer = Answer::Read {
        data: (!err.is_set()).then(|| data.get()),
        last: last.is_set(),
    };
    let client = |i| ClientOut {
        cmd_ready: cmd_ready.bit(i),
        word_ready: false,
        answer: valid.bit(i).then_some(answer),
    };
    (0..valid.width()).map(client).collect()
}

/// Ports: command ready, data ready, response valid, error.
fn writers([cmd_ready, word_ready, valid, err]: [&dyn Port; 4]) -> Vec<ClientOut> {
    let client = |i| ClientOut {
        cmd_ready: cmd_ready.bit(i),
        word_ready: word_ready.bit(i),
        answer: valid.bit(i).then(|| Answer::Written { err: err.is_set() }),
    };
    (0..valid.width()).map(client).collect()
}
