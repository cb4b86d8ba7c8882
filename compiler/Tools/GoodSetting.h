//===- GoodSetting.h - The setting that bisect compares with ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The value of `--good` is either flags of `attune compile`, or the executable `attune` of another build, optionally
// followed by flags for it. A process of `attune run` makes the calls by the good setting, because two builds share
// nothing but files.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_GOODSETTING_H
#define ATTUNE_COMPILER_TOOLS_GOODSETTING_H

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Tools/PlainCall.h"

namespace attune {

class GoodSetting {
public:
  /// Reads |values|, the values of all occurrences of `--good`. |program| is the path of this executable. Fails if
  /// |values| have no word, or name another program that is not an attune executable. For a setting of this program,
  /// also fails if a flag is unknown or has a wrong value, or if the flags choose low-precision products or a weight
  /// format (checkExactProducts).
  static Result<GoodSetting> create(const std::vector<std::string> &values, const std::string &program);

  /// Returns the values as they were given, joined by spaces.
  const std::string &text() const { return given; }
  /// Returns true if the setting belongs to another program.
  bool isOtherProgram() const { return isOther; }
  /// Returns |call| with the flags of this setting after the flags of the call. If the setting has --target, the call's
  /// --target, --gpu and --kernels are omitted. Sets |threads| if the setting has --threads. Only for a setting of this
  /// program.
  Result<PlainCall> apply(const PlainCall &call, int64_t &threads) const;
  /// Executes `attune run` of the setting's program: compiles the model of |call| with the flags that apply() combines,
  /// runs it on |inputs| and returns the results. |threads| is the number of threads, 0 for the default, unless the
  /// setting has --threads.
  Result<std::vector<OwnedTensor>> run(const PlainCall &call, const PlainInputs &inputs, int64_t threads) const;
  /// Returns the results of |call| on |inputs| from the module of |phase|, which the setting's program executes by the
  /// plain path.
  Result<std::vector<OwnedTensor>> runPhase(Phase phase, const PlainCall &call, const PlainInputs &inputs) const;

private:
  GoodSetting() = default;
  /// Returns the flags of |call| without those that apply() omits, followed by those of the setting.
  std::vector<std::string> joinWords(const PlainCall &call) const;
  Result<std::vector<OwnedTensor>> execute(std::vector<std::string> arguments, const PlainCall &call, const PlainInputs &inputs) const;

  std::string given, program;
  bool isOther = false;
  /// The setting's flags of compilations, and its flags of calls (--threads).
  std::vector<std::string> flags, ofCalls;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_GOODSETTING_H
