//! What a host reaches of its NIC.

use crate::harness::backend::HostReq;
use crate::harness::host_port::RegisterAccess;

/// Physical address of the registers: the AXI-Lite side of `cenju3_nic_axi` has nothing else.
pub const REGISTERS: u64 = 0;

/// A gauge: bytes between the network and the Receiver.
pub const RECEIVE_FIFO: &str = "receive FIFO";

/// The register that an access is of; `None`: the bus refuses it. A register is accessed as a whole.
pub fn register(req: HostReq) -> Option<RegisterAccess> {
    RegisterAccess::of(req, REGISTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_accessed_as_a_whole() {
        let write = Some(5);
        assert_eq!(
            register(HostReq::write(0x58, 5)),
            Some(RegisterAccess { offset: 0x58, write })
        );
        let half = HostReq {
            bytes: 2,
            ..HostReq::read(0x58)
        };
        for refused in [HostReq::read(0x100), HostReq::read(2), half] {
            assert_eq!(register(refused), None, "{refused}");
        }
    }
}
