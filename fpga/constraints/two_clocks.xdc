# SPDX-License-Identifier: MIT OR Apache-2.0
# Vivado: the crossings of a NIC with two clocks (cenju3_nic, dimmnet1_nic, async_fifo). docs/porting.md says why.
# Read it after the clocks are there, with their names and the period of the faster one, in ns, set before:
#   set core_clk [get_clocks aclk]; set link_clk [get_clocks link_aclk]; set faster 10.0

set_max_delay -datapath_only -from $core_clk -to $link_clk $faster
set_max_delay -datapath_only -from $link_clk -to $core_clk $faster
# A reset request is asynchronous: reset_sync releases it in step with its clock.
set_false_path -to [get_pins -quiet -of_objects [get_cells -hierarchical -filter {NAME =~ *stage_q_reg*}] \
    -filter {REF_PIN_NAME == PRE}]
