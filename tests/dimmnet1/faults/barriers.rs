//! Barriers that a member does not come to: every wait is bounded, and the report names who is missing.

use tsunagi::dimmnet1::host::{Barrier, MASTER};

use super::*;
use crate::backends::on_both;

on_both! {
    the_master_names_who_is_missing
    a_missing_master_is_named
}

const ALL: [Barrier; 4] = [
    Barrier::Hosts,
    Barrier::HostsMulticast,
    Barrier::Processor,
    Barrier::ProcessorMulticast,
];

/// Who comes, and what becomes of them.
fn come(rig: &mut Rig, barrier: Barrier, nodes: &[NodeId]) -> Vec<Result<(), CommError>> {
    let late = |node: NodeId| Picos::from_ns(3000 * u64::from(node.0));
    let mut results: Vec<_> = nodes
        .iter()
        .map(|&node| {
            rig.sim.spawn(node, async move |node: Node| {
                node.compute(late(node.id())).await;
                node.barrier(barrier).await
            })
        })
        .collect();
    let start = rig.sim.now();
    rig.sim
        .run(BOUND)
        .unwrap_or_else(|error| panic!("{barrier:?}: {error}"));
    assert!(rig.sim.now() - start < rig.config.wait_bound * 4, "the wait is bounded");
    results.iter_mut().map(|result| result.take().unwrap()).collect()
}

fn the_master_names_who_is_missing(kind: Kind) {
    for barrier in ALL {
        for missing in [vec![B], vec![C], vec![B, C]] {
            let mut rig = Rig::new(kind);
            let came: Vec<NodeId> = [A, B, C].into_iter().filter(|node| !missing.contains(node)).collect();
            let results = come(&mut rig, barrier, &came);
            let nodes = missing.clone();
            assert_eq!(results[0], Err(CommError::Missing { nodes }), "{barrier:?}");
            let text = results[0].as_ref().unwrap_err().to_string();
            assert!(
                missing.iter().all(|node| text.contains(&format!("node {}", node.0))),
                "{text}"
            );
            for (node, result) in came.iter().zip(&results).skip(1) {
                let (node, master) = (*node, MASTER);
                assert_eq!(*result, Err(CommError::NotReleased { node, master }));
            }
            rig.unharmed();
        }
    }
}

fn a_missing_master_is_named(kind: Kind) {
    for barrier in ALL {
        let mut rig = Rig::new(kind);
        let results = come(&mut rig, barrier, &[B, C]);
        for (node, result) in [B, C].into_iter().zip(results) {
            let master = MASTER;
            assert_eq!(result, Err(CommError::NotReleased { node, master }), "{barrier:?}");
        }
        rig.unharmed();
    }
}
