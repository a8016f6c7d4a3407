//! The kernels' traffic by RDMA, as `c/cppacs/nas/*_rdma.c` has it.

use super::{Job, Kernel, NUMBER, SUMS, Step, computing, largest};
use crate::cppacs::host::transport::{Area, Channel, Strided, Transport};
use crate::{Addr, NodeId, Picos};

/// A field of this node, with the transfers that were taken out of it, and the right for the other node's.
struct Pair<T: Transport> {
    field: Option<T::Field>,
    right: Option<T::Right>,
    taken: u32,
}

struct Run<'a, T: Transport> {
    node: &'a T,
    job: &'a Job,
    me: usize,
    area: Area,
    sums: Area,
    /// The last one: of the sums. Before it, CG: by turn; FT and MG's blocks: by turn and bit; MG's faces: by axis,
    /// side, turn.
    pairs: Vec<Pair<T>>,
    /// CG: rights by turn and node.
    rights: Vec<Vec<Option<T::Right>>>,
    /// Of CG, FT and MG's blocks; of MG's faces by axis.
    turn: usize,
    turns: [usize; 3],
    face: u32,
    block: u32,
}

const FACES: usize = 12;
const NONE: Area = Area {
    addr: Addr(0),
    bytes: 0,
};

/// Bytes of a node's objects.
pub fn bytes(job: &Job) -> u64 {
    let sums = u64::from(SUMS) * job.nodes as u64;
    match job.kernel {
        Kernel::Ep => sums,
        Kernel::Ft => object_bytes(job) + sums,
        Kernel::Cg | Kernel::Mg => object_bytes(job),
    }
}

/// Of the object that is not for sums.
fn object_bytes(job: &Job) -> u64 {
    let nodes = job.nodes as u64;
    match job.kernel {
        Kernel::Ep => 0,
        Kernel::Cg => 2 * job.vector() as u64 * u64::from(NUMBER),
        Kernel::Ft => nodes * u64::from(job.block()) * (1 + u64::from(job.nodes.ilog2())),
        Kernel::Mg => {
            let (face, block) = largest(&job.steps());
            2 * FACES as u64 * u64::from(face) + 2 * nodes * u64::from(block)
        }
    }
}

/// Does a node's part; the simulated time it took.
///
/// # Errors
/// The library's.
pub async fn run<T: Transport>(node: &T, job: &Job) -> Result<Picos, T::Error> {
    let start = node.host().now();
    let steps = job.steps();
    let (face, block) = largest(&steps);
    let mut run = Run {
        node,
        job,
        me: node.host().node().index(),
        area: NONE,
        sums: NONE,
        pairs: Vec::new(),
        rights: Vec::new(),
        turn: 0,
        turns: [0; 3],
        // As the C program's.
        face: if job.kernel == Kernel::Mg { face } else { 0 },
        block,
    };
    match job.kernel {
        Kernel::Ep => run.open_sums().await?,
        Kernel::Cg => run.open_vectors().await?,
        Kernel::Ft => {
            run.open_landings().await?;
            run.open_sums().await?;
        }
        Kernel::Mg => run.open_faces().await?,
    }
    for step in steps {
        match step {
            Step::Compute(us) => node.work(computing(us)).await,
            Step::Sum => run.sum().await?,
            Step::Vector(_) => run.vector().await?,
            Step::Transpose(block) => run.transpose(block).await?,
            Step::Faces(axis, bytes) => run.faces(axis, bytes).await?,
            Step::Blocks(bytes) => run.blocks(bytes).await?,
        }
    }
    Ok(node.host().now() - start)
}

