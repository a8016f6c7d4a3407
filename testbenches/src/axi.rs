//! The standard AXI ports of a verilated unit, as [`tsunagi::harness::axi`] speaks of them.

/// The word that a channel offers, made of the ports of these names.
#[macro_export]
macro_rules! axi_burst {
    ($dut:expr, $valid:ident, $id:ident, $addr:ident, $len:ident, $size:ident, $burst:ident, $lock:ident, $cache:ident, $prot:ident) => {
        $dut.$valid.is_set().then(|| ::tsunagi::harness::axi::Burst {
            id: $dut.$id.get().into(),
            addr: $dut.$addr.get().into(),
            len: $dut.$len.get(),
            size: $dut.$size.get(),
            kind: ::tsunagi::harness::axi::Kind::from_bits($dut.$burst.get()),
            lock: $dut.$lock.is_set(),
            cache: $dut.$cache.get(),
            prot: $dut.$prot.get(),
        })
    };
}

/// What a unit's `m_axi_ar*` offer.
#[macro_export]
macro_rules! m_axi_ar {
    ($dut:expr) => {
        $crate::axi_burst!(
            $dut,
            m_axi_arvalid,
            m_axi_arid,
            m_axi_araddr,
            m_axi_arlen,
            m_axi_arsize,
            m_axi_arburst,
            m_axi_arlock,
            m_axi_arcache,
            m_axi_arprot
        )
    };
}

/// What a unit's `m_axi_aw*` offer.
#[macro_export]
macro_rules! m_axi_aw {
    ($dut:expr) => {
        $crate::axi_burst!(
            $dut,
            m_axi_awvalid,
            m_axi_awid,
            m_axi_awaddr,
            m_axi_awlen,
            m_axi_awsize,
            m_axi_awburst,
            m_axi_awlock,
            m_axi_awcache,
            m_axi_awprot
        )
    };
}

/// What a unit's `m_axi_w*` offer.
#[macro_export]
macro_rules! m_axi_w {
    ($dut:expr) => {
        $dut.m_axi_wvalid.is_set().then(|| ::tsunagi::harness::axi::WriteBeat {
            data: $dut.m_axi_wdata.get().into(),
            strb: $dut.m_axi_wstrb.get(),
            last: $dut.m_axi_wlast.is_set(),
        })
    };
}

/// Drives a unit's `m_axi_r*` and `m_axi_arready`; junk where nothing is valid.
#[macro_export]
macro_rules! set_m_axi_r {
    ($dut:expr, $slave:expr) => {
        let (slave, junk) = (
            $slave,
            ::tsunagi::harness::axi::ReadBeat {
                id: 1,
                data: 0xbad0_bad1_bad2_bad3,
                resp: ::tsunagi::harness::axi::Resp::DecErr,
                last: true,
            },
        );
        let beat = slave.r.unwrap_or(junk);
        $dut.m_axi_arready.set_bool(slave.ar_ready);
        $dut.m_axi_rvalid.set_bool(slave.r.is_some());
        $dut.m_axi_rid.set(beat.id as _);
        $dut.m_axi_rdata.set(beat.data as _);
        $dut.m_axi_rresp.set(beat.resp.bits());
        $dut.m_axi_rlast.set_bool(beat.last);
    };
}

/// Drives a unit's `m_axi_b*`, `m_axi_awready` and `m_axi_wready`; junk where nothing is valid.
#[macro_export]
macro_rules! set_m_axi_b {
    ($dut:expr, $slave:expr) => {
        let (slave, junk) = (
            $slave,
            ::tsunagi::harness::axi::WriteEnd {
                id: 1,
                resp: ::tsunagi::harness::axi::Resp::DecErr,
            },
        );
        let end = slave.b.unwrap_or(junk);
        $dut.m_axi_awready.set_bool(slave.aw_ready);
        $dut.m_axi_wready.set_bool(slave.w_ready);
        $dut.m_axi_bvalid.set_bool(slave.b.is_some());
        $dut.m_axi_bid.set(end.id as _);
        $dut.m_axi_bresp.set(end.resp.bits());
    };
}

/// Drives a unit's `s_axil_*`; junk where nothing is valid.
#[macro_export]
macro_rules! set_s_axil {
    ($dut:expr, $master:expr) => {
        let master: &::tsunagi::harness::axi::FromMaster = $master;
        $dut.s_axil_awvalid.set_bool(master.aw.is_some());
        $dut.s_axil_awaddr.set(master.aw.map_or(0x5a, |burst| burst.addr) as _);
        $dut.s_axil_awprot.set(0);
        $dut.s_axil_wvalid.set_bool(master.w.is_some());
        $dut.s_axil_wdata.set(master.w.map_or(0xbad0, |beat| beat.data) as _);
        $dut.s_axil_wstrb.set(master.w.map_or(0xf, |beat| beat.strb));
        $dut.s_axil_bready.set_bool(master.b_ready);
        $dut.s_axil_arvalid.set_bool(master.ar.is_some());
        $dut.s_axil_araddr.set(master.ar.map_or(0xa5, |burst| burst.addr) as _);
        $dut.s_axil_arprot.set(0);
        $dut.s_axil_rready.set_bool(master.r_ready);
    };
}

