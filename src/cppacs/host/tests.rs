use super::*;
use crate::cppacs::model::ModelMachine;
use crate::cppacs::regs::{RESULT_REFUSED, SEND_LIMIT};
use crate::net::hyper::Channel;

const BOUND: Picos = Picos::from_ns(20_000_000);
const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn sim(x: u32, y: u32, z: u32) -> CppacsSim<ModelMachine> {
    let config = Config {
        x,
        y,
        z,
        mem_bytes: 0x80_0000,
        ..Config::paper()
    };
    CppacsSim::new(ModelMachine::new(&config), &config).expect("it boots")
}

/// Both nodes' programs, and what they gave.
fn both<T: 'static, U: 'static, F, G>(a: impl FnOnce(Node) -> F, b: impl FnOnce(Node) -> G) -> (T, U)
where
    F: Future<Output = Result<T, RdmaError>> + 'static,
    G: Future<Output = Result<U, RdmaError>> + 'static,
{
    let mut sim = sim(2, 1, 1);
    let (mut a, mut b) = (sim.spawn(A, a), sim.spawn(B, b));
    sim.run(Picos::from_us(1e6)).expect("the programs end");
    let (a, b) = (a.take().expect("it ended"), b.take().expect("it ended"));
    (a.expect("A's program"), b.expect("B's program"))
}

/// A field of the whole object, and a right for the other node's object of the same name.
async fn pair(node: &Node, bytes: u32, allow: Allow) -> Result<(Area, Field, Right), RdmaError> {
    let area = node.object("data", bytes)?;
    let field = node.create_field(&area, 0, bytes, 3, allow).await?;
    let other = NodeId(1 - node.id().0);
    let right = node.get_sendright(To::Node(other), "data", 3, BOUND).await?;
    assert_eq!((right.size(), field.size()), (bytes, bytes));
    Ok((area, field, right))
}

#[test]
fn an_rdma_of_8_bytes_takes_12_us() {
    let rounds = 10;
    let play = move |node: Node| async move {
        let (area, field, right) = pair(&node, 4096, Allow::WRITE).await?;
        node.barrier(BOUND).await?;
        let begin = node.now();
        for round in 0..rounds {
            if node.id() == A {
                node.send(area.span(8, 8)?, &right, 0, How::default()).await?;
            }
            node.wait(&field, round + 1, BOUND).await?;
            if node.id() == B {
                node.send(area.span(8, 8)?, &right, 0, How::default()).await?;
            }
        }
        Ok((node.now() - begin).as_us() / f64::from(2 * rounds))
    };
    let (us, _) = both(play, play);
    assert!((us - 12.0).abs() < 0.3, "{us} us");
}

#[test]
fn data_go_there_and_come_by_get() {
    let bytes = 3 << 20;
    let a = move |node: Node| async move {
        let (area, field, right) = pair(&node, bytes, Allow::ALL).await?;
        let data: Vec<u8> = (0..bytes).map(|at| ((at * 7) >> 3) as u8).collect();
        node.write(&area.all(), &data);
        let sent = node.send(area.span(0, bytes)?, &right, 0, How::FLAGGED).await?;
        node.wait_sent(sent).await?;
        node.wait(&field, 1, BOUND).await?;
        // B has all of it now; what we get from there is what we sent.
        node.write(&area.all(), &vec![0; bytes as usize]);
        node.get(&right, 4096, &field, 0, 65_536).await?;
        assert_eq!(node.read(&area.span(0, 65_536)?), data[4096..4096 + 65_536]);
        Ok(data)
    };
    let b = move |node: Node| async move {
        let (area, field, right) = pair(&node, bytes, Allow::ALL).await?;
        node.wait(&field, 3, BOUND).await?;
        let data = node.read(&area.all());
        node.send(area.span(0, 8)?, &right, 0, How::ACK).await?;
        Ok(data)
    };
    let (sent, came) = both(a, b);
    assert_eq!(sent, came);
}

