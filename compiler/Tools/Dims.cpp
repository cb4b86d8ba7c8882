//===- Dims.cpp - Dimensions given on the command line --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds the four dimension flags to an entry's dimensions.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Dims.h"

using namespace attune;

/// The default of a length, in tokens.
static constexpr int64_t defaultLength = 128;

namespace {
/// One flag: its name, the dimension it sets, its variable and default.
struct Row {
  const char *flag;
  const char *dim;
  int64_t DimFlags::*value;
  int64_t fallback;
  const char *help;
};
} // namespace

static constexpr Row rows[] = {
    {"batch", "batch", &DimFlags::batch, 1, "sequences (default 1)"},
    {"length", "length", &DimFlags::length, defaultLength, "length of each (default 128, or the limit if less)"},
    {"source-length", "source_length", &DimFlags::sourceLength, defaultLength, "length of the source (default as for length)"},
    {"past", "past", &DimFlags::past, 0, "tokens in the caches before the call (default 0, for decode 128)"}};

void DimFlags::addTo(FlagTable &flags) {
  for (const Row &row : rows)
    flags.addInteger(row.flag, "N", this->*row.value, std::string(row.flag) == "past" ? 0 : 1, INT64_C(1) << 40, row.help);
}

Result<std::vector<int64_t>> DimFlags::resolve(const attune_entry_desc &entry, bool strict) const {
  std::vector<int64_t> dims(entry.num_dims, 1);
  for (const Row &row : rows) {
    int64_t given = this->*row.value;
    bool found = false;
    for (uint32_t i = 0; i < entry.num_dims; ++i) {
      if (std::string(entry.dims[i].name) != row.dim)
        continue;
      found = true;
      int64_t max = entry.dims[i].max;
      if (given >= 0 && max > 0 && given > max)
        return Status::error(std::string("--") + row.flag + ": expected at most " + std::to_string(max) + ", the limit of the model, got " +
                             std::to_string(given));
      // The past in the caches is 0, unless the entry continues sequences and so needs a past. A past that the shapes
      // of inputs give has the default of a length.
      bool continues = entry.dims[i].origin == ATTUNE_DIM_PAST ? entry.cache_use == ATTUNE_CACHE_CONTINUE : row.fallback == 0;
      int64_t fallback = continues ? defaultLength : row.fallback;
      dims[i] = given >= 0 ? given : max > 0 && max <= fallback ? max - (entry.dims[i].origin == ATTUNE_DIM_PAST) : fallback;
    }
    if (!found && given >= 0 && strict)
      return Status::error(std::string("--") + row.flag + ": entry '" + entry.name + "' has no dimension '" + row.dim + "'");
  }
  int64_t total = 0;
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    if (std::string name = entry.dims[i].name; name == "past" || name == "length")
      total += dims[i];
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    if (entry.dims[i].origin == ATTUNE_DIM_TOTAL_LENGTH)
      dims[i] = total;
  return dims;
}

int64_t attune::extentOf(const attune_tensor_desc &tensor, uint32_t axis, const std::vector<int64_t> &dims) {
  int64_t extent = tensor.shape[axis];
  return extent >= 0 ? extent : dims[static_cast<size_t>(-extent - 1)];
}

std::string attune::signatureText(const attune_entry_desc &entry, const attune_tensor_desc &tensor) {
  std::string text = "[";
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    int64_t extent = tensor.shape[axis];
    text += (axis ? ", " : "") + (extent >= 0 ? std::to_string(extent) : std::string(entry.dims[-extent - 1].name));
  }
  return text + "]";
}
