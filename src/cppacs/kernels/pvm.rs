//! The kernels' traffic by PVM, as `c/cppacs/nas/*_pvm.c` has it.

use super::{Job, NUMBER, SUMS, Step, computing};
use crate::NodeId;
use crate::Picos;
use crate::cppacs::host::pvm::error::Result;
use crate::cppacs::host::pvm::task::Task;
use crate::cppacs::host::pvm::tid;
use crate::cppacs::host::transport::Transport;

const TAG: i32 = 1;
const TAG_LOW: i32 = 2;
const TAG_HIGH: i32 = 3;

struct Run<'a, T: Transport> {
    task: &'a Task<T>,
    job: &'a Job,
    me: usize,
}

/// Does a task's part; the simulated time it took.
///
/// # Errors
/// PVM's.
pub async fn run<T: Transport>(task: &Task<T>, job: &Job) -> Result<Picos> {
    let (start, me) = (task.now(), task.node().index());
    let run = Run { task, job, me };
    for step in job.steps() {
        run.step(step).await?;
    }
    Ok(task.now() - start)
}

fn node(n: usize) -> i32 {
    tid(NodeId(n as u16))
}

impl<T: Transport> Run<'_, T> {
    async fn step(&self, step: Step) -> Result<()> {
        match step {
            Step::Compute(us) => self.task.compute(computing(us)).await,
            Step::Sum => self.sum().await?,
            Step::Vector(_) => self.vector().await?,
            Step::Transpose(block) => self.transpose(block).await?,
            Step::Faces(axis, bytes) => self.faces(axis, bytes).await?,
            Step::Blocks(bytes) => self.blocks(bytes).await?,
        }
        Ok(())
    }

    /// A message of one or more equal parts.
    async fn send(&self, to: &[i32], tag: i32, part: u32, parts: u32) -> Result<()> {
        self.task.initsend().await;
        for _ in 0..parts {
            self.task.pack(&vec![0; part as usize], false).await?;
        }
        self.miss(part * parts).await;
        self.task.mcast(to, tag).await
    }

    async fn receive(&self, from: i32, tag: i32, part: u32, parts: u32) -> Result<()> {
        self.task.recv(from, tag).await?;
        for _ in 0..parts {
            self.task.unpack(part as usize, false).await?;
        }
        self.miss(part * parts).await;
        Ok(())
    }

    /// What was computed meanwhile has taken the data's place in the cache.
    async fn miss(&self, bytes: u32) {
        let us = self.job.uncached * f64::from(bytes) / 1e3;
        self.task.compute(computing(us)).await;
    }

    async fn sum(&self) -> Result<()> {
        if self.me > 0 {
            return self.send(&[node(0)], TAG, SUMS, 1).await;
        }
        for from in 1..self.job.nodes {
            self.receive(node(from), TAG, SUMS, 1).await?;
        }
        Ok(())
    }

    async fn vector(&self) -> Result<()> {
        let nodes = self.job.nodes;
        let part = |n: usize| (self.job.first(n + 1) - self.job.first(n)) * NUMBER;
        let others: Vec<i32> = (1..nodes).map(|i| node((self.me + i) % nodes)).collect();
        self.send(&others, TAG, part(self.me), 1).await?;
        for from in (1..nodes).map(|i| (self.me + nodes - i) % nodes) {
            self.task.compute(computing(self.job.peer_us)).await;
            self.receive(node(from), TAG, part(from), 1).await?;
        }
        Ok(())
    }

    async fn transpose(&self, block: u32) -> Result<()> {
        for bit in (0..self.job.nodes.ilog2()).map(|i| 1 << i) {
            let (partner, runs) = (node(self.me ^ bit), (self.job.nodes / (2 * bit)) as u32);
            self.send(&[partner], TAG, bit as u32 * block, runs).await?;
            self.receive(partner, TAG, bit as u32 * block, runs).await?;
        }
        Ok(())
    }

    async fn faces(&self, axis: usize, bytes: u32) -> Result<()> {
        let [lower, higher] = [false, true].map(|side| node(self.job.neighbour(self.me, axis, side)));
        self.send(&[lower], TAG_LOW, bytes, 1).await?;
        self.send(&[higher], TAG_HIGH, bytes, 1).await?;
        self.receive(lower, TAG_HIGH, bytes, 1).await?;
        self.receive(higher, TAG_LOW, bytes, 1).await
    }

    async fn blocks(&self, bytes: u32) -> Result<()> {
        for bit in (0..self.job.nodes.ilog2()).map(|i| 1 << i) {
            let partner = node(self.me ^ bit);
            self.send(&[partner], TAG, bit as u32 * bytes, 1).await?;
            self.receive(partner, TAG, bit as u32 * bytes, 1).await?;
        }
        Ok(())
    }
}
