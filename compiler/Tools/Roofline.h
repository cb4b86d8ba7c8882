//===- Roofline.h - Kernels against the machine's limits ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roofline of kernels. A kernel cannot be faster than its arithmetic at the FMA peak, nor than reading its weights at
// the read bandwidth; the larger of the two times is its roof. The work of a kernel is a static formula of the
// dimensions; times and the machine's rates are measured by `bench --profile`.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_ROOFLINE_H
#define ATTUNE_COMPILER_TOOLS_ROOFLINE_H

#include "attune/abi.h"
#include "compiler/Support/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace attune {

/// The rates of the machine for one model, 0 if not known. |gflops| is in 10^9 operations per second.
struct MachineRates {
  double gflops = 0;
  double readBytesPerSecond = 0;
};

/// Returns the rates for |desc| on a machine whose peak of f32 fused multiply-adds is |peakGflops|. If |desc| has
/// low-precision products (`--dtype`), the rate of arithmetic is 0, because their peak is not known.
MachineRates ratesFor(const attune_model_desc &desc, double peakGflops, double readBytesPerSecond);

/// Returns the work of each kernel of |desc|, in the order of |desc|.kernels, in one call of |entry| with these dims;
/// nullopt if the object has no formulas of the work.
std::optional<std::vector<attune_kernel_work>> kernelWork(const attune_model_desc &desc, const attune_entry_desc &entry,
                                                          const std::vector<int64_t> &dims);
/// Returns the bytes of weights that one call of |entry| with these dims reads; the bytes of all weights if the object
/// has no formulas of the work.
double weightBytesRead(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims);

/// Adds "flops", "weight_bytes" and "tensor_bytes" to |row|.
void addWork(nlohmann::ordered_json &row, const attune_kernel_work &work);
/// Adds the values that follow from |milliseconds|, the kernel's time in one call, to |row|: "gflops" (10^9 operations
/// per second) if the kernel has products; "roof_ms", "bound" ("compute" or "memory") and "roof_fraction" ("roof_ms"
/// divided by |milliseconds|) if the kernel has a roof and |machine| has a rate for it. A kernel without products, and
/// with no more bytes of weights than of tensors, has no roof: its tensors may be in a cache.
void addRoof(nlohmann::ordered_json &row, const attune_kernel_work &work, double milliseconds, const MachineRates &machine);

/// Returns the rows of the roofline that `inspect` shows for a call of |entry| with these dims, a JSON object for each
/// kernel that |entry| calls; empty if the object has no formulas of the work.
nlohmann::ordered_json describeRoofline(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims);

/// A file written by `bench --profile --json`.
class ProfileFile {
public:
  /// Reads |path| and checks that it is a profile of the object with this build id.
  static Result<ProfileFile> read(const std::string &path, const std::string &buildId);

  /// Returns true if this is a profile of |entry|.
  bool isOf(const attune_entry_desc &entry) const;
  /// Returns the dimensions of the measured call, in the order of |entry|. Fails if the file does not have them all.
  Result<std::vector<int64_t>> dims(const attune_entry_desc &entry) const;
  /// Adds times and roofs to |rows|, which describeRoofline has returned. Returns the rates of the machine and the
  /// number of threads, as a JSON object.
  Result<nlohmann::ordered_json> apply(nlohmann::ordered_json &rows, const attune_model_desc &desc, const attune_entry_desc &entry) const;

private:
  std::string path;
  Json json;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_ROOFLINE_H
