//! The traffic of the NAS kernels without their numerics, for machines on which the numerics would take too long: what
//! a node sends does not depend on its data. Each function here follows one of `c/cppacs/nas`; a test compares times.

mod pvm;
mod rdma;

use std::fmt;
use std::str::FromStr;

pub use self::pvm::run as run_pvm;
pub use self::rdma::{bytes as rdma_bytes, run as run_rdma};
use crate::Picos;

/// A kernel of the paper's Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    Ep,
    Cg,
    Ft,
    Mg,
}

/// A size of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    S,
    W,
    A,
}

/// A run of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    pub kernel: Kernel,
    pub class: Class,
    /// A power of two.
    pub nodes: usize,
    /// What all of it takes on one node, in us; each node is charged its part.
    pub compute_us: f64,
    /// What a node of CG spends on each peer of an exchange beside the library's calls; the paper's program does.
    pub peer_us: f64,
    /// What PVM's packing and unpacking take more than a copy in cache, in ns a byte.
    pub uncached: f64,
}

/// What a node does next. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Compute(f64),
    /// All get the sums on node 0.
    Sum,
    /// All exchange their parts of a vector of so many elements.
    Vector(u32),
    /// Each block of so many bytes goes to its node, by a butterfly.
    Transpose(u32),
    /// Faces to both neighbours along an axis.
    Faces(usize, u32),
    /// Blocks of all nodes, by doubling.
    Blocks(u32),
}

/// Bytes of a number.
const NUMBER: u32 = 8;

/// Sums of EP: two deviates, ten counts; of FT: six complex numbers.
const SUMS: u32 = 12 * NUMBER;

/// Largest extreme values of MG: ten of each sign, each a value and its place.
const EXTREMES: u32 = 40;

impl FromStr for Kernel {
    type Err = String;

    fn from_str(name: &str) -> Result<Kernel, String> {
        let all = [Kernel::Ep, Kernel::Cg, Kernel::Ft, Kernel::Mg];
        let found = all.into_iter().find(|kernel| kernel.to_string() == name);
        found.ok_or_else(|| format!("no kernel {name}: there are ep, cg, ft, mg"))
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kernel::Ep => "ep",
            Kernel::Cg => "cg",
            Kernel::Ft => "ft",
            Kernel::Mg => "mg",
        })
    }
}

impl Job {
    /// Elements of CG's vectors.
    fn vector(&self) -> usize {
        match self.class {
            Class::S => 1400,
            Class::W => 7000,
            Class::A => 14_000,
        }
    }

    /// The first element of a node's part of them.
    fn first(&self, node: usize) -> u32 {
        (self.vector() * node / self.nodes) as u32
    }

    /// Bytes of one of FT's blocks.
    fn block(&self) -> u32 {
        let [x, y, z]: [usize; 3] = match self.class {
            Class::S => [64, 64, 64],
            Class::W => [128, 128, 32],
            Class::A => [256, 256, 128],
        };
        (x / self.nodes * y * (z / self.nodes)) as u32 * 2 * NUMBER
    }

    /// MG's grid of nodes.
    fn shape(&self) -> [usize; 3] {
        let mut shape = [1; 3];
        for bit in 0..self.nodes.ilog2() as usize {
            shape[bit % 3] *= 2;
        }
        shape
    }

    /// The neighbour of a node along an axis.
    fn neighbour(&self, node: usize, axis: usize, higher: bool) -> usize {
        let shape = self.shape();
        let (step, n) = (shape[..axis].iter().product::<usize>(), shape[axis]);
        let at = node / step % n;
        node - at * step + (at + if higher { 1 } else { n - 1 }) % n * step
    }

    /// Messages of all nodes, nearly: a measure of a run's work.
    pub fn messages(&self) -> u64 {
        let (nodes, bits) = (self.nodes as u64, u64::from(self.nodes.ilog2()));
        let of = |step: Step| match step {
            Step::Compute(_) => 0,
            Step::Sum => 1,
            Step::Vector(_) => nodes - 1,
            Step::Transpose(_) | Step::Blocks(_) => bits,
            Step::Faces(..) => 2,
        };
        // Each has a right for each other.
        nodes * (nodes + self.steps().into_iter().map(of).sum::<u64>())
    }

    /// What each node does, in order.
    fn steps(&self) -> Vec<Step> {
        let own = self.compute_us / self.nodes as f64;
        match self.kernel {
            Kernel::Ep => vec![Step::Compute(own), Step::Sum],
            Kernel::Cg => {
                let products = 15 * 26;
                let each = [
                    Step::Compute(own / f64::from(products)),
                    Step::Vector(self.vector() as u32),
                ];
                (0..products).flat_map(|_| each).collect()
            }
            Kernel::Ft => {
                let half = Step::Compute(own / 14.0);
                let each = [half, Step::Transpose(self.block()), half];
                let transforms = (0..7).flat_map(|_| each);
                transforms.chain([Step::Sum]).collect()
            }
            Kernel::Mg => Multigrid::new(self).steps(),
        }
    }
}

/// A grid of MG: the sides of a node's box; whether each node has all of the level.
type Level = ([usize; 3], bool);

struct Multigrid<'a> {
    job: &'a Job,
    /// The finest level, and the one from which on all nodes have all.
    top: u32,
    shared: u32,
    point_us: f64,
    steps: Vec<Step>,
}

