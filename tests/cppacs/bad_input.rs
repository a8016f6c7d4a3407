//! What a program can ask that cannot be: each is an error that says what, and a legal transfer goes on behind it.

use std::cell::RefCell;
use std::rc::Rc;

use tsunagi::cppacs::host::pvm::error::{CallError, Fault, PvmError, Result as PvmResult};
use tsunagi::cppacs::host::pvm::task::Task;
use tsunagi::cppacs::host::pvm::{HOST, Pvm, RunError, Running};
use tsunagi::cppacs::host::{Allow, Change, How, Node, RdmaError, To, Transfer};
use tsunagi::cppacs::regs::{RESULT_REFUSED, SEND_LIMIT};
use tsunagi::repro::row::BackendKind;
use tsunagi::{NodeId, Picos};

use crate::backends::{A, B, BOUND, booted, config, on_both, run_all};

on_both!(fields_descriptors_lengths_and_nodes a_transfer_beyond_64_kb_comes_as_several_worms
    a_receive_that_nobody_sends_to a_message_and_its_ends);

fn fields_descriptors_lengths_and_nodes(kind: BackendKind) {
    let mut sim = booted(kind, &config(2, 1, 1));
    run_all(&mut sim, async |node| {
        let area = node.object("data", 4096)?;
        // Larger than the object, beyond it, no multiple of 8, nothing.
        for (at, bytes) in [(0, 4104), (4096, 8), (8, u32::MAX - 7), (0, 12), (0, 0), (4, 8)] {
            let made = node.create_field(&area, at, bytes, 1, Allow::WRITE).await;
            assert!(
                matches!(made, Err(RdmaError::Outside { .. } | RdmaError::Shape { .. })),
                "{at}, {bytes}: {made:?}"
            );
        }
        let field = node.create_field(&area, 0, 4096, 1, Allow::ALL).await?;
        let twice = node.create_field(&area, 0, 4096, 1, Allow::ALL).await;
        assert!(matches!(twice, Err(RdmaError::Twice { .. })));
        node.barrier(BOUND).await?;
        if node.id() == B {
            node.wait(&field, 1, BOUND).await?;
            node.barrier(BOUND).await?;
            // Its descriptor is of no use any more.
            let gone = field.clone();
            node.destroy_field(field).await?;
            node.barrier(BOUND).await?;
            let waited = node.wait(&gone, 2, Picos::from_us(300.0)).await;
            assert!(
                matches!(waited, Err(RdmaError::Timeout { had: 1, count: 2, .. })),
                "{waited:?}"
            );
            return Ok(());
        }
        let none = NodeId(2);
        let right = node.get_sendright(To::Node(none), "data", 1, BOUND).await;
        assert_eq!(right, Err(RdmaError::NoNode { to: none, nodes: 2 }));
        let right = node.get_sendright(To::Node(B), "data", 1, BOUND).await?;
        for (from, how) in [(0, 12), (0, 0), (4, 8)] {
            let span = area.span(from, how)?;
            let sent = node.send(span, &right, 0, How::default()).await;
            assert!(matches!(sent, Err(RdmaError::Shape { .. })), "{from}, {how}: {sent:?}");
        }
        assert!(matches!(area.span(8, 4096), Err(RdmaError::Outside { .. })));
        let long = node.send(area.span(0, 40)?, &right, 0, How::ACK).await;
        assert_eq!(long.err(), Some(RdmaError::TooLong { bytes: 40 }));
        // The library lets a prepared TCW say what it likes; the NIA does not.
        let (from, how, offset) = (area.span(0, 64)?, How::FLAGGED, 0);
        let what = Transfer {
            from,
            right: right.clone(),
            offset,
            how,
        };
        let tcw = node.make_tcw(&what).await?;
        let beyond = Change {
            offset: Some(4040),
            ..Change::default()
        };
        node.modify_tcw(&tcw, beyond).await?;
        let sent = node.kick(&tcw).await?;
        let (node_a, result) = (A, RESULT_REFUSED + SEND_LIMIT);
        assert_eq!(
            node.wait_sent(sent).await,
            Err(RdmaError::Refused { node: node_a, result })
        );
        node.send(area.all(), &right, 0, How::default()).await?;
        node.barrier(BOUND).await?;
        node.barrier(BOUND).await?;
        let sent = node.send(area.all(), &right, 0, How::FLAGGED).await?;
        node.wait_sent(sent).await
    });
}