#[test]
fn strides_atomics_and_prepared_tcws() {
    let a = |node: Node| async move {
        let (area, field, right) = pair(&node, 8192, Allow::ALL).await?;
        node.write(
            &area.all(),
            &(0..8192u32).map(|at| (at >> 3) as u8).collect::<Vec<u8>>(),
        );
        let from = Strided {
            first: area.span(0, 8)?,
            count: 16,
            step: 64,
        };
        node.stride_send(from, &right, Steps { offset: 4096, step: 16 }, How::default())
            .await?;
        let what = Transfer {
            from: area.span(0, 8)?,
            right: right.clone(),
            offset: 0,
            how: How::FLAGGED,
        };
        let tcw = node.make_tcw(&what).await?;
        for place in 0..10 {
            let change = Change {
                from: Some(area.span(8 * place, 8)?),
                offset: Some(8 * place),
            };
            node.modify_tcw(&tcw, change).await?;
            let sent = node.kick_fast(&tcw).await?;
            node.wait_sent(sent).await?;
        }
        // B's field ends there, which the NIA finds.
        node.modify_tcw(
            &tcw,
            Change {
                offset: Some(8192),
                ..Change::default()
            },
        )
        .await?;
        let sent = node.kick(&tcw).await?;
        let result = RESULT_REFUSED + SEND_LIMIT;
        assert_eq!(node.wait_sent(sent).await, Err(RdmaError::Refused { node: A, result }));
        node.free_tcw(tcw);
        let [old, kept, last] = [
            node.swap(&right, 80, 1 << 40).await?,
            node.cswap(&right, 80, 5, 6).await?,
            node.cswap(&right, 80, 1 << 40, 7).await?,
        ];
        assert_eq!([old, kept, last], [0, 1 << 40, 1 << 40]);
        node.send(area.span(0, 8)?, &right, 88, How::default()).await?;
        node.free_right(right).await;
        Ok(field)
    };
    let b = |node: Node| async move {
        let (area, field, _) = pair(&node, 8192, Allow::ALL).await?;
        node.wait(&field, 12, BOUND).await?;
        Ok((node.read(&area.span(4096, 256)?), node.read(&area.span(0, 96)?)))
    };
    let (_, (strided, rest)) = both(a, b);
    for at in 0..16 {
        assert_eq!(strided[16 * at..16 * at + 8], [8 * at as u8; 8]);
        assert_eq!(strided[16 * at + 8..16 * at + 16], [0; 8]);
    }
    for at in 0..10 {
        assert_eq!(rest[8 * at..8 * at + 8], [at as u8; 8]);
    }
    assert_eq!(rest[80..88], 7u64.to_le_bytes());
}

