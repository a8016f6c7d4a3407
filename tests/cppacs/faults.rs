//! Attacks and faults on whole machines: from a process, from the network, and by a kernel that takes away what is in
//! use. Each is refused and counted as the registers say and changes nothing, and legal traffic goes on.

mod guesses;
mod messages;
mod processes;

use tsunagi::cppacs::golden::entry::{Process, Right};
use tsunagi::cppacs::golden::message::{Header, Kind};
use tsunagi::cppacs::golden::tcw::Tcw;
use tsunagi::cppacs::host::{Allow, Area, Field, How, Node, RdmaError, Right as SendRight, To};
use tsunagi::cppacs::params::Config;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::faults::Fault;
use tsunagi::net::hyper::{Channel, Place};
use tsunagi::repro::row::BackendKind;
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::{A, B, BOUND, Sim, booted, config, run, run_all};

/// Bytes of each node's object and field.
const BYTES: u32 = 0x2_0000;
/// A number that the library does not give out to so small programs.
const TCW: u32 = 250;
/// Offset of that TCW's send flag in the area.
const FLAG: u32 = 8 * TCW;
const USER: u32 = 1;
/// Another process of a node.
const OTHER: u32 = 2;
/// Everything under way comes to rest within this time.
const REST: Picos = Picos::from_ns(40_000);

/// What each node has: its object and the field of all of it, with rights for the fields of A and B.
struct Part {
    area: Area,
    field: Field,
    rights: [SendRight; 2],
}

/// Four nodes. A attacks B.
struct Rig {
    sim: Sim,
    config: Config,
    parts: Vec<Part>,
}

impl Rig {
    fn new(kind: BackendKind) -> Rig {
        let mut config = config(2, 2, 1);
        config.wait_bound = Picos::from_ns(200_000);
        let mut sim = booted(kind, &config);
        let parts = run_all(&mut sim, async |node| {
            let area = node.object("data", BYTES)?;
            let field = node.create_field(&area, 0, BYTES, 0, Allow::ALL).await?;
            node.write(&area.all(), &contents(node.id()));
            let [a, b] = [A, B].map(To::Node);
            let rights = [
                node.get_sendright(a, "data", 0, BOUND).await?,
                node.get_sendright(b, "data", 0, BOUND).await?,
            ];
            Ok(Part { area, field, rights })
        });
        Rig { sim, config, parts }
    }

    fn load(&mut self, node: NodeId, offset: u32) -> u64 {
        let loaded = run(&mut self.sim, node, async move |node| {
            node.host().load(offset.into(), 8).await
        });
        loaded.unwrap_or_else(|error| panic!("{error}"))
    }

    fn store(&mut self, node: NodeId, offset: u32, value: u64) {
        let stored = run(&mut self.sim, node, async move |node| {
            node.host().store(offset.into(), 8, value).await
        });
        stored.unwrap_or_else(|error| panic!("{error}"));
    }

    fn rest(&mut self) {
        run(&mut self.sim, A, async |node| node.compute(REST).await);
    }

    fn send_refused(&mut self, reason: u32) -> u64 {
        self.load(A, SEND_REFUSALS + 8 * reason)
    }

    fn refused(&mut self, reason: u32) -> u64 {
        self.load(B, RECEIVE_REFUSALS + 8 * reason)
    }

    fn process(&mut self, node: NodeId, process: u32) -> Process {
        let [area, tcws] = [AREA, TCWS].map(|at| self.load(node, at + 16 * process));
        Process::of(area, tcws)
    }

    /// The entry of A's right for B's field, which a process cannot read.
    fn right_for_b(&mut self) -> (u32, Right) {
        let rights = self.config.rights;
        let at = |index: u32| RIGHTS + 16 * index;
        // The last that was given out.
        let found = (1..rights).filter_map(|index| {
            let words = [RIGHT_PLACE, RIGHT_LIMIT].map(|word| self.load(A, at(index) + word));
            let right = Right::of(words);
            (right.valid && right.place == Place { x: 1, y: 0, z: 0 } && right.owner == USER).then_some((index, right))
        });
        found.last().expect("A has a right for B")
    }

    /// A TCW that A's process may well send.
    fn legal_tcw(&mut self) -> Tcw {
        let (right, _) = self.right_for_b();
        Tcw {
            valid: true,
            right,
            flagged: true,
            source: 0x1000,
            length: 256,
            send_flag: FLAG,
            ..Tcw::default()
        }
    }

    /// A process of A writes a TCW and kicks it. Gives the result in the send flag.
    fn kick(&mut self, process: u32, tcw: Tcw) -> u32 {
        let Process { area, tcws, .. } = self.process(A, process);
        let words: Vec<u8> = tcw.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let kick = u64::from(TCW) | u64::from(tcw.channel) << KICK_CHANNEL_SHIFT;
        let result = run(&mut self.sim, A, async move |node| {
            node.host().write(Addr(area + FLAG), &[0; 8]);
            node.host().write(Addr(tcws + SIZE_TCW * TCW), &words);
            let page = KICK + SIZE_PAGE * process;
            node.host().store(page.into(), 8, kick).await.expect("a kick");
            node.compute(REST).await;
            node.host().read(Addr(area + FLAG + SFLAG_RESULT), 4)
        });
        u32::from_le_bytes(result.try_into().expect("four bytes"))
    }