impl<'a> Multigrid<'a> {
    fn new(job: &'a Job) -> Multigrid<'a> {
        let top = match job.class {
            Class::S => 5,
            Class::W => 7,
            Class::A => 8,
        };
        let points = |level: u32| 8_f64.powi(level as i32);
        let swept: f64 = (1..=top).map(|level| 16.0 * points(level)).sum();
        Multigrid {
            job,
            top,
            shared: job.shape()[0].ilog2().max(1),
            point_us: job.compute_us / (swept + 5.0 * points(top)),
            steps: Vec::new(),
        }
    }

    /// A level; `part`: this node's box of it in any case.
    fn level(&self, level: u32, part: bool) -> Level {
        let whole = self.job.nodes == 1 || level <= self.shared && !part;
        let side = |nodes: usize| (1 << level) / if whole { 1 } else { nodes };
        (self.job.shape().map(side), whole)
    }

    fn part(&self) -> Level {
        self.level(self.shared, true)
    }

    fn charge(&mut self, (sides, _): Level) {
        let points = sides.iter().product::<usize>() as f64;
        self.steps.push(Step::Compute(self.point_us * points));
    }

    fn exchange(&mut self, ([x, y, z], whole): Level) {
        let shape = self.job.shape();
        for (axis, points) in [y * z, (x + 2) * z, (x + 2) * (y + 2)].into_iter().enumerate() {
            if !whole && shape[axis] > 1 {
                self.steps.push(Step::Faces(axis, points as u32 * NUMBER));
            }
        }
    }

    /// Computes on a level, then fills the outer layers of one.
    fn sweep(&mut self, computes: Level, fills: Level) {
        self.charge(computes);
        self.exchange(fills);
    }

    fn cycle(&mut self) {
        for level in (self.shared + 2..=self.top).rev() {
            self.sweep(self.level(level, false), self.level(level - 1, false));
        }
        self.sweep(self.level(self.shared + 1, false), self.part());
        let points = self.part().0.iter().product::<usize>() as u32;
        self.steps.push(Step::Blocks(points * NUMBER));
        for level in (2..=self.shared).rev() {
            self.sweep(self.level(level, false), self.level(level - 1, false));
        }
        self.sweep(self.level(1, false), self.level(1, false));
        for level in 2..=self.top {
            let level = self.level(level, false);
            self.charge(level);
            self.sweep(level, level);
            self.sweep(level, level);
        }
    }

    fn steps(mut self) -> Vec<Step> {
        let top = self.level(self.top, false);
        self.steps.push(Step::Blocks(EXTREMES * NUMBER));
        self.sweep(top, top);
        for _ in 0..4 {
            self.cycle();
            self.sweep(top, top);
        }
        self.steps.push(Step::Blocks(NUMBER));
        self.steps
    }
}

/// The largest face and block of these steps.
fn largest(steps: &[Step]) -> (u32, u32) {
    steps.iter().fold((0, 0), |(face, block), step| match *step {
        Step::Faces(_, bytes) => (face.max(bytes), block),
        Step::Blocks(bytes) => (face, block.max(bytes)),
        _ => (face, block),
    })
}

fn computing(us: f64) -> Picos {
    Picos::from_us(us)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(kernel: Kernel, class: Class, nodes: usize) -> Job {
        Job {
            kernel,
            class,
            nodes,
            compute_us: 1e6,
            peer_us: 0.0,
            uncached: 0.0,
        }
    }

    #[test]
    fn computing_is_charged_once() {
        for kernel in [Kernel::Ep, Kernel::Cg, Kernel::Ft, Kernel::Mg] {
            for nodes in [1, 4, 16] {
                let steps = job(kernel, Class::A, nodes).steps();
                let sum: f64 = steps
                    .iter()
                    .map(|s| if let Step::Compute(us) = s { *us } else { 0.0 })
                    .sum();
                let share = 1e6 / nodes as f64;
                assert!((sum / share - 1.0).abs() < 0.02, "{kernel} on {nodes}: {sum} us");
            }
        }
    }

    #[test]
    fn neighbours_are_on_both_sides() {
        let job = job(Kernel::Mg, Class::S, 16);
        assert_eq!(job.shape(), [4, 2, 2]);
        assert_eq!((job.neighbour(3, 0, true), job.neighbour(3, 0, false)), (0, 2));
        assert_eq!((job.neighbour(3, 2, true), job.neighbour(3, 2, false)), (11, 11));
    }

    #[test]
    fn the_volume_is_the_plans() {
        let sum = |kernel, nodes| -> f64 {
            let job = job(kernel, Class::W, nodes);
            let bytes = job.steps().into_iter().map(|step| match step {
                Step::Vector(n) => f64::from(n * NUMBER) * (nodes - 1) as f64 / nodes as f64,
                Step::Transpose(block) => f64::from(block) * nodes as f64 / 2.0 * f64::from(nodes.ilog2()),
                Step::Faces(_, bytes) => 2.0 * f64::from(bytes),
                _ => 0.0,
            });
            bytes.sum::<f64>() / 1e6
        };
        let volumes = [Kernel::Cg, Kernel::Ft, Kernel::Mg].map(|kernel| sum(kernel, 16));
        println!("{volumes:?} MB a node");
        assert!((20.0..22.0).contains(&volumes[0]), "{volumes:?}");
    }
}