#[test]
fn a_broadcast_reaches_the_fields_of_all_nodes() {
    let mut sim = sim(2, 2, 2);
    let programs = sim.spawn_all(|node| async move {
        let area = node.object("all:data", 4096)?;
        let field = node.create_field(&area, 0, 4096, 2, Allow::WRITE).await?;
        node.barrier(BOUND).await?;
        if node.id() == NodeId(5) {
            let right = node.get_sendright(To::Broadcast(7, A), "all:data", 2, BOUND).await?;
            let from = node.object("out", 4096)?;
            node.write(&from.all(), &[9; 4096]);
            node.send(from.all(), &right, 0, How::default()).await?;
        }
        node.wait(&field, 1, BOUND).await?;
        Ok::<_, RdmaError>(node.read(&area.all()))
    });
    sim.run(BOUND).expect("the programs end");
    for mut program in programs {
        assert_eq!(program.take().expect("it ended"), Ok(vec![9; 4096]));
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    let short = Picos::from_us(300.0);
    let a = move |node: Node| async move {
        let (area, field, right) = pair(&node, 4096, Allow::WRITE).await?;
        let err = async |from: Result<Span, RdmaError>, offset, how| match from {
            Ok(from) => node.send(from, &right, offset, how).await.expect_err("it cannot be"),
            Err(error) => error,
        };
        let (bytes, size) = (12, 4096);
        assert_eq!(
            err(area.span(0, 12), 0, How::default()).await,
            RdmaError::Shape { offset: 0x1000, bytes }
        );
        let outside = RdmaError::Outside {
            offset: 8,
            bytes: 4096,
            size,
        };
        assert_eq!(err(area.span(0, 4096), 8, How::default()).await, outside);
        assert_eq!(
            err(area.span(0, 40), 0, How::ACK).await,
            RdmaError::TooLong { bytes: 40 }
        );
        assert_eq!(area.span(8, 4096), Err(outside));
        assert!(matches!(node.object("data", 8), Err(RdmaError::Twice { .. })));
        assert!(matches!(node.object("", 8), Err(RdmaError::Name { .. })));
        assert!(matches!(node.object("big", u32::MAX), Err(RdmaError::Memory { .. })));
        let to = NodeId(2);
        let none = node.get_sendright(To::Node(to), "data", 3, short).await;
        assert_eq!(none, Err(RdmaError::NoNode { to, nodes: 2 }));
        let none = node.get_sendright(To::Node(B), "data", 4, short).await;
        assert!(matches!(none, Err(RdmaError::NoField { number: 4, .. })));
        let late = node.wait(&field, 1, short).await;
        assert!(matches!(late, Err(RdmaError::Timeout { had: 0, count: 1, .. })));
        let sent = node.send(area.all(), &right, 0, How::default()).await?;
        assert_eq!(node.wait_sent(sent).await, Err(RdmaError::NoFlag { node: A }));
        node.barrier(BOUND).await?;
        // Now the field is destroyed: our right is refused there, and nobody waits for it.
        node.barrier(BOUND).await?;
        let sent = node.send(area.all(), &right, 0, How::FLAGGED).await?;
        node.wait_sent(sent).await
    };
    let b = move |node: Node| async move {
        let (area, field, _) = pair(&node, 4096, Allow::WRITE).await?;
        node.wait(&field, 1, BOUND).await?;
        node.barrier(BOUND).await?;
        node.destroy_field(field).await?;
        node.barrier(BOUND).await?;
        let again = node.create_field(&area, 0, 4096, 3, Allow::WRITE).await?;
        node.wait(&again, 1, short)
            .await
            .map(drop)
            .or_else(|error| match error {
                RdmaError::Timeout { had: 0, .. } => Ok(()),
                other => Err(other),
            })
    };
    both(a, b);
}

#[test]
fn who_does_not_come_to_the_barrier_is_missed() {
    let mut sim = sim(2, 1, 1);
    let mut alone = sim.spawn(A, |node| async move { node.barrier(Picos::from_us(50.0)).await });
    sim.run(BOUND).expect("it gives up");
    assert_eq!(alone.take(), Some(Err(RdmaError::Barrier { node: A })));
}

#[test]
fn short_messages_do_not_wait_behind_long_ones() {
    let a = |node: Node| async move {
        let (area, _, right) = pair(&node, 2 << 20, Allow::WRITE).await?;
        node.barrier(BOUND).await?;
        let how = How {
            channel: Channel::Data,
            ..How::default()
        };
        node.send(area.span(0, 1 << 20)?, &right, 0, how).await?;
        node.send(area.span(0, 8)?, &right, 1 << 20, How::ACK).await.map(drop)
    };
    let b = |node: Node| async move {
        let (_, field, _) = pair(&node, 2 << 20, Allow::WRITE).await?;
        node.barrier(BOUND).await?;
        let begin = node.now();
        node.wait(&field, 1, BOUND).await?;
        Ok((node.now() - begin).as_us())
    };
    let ((), us) = both(a, b);
    assert!(us < 40.0, "{us} us");
}

/// Their messages come one right behind the other: the second takes the next slot of the ring, not the same one. The
/// node's program computes meanwhile.
#[test]
fn a_kernel_that_all_ask_at_once_answers_all() {
    let mut sim = sim(2, 2, 2);
    sim.spawn_checked(A, async |node| {
        let area = node.object("data", 64)?;
        node.create_field(&area, 0, 64, 3, Allow::WRITE).await?;
        node.compute(Picos::from_us(1e5)).await;
        Ok::<_, RdmaError>(())
    });
    let ask = |n| {
        sim.spawn(NodeId(n), async |node| {
            let start = node.now();
            node.get_sendright(To::Node(A), "data", 3, BOUND).await?;
            Ok::<_, RdmaError>((node.now() - start).as_us())
        })
    };
    let mut asked: Vec<_> = (1..8).map(ask).collect();
    sim.run(Picos::from_us(1e6)).expect("the programs end");
    for us in asked.iter_mut().map(|asked| asked.take().expect("it ended")) {
        assert!(us.expect("a right") < 100.0);
    }
}
