//! A harness around a block that makes every path run from flip-flop to flip-flop over few pins.
//!
//! One pin feeds a shift register with a stage for each input bit. A flip-flop catches each output bit; these are
//! folded into a rotating signature that leaves by one pin. A block's reset passes two flip-flops of its own. So the
//! harness's own paths have at most one LUT, and the block limits the clock.

use std::fmt::Write;

use super::measure::Port;

/// The module of the harness; clock number `i` of `clocks` is its port `clk<i>`.
pub const TOP: &str = "scan";

/// Verilog that instantiates `dut`. `clocks`: clock ports, each with the prefix of the port names in its domain; a port
/// without a known prefix is in the first domain.
pub fn verilog(dut: &str, ports: &[Port], clocks: &[(String, String)]) -> String {
    let domain = |name: &str| {
        let fits = |(_, prefix): &(String, String)| name.starts_with(prefix.as_str());
        clocks.iter().position(fits).unwrap_or(0)
    };
    let (mut pins, mut body, mut connections) = (Vec::new(), String::new(), Vec::new());
    for (index, (clock, _)) in clocks.iter().enumerate() {
        let (mut inputs, mut outputs) = (0, 0);
        connections.push(format!(".{clock}(clk{index})"));
        for port in ports.iter().filter(|p| p.width > 0 && domain(&p.name) == index) {
            let name = &port.name;
            if clocks.iter().any(|(clock, _)| clock == name) {
                continue;
            }
            let (bus, from) = match port.output {
                false if name.ends_with("rst_i") => {
                    connections.push(format!(".{name}(reset{index}[1])"));
                    continue;
                }
                false => ("drive", &mut inputs),
                true => ("show", &mut outputs),
            };
            connections.push(format!(".{name}({bus}{index}[{from} +: {}])", port.width));
            *from += port.width;
        }
        // At least two bits, so that every part select below is valid.
        let (top_in, top_out) = (inputs.max(2) - 1, outputs.max(2) - 1);
        pins.push(format!(
            "input clk{index}, input scan_in{index}, output scan_out{index}"
        ));
        write!(
            body,
            "  reg [1:0] reset{index};\n  (* keep *) reg [{top_in}:0] drive{index};\n  \
              wire [{top_out}:0] show{index};\n  \
              (* keep *) reg [{top_out}:0] caught{index};\n  reg [{top_out}:0] folded{index};\n  \
             always @(posedge clk{index}) begin\n    reset{index} <= {{reset{index}[0], reset}};\n    \
             drive{index} <= {{drive{index}[{}:0], scan_in{index}}};\n    caught{index} <= show{index};\n    \
             folded{index} <= caught{index} ^ {{folded{index}[{}:0], folded{index}[{top_out}]}};\n  end\n  \
             assign scan_out{index} = folded{index}[{top_out}];\n",
            top_in - 1,
            top_out - 1,
        )
        .expect("a String takes everything");
    }
    format!(
        "module {TOP} (input reset, {});\n{body}  {dut} dut (\n    {}\n  );\nendmodule\n",
        pins.join(", "),
        connections.join(",\n    ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, width: usize, output: bool) -> Port {
        Port {
            name: name.into(),
            width,
            output,
        }
    }

    #[test]
    fn every_port_is_in_its_domain() {
        let ports = [
            port("in_clk_i", 1, false),
            port("in_rst_i", 1, false),
            port("in_data_i", 8, false),
            port("in_ready_o", 1, true),
            port("out_clk_i", 1, false),
            port("out_data_o", 8, true),
        ];
        let clocks = [("in_clk_i", "in_"), ("out_clk_i", "out_")].map(|(c, p)| (c.into(), p.into()));
        let text = verilog("dut", &ports, &clocks);
        for connection in [
            ".in_clk_i(clk0)",
            ".in_rst_i(reset0[1])",
            ".in_data_i(drive0[0 +: 8])",
            ".in_ready_o(show0[0 +: 1])",
            ".out_clk_i(clk1)",
            ".out_data_o(show1[0 +: 8])",
        ] {
            assert!(text.contains(connection), "{connection} is not in\n{text}");
        }
        assert_eq!(text.matches("_i(").count() + text.matches("_o(").count(), ports.len());
    }
}
