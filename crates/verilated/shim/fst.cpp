// Verilator's writer of FST, without the checks that end the process when the disk is full. What was not written is found out afterwards.
#if __has_include("fstcpp/fstcpp_assertion.h")
#include "fstcpp/fstcpp_assertion.h"
#undef FST_DCHECK_EQ
#define FST_DCHECK_EQ(a, b)
#endif
#include "verilated_fst_c.cpp"
