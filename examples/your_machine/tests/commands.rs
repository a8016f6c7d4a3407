//! The five commands on this machine.

use std::fs;
use std::process::Command;

#[test]
fn list_run_repro_wave_and_send() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), [7; 12_345]).expect("a file");
    for (args, line) in [
        ("list", "Machine yours: Toy Pair"),
        ("run yours word", "0x12345678 from node 0 to node 1 on the rtl"),
        ("repro yours --backend both", "2 of 2 checks met"),
        ("wave yours/word --format vcd", "yours-word.gtkw"),
        ("send file", "equal"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_your-machine"));
        let command = command.args(args.split(' ')).current_dir(folder.path());
        let output = command.output().expect("the command runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(line), "{args}: {output:?}");
    }
    let wave = fs::read_to_string(folder.path().join("out/waves/yours-word.vcd")).expect("a wave");
    assert!(wave.contains("module nic1") && wave.contains("tx_valid_o"), "{wave}");
}