impl<T: Transport> Run<'_, T> {
    fn bits(&self) -> usize {
        self.job.nodes.ilog2() as usize
    }

    async fn object(&mut self, name: &str) -> Result<(), T::Error> {
        let bytes = u32::try_from(object_bytes(self.job)).unwrap_or(u32::MAX);
        self.area = self.node.object(name, bytes).await?;
        Ok(())
    }

    async fn field(&mut self, offset: u32, bytes: u32, number: usize) -> Result<(), T::Error> {
        let field = self.node.create_field(&self.area, offset, bytes, number as u16).await?;
        self.pairs.push(Pair {
            field: Some(field),
            right: None,
            taken: 0,
        });
        Ok(())
    }

    async fn right(&self, to: usize, name: &str, number: usize) -> Result<T::Right, T::Error> {
        let wait = self.node.config().wait_bound;
        self.node
            .get_sendright(NodeId(to as u16), name, number as u16, wait)
            .await
    }

    async fn send(&self, at: u32, bytes: u32, right: &T::Right, offset: u32) -> Result<T::Sent, T::Error> {
        let from = Strided::whole(self.area.addr.offset(at), bytes);
        self.node.send(from, right, offset, Channel::Data).await
    }

    /// Until so many more transfers have come.
    async fn wait(&mut self, pair: usize, count: u32) {
        let Pair { field, taken, .. } = &mut self.pairs[pair];
        let field = field.as_ref().expect("every pair has one");
        *taken += count;
        while self.node.count(field) < *taken {
            self.node.changed().await;
        }
        self.node.work(self.node.config().receive_poll).await;
    }

    async fn open_sums(&mut self) -> Result<(), T::Error> {
        let bytes = self.job.nodes as u32 * SUMS;
        self.sums = self.node.object("sum", bytes).await?;
        let field = self.node.create_field(&self.sums, 0, bytes, 0).await?;
        let right = match self.me {
            0 => None,
            _ => Some(self.right(0, "sum", 0).await?),
        };
        let (field, taken) = (Some(field), 0);
        self.pairs.push(Pair { field, right, taken });
        Ok(())
    }

    async fn sum(&mut self) -> Result<(), T::Error> {
        let (pair, at) = (self.pairs.len() - 1, self.me as u32 * SUMS);
        let Some(right) = self.pairs[pair].right.clone() else {
            self.wait(pair, self.job.nodes as u32 - 1).await;
            return Ok(());
        };
        let from = Strided::whole(self.sums.addr.offset(at), SUMS);
        let sent = self.node.send(from, &right, at, Channel::Data).await?;
        self.node.wait_sent(&sent).await;
        Ok(())
    }

    async fn open_vectors(&mut self) -> Result<(), T::Error> {
        let (bytes, nodes) = (self.job.vector() as u32 * NUMBER, self.job.nodes);
        self.object("cg").await?;
        for turn in 0..2 {
            self.field(turn * bytes, bytes, turn as usize).await?;
        }
        for turn in 0..2 {
            let mut rights = Vec::new();
            for node in 0..nodes {
                rights.push(match node == self.me {
                    true => None,
                    false => Some(self.right(node, "cg", turn).await?),
                });
            }
            self.rights.push(rights);
        }
        Ok(())
    }

    async fn vector(&mut self) -> Result<(), T::Error> {
        let (turn, nodes) = (self.turn, self.job.nodes);
        let [start, end] = [0, 1].map(|i| self.job.first(self.me + i) * NUMBER);
        let whole = self.job.vector() as u32 * NUMBER;
        for to in (1..nodes).map(|i| (self.me + i) % nodes) {
            self.node.work(computing(self.job.peer_us)).await;
            let right = self.rights[turn][to].as_ref().expect("another node");
            self.send(turn as u32 * whole + start, end - start, right, start)
                .await?;
        }
        self.wait(turn, nodes as u32 - 1).await;
        self.turn = 1 - turn;
        Ok(())
    }

    async fn open_landings(&mut self) -> Result<(), T::Error> {
        let (all, bits) = (self.job.nodes as u32 * self.job.block(), self.bits());
        self.object("ft").await?;
        for i in 0..2 * bits {
            self.field(all + i as u32 * (all / 2), all / 2, i).await?;
        }
        for i in 0..2 * bits {
            self.pairs[i].right = Some(self.right(self.me ^ 1 << (i % bits), "ft", i).await?);
        }
        Ok(())
    }

    async fn transpose(&mut self, block: u32) -> Result<(), T::Error> {
        let bits = self.bits();
        for i in 0..bits {
            let (pair, element) = (self.turn * bits + i, block << i);
            let from = Strided {
                addr: self.area.addr.offset((!self.me & 1 << i) as u32 * block),
                element,
                count: (self.job.nodes >> (i + 1)) as u32,
                steps: (2 * element, element),
            };
            let right = self.pairs[pair].right.clone().expect("a partner");
            let mut sent = None;
            let transfers = from.transfers();
            for &(part, at) in &transfers {
                sent = Some(self.node.send(part, &right, at, Channel::Data).await?);
            }
            self.wait(pair, transfers.len() as u32).await;
            self.node.wait_sent(&sent.expect("at least one")).await;
        }
        self.turn = 1 - self.turn;
        Ok(())
    }

    /// Where a face leaves from; what comes lies 12 faces further on.
    fn face_at(&self, place: usize) -> u32 {
        place as u32 * self.face
    }

    fn blocks_at(&self, turn: usize) -> u32 {
        2 * FACES as u32 * self.face + turn as u32 * self.job.nodes as u32 * self.block
    }

    async fn open_faces(&mut self) -> Result<(), T::Error> {
        let (bits, all) = (self.bits(), self.job.nodes as u32 * self.block);
        self.object("mg").await?;
        for i in 0..FACES {
            // Without neighbours there are no faces, and no field is empty.
            self.field(self.face_at(FACES + i), self.face, i).await?;
        }
        for i in 0..2 * bits {
            self.field(self.blocks_at(i / bits), all, FACES + i).await?;
        }
        for i in 0..FACES {
            let to = self.job.neighbour(self.me, i / 4, i / 2 % 2 == 1);
            if to != self.me {
                self.pairs[i].right = Some(self.right(to, "mg", i ^ 2).await?);
            }
        }
        for i in 0..2 * bits {
            let to = self.me ^ 1 << (i % bits);
            self.pairs[FACES + i].right = Some(self.right(to, "mg", FACES + i).await?);
        }
        Ok(())
    }

    async fn faces(&mut self, axis: usize, bytes: u32) -> Result<(), T::Error> {
        let place = |side: usize, turn: usize| axis * 4 + side * 2 + turn;
        let turn = self.turns[axis];
        for side in 0..2 {
            let right = self.pairs[place(side, turn)].right.clone().expect("a neighbour");
            self.send(self.face_at(place(side, turn)), bytes, &right, 0).await?;
        }
        for side in 0..2 {
            self.wait(place(side, turn), 1).await;
        }
        self.turns[axis] = 1 - turn;
        Ok(())
    }

    async fn blocks(&mut self, bytes: u32) -> Result<(), T::Error> {
        let bits = self.bits();
        for i in 0..bits {
            let (pair, offset) = (FACES + self.turn * bits + i, (self.me & !((1 << i) - 1)) as u32 * bytes);
            let right = self.pairs[pair].right.clone().expect("a partner");
            self.send(self.blocks_at(self.turn) + offset, bytes << i, &right, offset)
                .await?;
            self.wait(pair, 1).await;
        }
        self.turn = 1 - self.turn;
        Ok(())
    }
}
