//===- CodeSearch.h - Which part of LLVM makes numbers wrong? ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Searches the two steps after the last pass of Attune:
//
//   LLVM IR                  before LLVM's passes
//     | run 0 ... run n      runs of LLVM's passes on functions, loops and the module: the first n, by binary search
//   LLVM IR (phase llvm)     judged by the plain path, whose JIT compiles it without optimizations
//     | code generator       the first n functions with optimizations, the others without, by binary search
//   object code              judged by its execution as a model
//
// A function without optimizations has LLVM's attribute `optnone`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_CODESEARCH_H
#define ATTUNE_COMPILER_BISECT_CODESEARCH_H

#include "compiler/Bisect/Judge.h"
#include "compiler/Object/HostMachine.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace attune {

/// The code of a compiled model, and functions that execute its objects and read its weights.
struct ModelCode {
  /// LLVM IR of the host code before and after LLVM's passes, as text. |beforePasses| is "" if no shared object can be
  /// made.
  std::string beforePasses, afterPasses;
  std::optional<HostMachine> machine;
  /// Executes |object|, the bytes of an object file, and returns the outputs; "" stands for the object of the
  /// compilation itself. The search calls this function in a process of its own.
  std::function<Result<std::vector<OwnedTensor>>(const std::string &object)> execute;
  /// Returns the data section of the weights file; null if there is no weights file.
  std::function<Result<std::vector<uint8_t>>()> readWeights;
};

/// Functions by which tests insert errors into the work of LLVM; each may be null.
struct CodeHooks {
  /// Called before LLVM's passes run, and before the code generator runs.
  std::function<void()> begin;
  /// Called after a run of |pass| on a function or on one of its loops.
  std::function<void(llvm::StringRef pass, llvm::Function &function)> afterPass;
  /// Called before the code generator runs.
  std::function<void(llvm::Module &module)> beforeCode;
  /// Called after the compilation with the path of the weights file.
  std::function<void(const std::string &path)> afterPacking;

  /// Returns true if a hook may change the code.
  explicit operator bool() const { return afterPass || beforeCode; }
};

/// The part of LLVM that makes numbers wrong: a run of a pass, or the code generator on a function.
struct CodePart {
  /// The name of the pass, or "" for the code generator.
  std::string pass;
  std::string function;
  /// LLVM IR before and after the pass: of the function or, if |function| is "", of the module. For the code generator,
  /// |before| is the IR of the function that it compiles, and |after| is "".
  std::string before, after;
};

class CodeSearch {
public:
  /// All arguments must outlive this object.
  CodeSearch(const ModelCode &code, const CodeHooks &hooks) : code(code), hooks(hooks) {}

  /// Returns the LLVM IR of the phase `llvm`, with the changes of the hooks.
  Result<std::string> optimized() const;
  /// Returns the object with the changes of the hooks; "", which stands for the object of the compilation itself, if no
  /// hook may change the code.
  Result<std::string> object() const;

  /// Finds the run of a pass of LLVM after which |judge|, which gets LLVM IR, finds wrong numbers. Returns nullopt if
  /// the IR before all passes is not right, if the IR after all passes is not wrong, or if a judgment that the search
  /// needs is unknown.
  Result<std::optional<CodePart>> searchPasses(const std::function<Judgment(const std::string &ir)> &judge) const;
  /// Finds the function for which the code generator makes wrong code. Returns nullopt if the numbers are not right
  /// when no function is optimized, if they are not wrong when all functions are optimized, or if a judgment that the
  /// search needs is unknown.
  Result<std::optional<CodePart>> searchFunctions(const std::function<Judgment(const std::string &object)> &judge) const;
  /// Returns the object code of |ir|. The code generator optimizes only the first |end| functions with bodies.
  Result<std::string> generate(const std::string &ir, size_t end = SIZE_MAX) const;

private:
  /// A run of a pass; |function| is "" if the pass ran on the module or on a component of the call graph.
  struct Run {
    std::string pass, function;
  };
  /// Returns the IR after the first |limit| runs of passes. Passes that LLVM requires always run and do not count.
  /// Appends the runs that count to |runs|, unless it is null.
  Result<std::string> optimize(size_t limit, std::vector<Run> *runs) const;

  const ModelCode &code;
  const CodeHooks &hooks;
};

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_CODESEARCH_H
