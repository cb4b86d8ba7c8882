//===- Passes.td - Passes of attune-reduce -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def ReduceModule : Pass<"attune-reduce-module", "::mlir::ModuleOp"> {
  let summary = "shrink a module while a test finds it interesting";
  let description = [{
    Makes a small test case from a module that shows a bug. To test a module, runs the program `test` with the arguments
    `test-arg`, followed by the path of a file that holds the module as text. The test should exit with 1 if the module
    is interesting, that is, still shows the bug, and with 0 if not. If the test exits with any other status on a
    changed module, the module counts as interesting, too, as for `reduction-tree` of MLIR. On the input, such a status
    is an error, since it often means that the test itself does not work. The pass tries to

    - erase symbols with their users, and the bodies of functions;
    - erase operations, and replace an operation by the body of one of its regions, if that region has one block. A
      result of an erased operation that is still used is replaced by another value of its type, a constant, a new
      argument of the function, or `ub.poison` where none of these is possible;
    - erase arguments and results of functions, with the operands and results of their calls;
    - apply the reduction patterns of dialects (`DialectReductionPatternInterface`); those of `xfmr` and `tile`
      erase optional operands;
    - erase attributes;
    - set a size to 1 or, if that fails, halve it, in all types that have this size, so that types still agree. Either
      is tried first with the same change of the integer attributes and constants that are equal to the size, then in
      types only.

    Each step but the last is tried on all candidates at once, then on halves of them, and so on down to single
    candidates. All steps are repeated until none finds a smaller interesting module. The test is not run on changed
    modules that do not verify. The input may be any module.

    Before, with a test that exits with 1 if the module has a `math.exp`:
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
    If the test exits with another status than 1 on the input, an error names the test and the status. A test that is
    missing or cannot run on the input is an error, too. If the test cannot run on a changed module, or a signal ends it
    there, the tool ends with a fatal error, without a reduced module. **Numerics**: results may change.
  }];
  let options = [
    Option<"testerName", "test", "std::string", /*default=*/"",
           "program that exits with 1 while the module is interesting">,
    ListOption<"testerArgs", "test-arg", "std::string",
               "an argument of the test, before the name of the file; may be repeated">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::ub::UBDialect"];
}
