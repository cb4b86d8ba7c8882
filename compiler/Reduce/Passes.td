//===- Passes.td - Passes of attune-reduce ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REDUCE_PASSES_TD
#define ATTUNE_REDUCE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReduceModule : Pass<"attune-reduce-module", "::mlir::ModuleOp"> {
  let summary = "make a module smaller while a test stays interested in it";
  let description = [{
    Runs `test` with the options `test-arg` and the name of a file, the module as text, after them; as for `reduction-tree`, exit status 1 means
    that the module is interesting. The pass tries to

    - erase symbols and what uses them, and the bodies of functions;
    - erase operations, and put the body of a region in the place of its operation. A value that is still used becomes another value of its
      type that is there, a constant, or a new argument of the function;
    - erase arguments and results of functions, in calls, too;
    - apply the patterns of the dialects' DialectReductionPatternInterface; those of `xfmr` erase optional operands;
    - erase attributes;
    - make sizes 1, or halve them, wherever the module says the same number;

    many at a time first, then fewer, until nothing is left that can go. The test is not asked about modules that do not verify.

    Before, with a test that looks for `math.exp`:
    ```mlir
    func.func private @unused(%x: tensor<8xf32>)
    func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
      %a = arith.addf %x, %y : tensor<8xf32>
      %b = math.exp %a : tensor<8xf32>
      %c = arith.mulf %b, %y : tensor<8xf32>
      return %c : tensor<8xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<1xf32>) {
      %b = math.exp %x : tensor<1xf32>
      return
    }
    ```
    An error names the test and its exit status if the module that is given is not interesting. **Numerics**: none are kept.
  }];
  let options = [
    Option<"testerName", "test", "std::string", /*default=*/"", "program that exits with 1 while the module is interesting">,
    ListOption<"testerArgs", "test-arg", "std::string", "an argument of the test, before the name of the file">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::ub::UBDialect"];
}

#endif // ATTUNE_REDUCE_PASSES_TD