/// What a unit's `s_axil_*` drive.
#[macro_export]
macro_rules! s_axil {
    ($dut:expr) => {
        ::tsunagi::harness::axi::FromSlave {
            aw_ready: $dut.s_axil_awready.is_set(),
            w_ready: $dut.s_axil_wready.is_set(),
            b: $dut.s_axil_bvalid.is_set().then(|| ::tsunagi::harness::axi::WriteEnd {
                id: 0,
                resp: ::tsunagi::harness::axi::Resp::from_bits($dut.s_axil_bresp.get()),
            }),
            ar_ready: $dut.s_axil_arready.is_set(),
            r: $dut.s_axil_rvalid.is_set().then(|| ::tsunagi::harness::axi::ReadBeat {
                id: 0,
                data: $dut.s_axil_rdata.get().into(),
                resp: ::tsunagi::harness::axi::Resp::from_bits($dut.s_axil_rresp.get()),
                last: true,
            }),
        }
    };
}

/// Drives a unit's `s_axi_*`, at addresses from `$base` on; junk where nothing is valid.
#[macro_export]
macro_rules! set_s_axi {
    ($dut:expr, $master:expr, $base:expr) => {
        let (master, base): (&::tsunagi::harness::axi::FromMaster, u64) = ($master, $base);
        let junk = ::tsunagi::harness::axi::Burst {
            id: 1,
            addr: 0xbad,
            len: 9,
            size: 1,
            kind: ::tsunagi::harness::axi::Kind::Wrap,
            lock: true,
            cache: 0xf,
            prot: 7,
        };
        let aw = master.aw.unwrap_or(junk);
        $dut.s_axi_awvalid.set_bool(master.aw.is_some());
        $dut.s_axi_awid.set(aw.id as _);
        $dut.s_axi_awaddr.set((base + u64::from(aw.addr)) as _);
        $dut.s_axi_awlen.set(aw.len);
        $dut.s_axi_awsize.set(aw.size);
        $dut.s_axi_awburst.set(aw.kind.bits());
        $dut.s_axi_awlock.set_bool(aw.lock);
        $dut.s_axi_awcache.set(aw.cache);
        $dut.s_axi_awprot.set(aw.prot);
        let ar = master.ar.unwrap_or(junk);
        $dut.s_axi_arvalid.set_bool(master.ar.is_some());
        $dut.s_axi_arid.set(ar.id as _);
        $dut.s_axi_araddr.set((base + u64::from(ar.addr)) as _);
        $dut.s_axi_arlen.set(ar.len);
        $dut.s_axi_arsize.set(ar.size);
        $dut.s_axi_arburst.set(ar.kind.bits());
        $dut.s_axi_arlock.set_bool(ar.lock);
        $dut.s_axi_arcache.set(ar.cache);
        $dut.s_axi_arprot.set(ar.prot);
        let w = master.w.unwrap_or(::tsunagi::harness::axi::WriteBeat {
            data: 0xbad,
            strb: 3,
            last: true,
        });
        $dut.s_axi_wvalid.set_bool(master.w.is_some());
        $dut.s_axi_wdata.set(w.data as _);
        $dut.s_axi_wstrb.set(w.strb);
        $dut.s_axi_wlast.set_bool(w.last);
        $dut.s_axi_bready.set_bool(master.b_ready);
        $dut.s_axi_rready.set_bool(master.r_ready);
    };
}

/// What a unit's `s_axi_*` drive.
#[macro_export]
macro_rules! s_axi {
    ($dut:expr) => {
        ::tsunagi::harness::axi::FromSlave {
            aw_ready: $dut.s_axi_awready.is_set(),
            w_ready: $dut.s_axi_wready.is_set(),
            b: $dut.s_axi_bvalid.is_set().then(|| ::tsunagi::harness::axi::WriteEnd {
                id: $dut.s_axi_bid.get().into(),
                resp: ::tsunagi::harness::axi::Resp::from_bits($dut.s_axi_bresp.get()),
            }),
            ar_ready: $dut.s_axi_arready.is_set(),
            r: $dut.s_axi_rvalid.is_set().then(|| ::tsunagi::harness::axi::ReadBeat {
                id: $dut.s_axi_rid.get().into(),
                data: $dut.s_axi_rdata.get().into(),
                resp: ::tsunagi::harness::axi::Resp::from_bits($dut.s_axi_rresp.get()),
                last: $dut.s_axi_rlast.is_set(),
            }),
        }
    };
}
