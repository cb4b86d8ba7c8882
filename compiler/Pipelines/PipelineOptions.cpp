//===- PipelineOptions.cpp - The target as the phases see it ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/PipelineOptions.h"

using namespace mlir;
using namespace attune;

PipelineOptions attune::getGpuPipelineOptions(xfmr::Precision precision, llvm::ArrayRef<GpuArchitecture> gpus) {
  PipelineOptions options;
  options.precision = precision;
  options.gpu = getGpuStrategy(gpus);
  options.strategy = options.gpu->tiles;
  return options;
}
