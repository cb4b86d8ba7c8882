// Options of passes have the ranges of the fields of a schedule.
// RUN: not attune-opt %s --attune-tile-groups=register-rows=0 2>&1 | FileCheck %s --check-prefix=REGISTER
// REGISTER: error: expects 'register-rows' to be from 1 to 128, but got 0
// RUN: not attune-opt %s --attune-tile-groups=panel-width=0 2>&1 | FileCheck %s --check-prefix=PANEL
// PANEL: error: expects 'panel-width' to be a multiple of 16, at most 1024, but got 0
// RUN: not attune-opt %s --attune-tile-groups=wide-blocks=4 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: expects 'wide-rows' to be from 1 to 2147483647, but got 0
// RUN: not attune-opt %s --attune-tile-groups="wide-blocks=4 wide-rows=64 wide-columns=48" 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: error: expects 'wide-columns' to be a multiple of 'panel-width', but got 48 and 32
// RUN: not attune-opt %s --attune-tile-groups=few-rows=4 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: expects 'few-columns' to be a multiple of 16, at most 1024, but got 0
// RUN: not attune-opt %s --attune-tile-groups="few-rows=4 few-columns=48" 2>&1 | FileCheck %s --check-prefix=DIVISOR
// DIVISOR: error: expects 'few-columns' to divide 'panel-width', but got 48 and 32
// RUN: not attune-opt %s --attune-tile-attention=query-rows=0 2>&1 | FileCheck %s --check-prefix=QUERY
// QUERY: error: expects 'query-rows' to be a power of two, at most 128, but got 0
// RUN: not attune-opt %s --attune-tile-head-ops=row-block=0 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not attune-opt %s --attune-tile-quantized-rows=row-block=0 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: error: expects 'row-block' to be from 1 to 2147483647, but got 0
// RUN: not attune-opt %s --attune-plan-memory=row-group=0 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: expects 'row-group' to be from 1 to 2147483647, but got 0
// RUN: not attune-opt %s --attune-vectorize-tiles=register-rows=0 2>&1 | FileCheck %s --check-prefix=REGISTER
// RUN: not attune-opt %s --attune-attach-scratch=rows=0 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: expects 'rows' to be from 1 to 2147483647, but got 0
func.func @f() {
  return
}