fn a_transfer_beyond_64_kb_comes_as_several_worms(kind: BackendKind) {
    use tsunagi::cppacs::regs::{COUNT_RECEIVED, COUNTS};
    let mut sim = booted(kind, &config(2, 1, 1));
    let bytes = 2 * 65_536 + 8;
    let worms = run_all(&mut sim, move |node| async move {
        let area = node.object("data", bytes)?;
        let field = node.create_field(&area, 0, bytes, 1, Allow::WRITE).await?;
        let fill = if node.id() == A { 7 } else { 0 };
        node.write(&area.all(), &vec![fill; bytes as usize]);
        let right = node.get_sendright(To::Node(B), "data", 1, BOUND).await?;
        let worms = async || {
            node.host()
                .load((COUNTS + 8 * COUNT_RECEIVED).into(), 8)
                .await
                .expect("a counter")
        };
        node.barrier(BOUND).await?;
        let before = worms().await;
        node.barrier(BOUND).await?;
        if node.id() == A {
            node.send(area.all(), &right, 0, How::default()).await?;
            return Ok(0);
        }
        node.wait(&field, 1, BOUND).await?;
        assert!(node.read(&area.all()) == vec![7; bytes as usize]);
        Ok(worms().await - before)
    });
    assert_eq!(worms[1], 3);
}

type T = Task<Node>;

/// Runs a program as two tasks.
fn tasks<F>(kind: BackendKind, program: F) -> Result<(), RunError>
where
    F: AsyncFn(T) -> PvmResult<()> + Clone + 'static,
{
    let mut sim = booted(kind, &config(2, 1, 1));
    let load = move |_: &str, _: &[String], task: T| -> Result<Running, PvmError> {
        let program = program.clone();
        Ok(Box::pin(async move {
            program(task.clone()).await.map_err(|error| match error {
                CallError::Fault(fault) => fault,
                CallError::Pvm(error) => Fault::Program {
                    task: task.tid(),
                    why: error.to_string(),
                },
            })
        }))
    };
    let (sim, nodes) = sim.parts();
    let pvm = Pvm::start(nodes, Box::new(load), "program", &[], 2)?;
    pvm.run(sim, BOUND)
}

fn a_receive_that_nobody_sends_to(kind: BackendKind) {
    let ran = tasks(kind, async |task: T| {
        if task.node() == B {
            task.recv(HOST + 1, 42).await?;
        }
        Ok(())
    });
    let said = ran.expect_err("nobody sends").to_string();
    assert!(
        said.contains("t40002 waits for a message of t40001 with tag 42"),
        "{said}"
    );
}

fn a_message_and_its_ends(kind: BackendKind) {
    let said = Rc::new(RefCell::new(Vec::new()));
    let heard = said.clone();
    let ran = tasks(kind, async move |task: T| {
        let why = |error: CallError| heard.borrow_mut().push(error.to_string());
        task.initsend().await;
        if task.node() == A {
            // More than the node has; a second spawn, which there is not; a task that is not there.
            task.pack(&vec![0; 4 << 20], false).await.map_err(why).unwrap_err();
            task.spawn("another", &[], 1).await.map(drop).map_err(why).unwrap_err();
            task.send(HOST + 9, 1).await.map_err(why).unwrap_err();
            task.initsend().await;
            task.pack(&[1, 2, 3], false).await?;
            return task.send(HOST + 2, 1).await;
        }
        task.recv(HOST + 1, 1).await?;
        task.unpack(4, false).await.map(drop).map_err(why).unwrap_err();
        assert_eq!(task.unpack(3, false).await?, [1, 2, 3], "nothing was unpacked before");
        task.unpack(1, false).await.map(drop).map_err(why).unwrap_err();
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    let mut said = said.borrow().clone();
    said.sort();
    let end = "end of the message";
    assert_eq!(said, [end, end, "no memory", "no such task", "not on this machine"]);
}
