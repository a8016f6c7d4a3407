# SPDX-License-Identifier: MIT OR Apache-2.0
# Quartus, and others that read SDC: the crossings of a NIC with two clocks (cenju3_nic, dimmnet1_nic, async_fifo).
# docs/porting.md says why. Read it after the clocks are there, with these set before, in ns:
#   set core_clk [get_clocks aclk]; set link_clk [get_clocks link_aclk]; set faster 10.0

set_max_delay -from $core_clk -to $link_clk $faster
set_max_delay -from $link_clk -to $core_clk $faster
set_false_path -hold -from $core_clk -to $link_clk
set_false_path -hold -from $link_clk -to $core_clk