    /// A's user kicks a TCW, which is refused for this reason and changes nothing at B.
    fn refuses(&mut self, what: &str, tcw: Tcw, reason: u32) {
        let before = self.send_refused(reason);
        let result = self.kick(USER, tcw);
        assert_eq!(result, RESULT_REFUSED + reason, "{what}");
        assert_eq!(self.send_refused(reason), before + 1, "{what}");
        self.nothing_came(what);
    }

    /// A worm to B's field as its sender would make it.
    fn header(&mut self) -> Header {
        let (_, right) = self.right_for_b();
        Header {
            to: right.place,
            mask: 0,
            channel: Channel::Data,
            kind: Kind::Write,
            last: true,
            notify: false,
            src: Place::default(),
            field: right.field,
            key: right.key,
            offset: 0,
            length: 16,
            worm: 0,
            stride: None,
        }
    }

    /// A worm enters on A's link.
    fn forge(&mut self, words: &[u32]) {
        let packet = words.iter().map(|&word| u64::from(word)).collect();
        assert!(self.sim.node(A).host().inject(&Fault::Packet(packet)));
    }

    /// B refuses such a worm for this reason, and nothing changes there.
    fn is_refused(&mut self, what: &str, words: &[u32], reason: u32) {
        let before = self.refused(reason);
        self.forge(words);
        self.rest();
        assert_eq!(self.refused(reason), before + 1, "{what}");
        self.nothing_came(what);
    }

    /// B's object is as it was at first.
    fn nothing_came(&self, what: &str) {
        let now = self.sim.node(B).read(&self.parts[B.index()].area.all());
        assert!(now == contents(B), "{what}: B's memory has changed");
    }

    /// Traffic of all kinds from A and from the others to B, as if nothing had been.
    fn legal(&mut self, what: &str) {
        let of = |part: &Part| (part.area.clone(), part.field.clone(), part.rights[1].clone());
        let all: Vec<_> = self.parts.iter().map(of).collect();
        let before = self.arrived(B);
        let program = move |node: Node, (area, field, right): (Area, Field, SendRight)| async move {
            let at = 0x4000 * u32::from(node.id().0);
            if node.id() == B {
                node.wait(&field, before + 6, BOUND).await?;
                return Ok(node.read(&area.all()));
            }
            let sent = node.send(area.span(at, 0x2000)?, &right, at, How::FLAGGED).await?;
            node.wait_sent(sent).await?;
            node.send(area.span(at + 0x2000, 32)?, &right, at + 0x2000, How::ACK)
                .await?;
            // Nobody writes there.
            node.get(&right, 0x1_8000, &field, 0x1_f000, 0x800).await?;
            Ok(node.read(&area.span(0x1_f000, 0x800)?))
        };
        let ended = run_all(&mut self.sim, move |node| {
            let part = all[node.id().index()].clone();
            program(node, part)
        });
        let mut expected = contents(B);
        for own in [0u16, 2, 3] {
            let at = 0x4000 * usize::from(own);
            expected[at..at + 0x2020].copy_from_slice(&contents(NodeId(own))[at..at + 0x2020]);
            let got = &ended[usize::from(own)];
            assert!(
                *got == contents(B)[0x1_8000..0x1_8800],
                "{what}: a GET brought something else"
            );
        }
        assert!(ended[B.index()] == expected, "{what}: legal transfers did not come");
        for (node, part) in (0..).map(NodeId).zip(&self.parts) {
            self.sim.node(node).write(&part.area.all(), &contents(node));
        }
    }

    fn arrived(&self, node: NodeId) -> u32 {
        self.sim.node(node).arrived(&self.parts[node.index()].field).count
    }

    /// Runs a part of B's kernel: destroys its field.
    fn destroy(&mut self) {
        let field = self.parts[B.index()].field.clone();
        run(&mut self.sim, B, async move |node| node.destroy_field(field).await).expect("it is there");
    }

    /// B makes its field again, and all get rights for it.
    fn make_again(&mut self) {
        let areas: Vec<Area> = self.parts.iter().map(|part| part.area.clone()).collect();
        let area = areas[B.index()].clone();
        let field = run(&mut self.sim, B, async move |node| {
            node.create_field(&area, 0, BYTES, 0, Allow::ALL).await
        });
        self.parts[B.index()].field = field.expect("there is room");
        let rights = run_all(&mut self.sim, async |node| {
            node.get_sendright(To::Node(B), "data", 0, BOUND).await
        });
        for (part, right) in self.parts.iter_mut().zip(rights) {
            part.rights[1] = right;
        }
    }
}

/// What a node's object holds at first.
fn contents(node: NodeId) -> Vec<u8> {
    let byte = |at: u32| ((at * 31 + (at >> 7)) ^ (u32::from(node.0) * 77 + 5)) as u8;
    (0..BYTES).map(byte).collect()
}

/// What a call gave instead of success.
fn error<T>(result: Result<T, RdmaError>) -> RdmaError {
    match result {
        Err(error) => error,
        Ok(_) => panic!("it cannot be"),
    }
}
