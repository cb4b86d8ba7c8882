//===- OutlineLaunches.cpp - Parallel loops as kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers, without results, that hold the code of one thread, and nothing outside of them that touches a buffer.
// Leaves a gpu.func and a gpu.launch_func for each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "compiler/Transforms/ParallelLoops.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace attune {
#define GEN_PASS_DEF_OUTLINELAUNCHES
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Least numbers of blocks that have registers on a multiprocessor at the same time: of kernels with tiles in shared memory, and of others.
static constexpr int32_t kBlocks = 2, kLightBlocks = 8;

namespace {

struct OutlineLaunches : attune::impl::OutlineLaunchesBase<OutlineLaunches> {
  using OutlineLaunchesBase::OutlineLaunchesBase;
  void runOnOperation() override;

private:
  void outline(scf::ForallOp forall, SymbolTable &symbols);

  SmallVector<Attribute> functions;
};

} // namespace

/// The argument that says how many blocks may have scratch.
static Value getWorkers(func::FuncOp function) {
  for (unsigned i = 0; i != function.getNumArguments(); ++i)
    if (auto role = function.getArgAttrOfType<StringAttr>(i, xfmr::kRoleAttr); role && role.getValue() == "workers")
      return function.getArgument(i);
  return {};
}

void OutlineLaunches::outline(scf::ForallOp forall, SymbolTable &symbols) {
  auto parent = forall->getParentOfType<func::FuncOp>();
  ThreadBuilder host(forall.getLoc(), forall);
  ParallelLoop loop(forall, host);
  Value count = loop.counts[0];
  for (Value other : ArrayRef(loop.counts).drop_front())
    count = host.mul(count, other);
  bool usesScratch = forall.walk([](rt::WorkerIdOp) { return WalkResult::interrupt(); }).wasInterrupted();
  SmallVector<Value> needed(loop.counts);
  if (usesScratch)
    needed.push_back(count);
  auto [needs, repeated] = loop.capture(needed);
  // Maps of tensors first: what follows becomes several parameters each.
  SmallVector<Value> captures(needs.begin(), needs.end());
  auto isMap = [](Value value) { return value.getDefiningOp<rt::TensorMapOp>() != nullptr; };
  int64_t numMaps = std::stable_partition(captures.begin(), captures.end(), isMap) - captures.begin();

  SmallVector<Type> types = llvm::map_to_vector(captures, [](Value v) { return v.getType(); });
  ThreadBuilder device(forall.getLoc(), &getContext());
  auto kernel = gpu::GPUFuncOp::create(device, parent.getName(), host.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), host.getUnitAttr());
  auto ofLoop = forall->getAttrOfType<IntegerAttr>(kThreadsAttr);
  auto gpu = forall->getAttrOfType<IntegerAttr>(kGpuAttr);
  int64_t threads = ofLoop ? ofLoop.getInt() : this->threads;
  // Left to itself the assembler spills a few registers so that one more block fits on a multiprocessor.
  int32_t blocksAtOnce = gpu ? 1 : forall->hasAttr(kSharedBytesAttr) ? kBlocks : kLightBlocks;
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(blocksAtOnce));
  kernel.setKnownBlockSizeAttr(host.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  symbols.insert(kernel);
  if (numMaps != 0)
    kernel->setAttr(kTensorMapsAttr, host.getI64IntegerAttr(numMaps));
  Block &block = kernel.getBody().front();
  IRMapping map;
  map.map(captures, kernel.getArguments().take_front(captures.size()));
  device.setInsertionPointToStart(&block);
  for (Operation *op : repeated)
    device.clone(*op, map);
  Value number = gpu::BlockIdOp::create(device, gpu::Dimension::x), blocks = count;
  if (usesScratch) {
    // Each block has the scratch of its number; an iteration must not overwrite what the one before is still read by.
    blocks = host.min(count, getWorkers(parent));
    device.loop(number, map.lookup(count), gpu::GridDimOp::create(device, gpu::Dimension::x), [&](Value i) {
      loop.buildIteration(device, map, number, i);
      device.barrier();
    });
  } else {
    loop.buildIteration(device, map, Value(), number);
  }
  gpu::ReturnOp::create(device);

  Value one = host.index(1), width = host.index(threads);
  auto shared = forall->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
  auto sharedBytes = host.getI32IntegerAttr(shared ? shared.getInt() : 0);
  Value bytes = arith::ConstantOp::create(host, sharedBytes);
  NamedAttrList described;
  described.set("symbol", kernel.getNameAttr());
  described.set("function", parent.getNameAttr());
  described.set("shared_bytes", sharedBytes);
  if (gpu)
    described.set("gpu", gpu);
  functions.push_back(described.getDictionary(&getContext()));
  gpu::LaunchFuncOp::create(host, kernel, gpu::KernelDim3{blocks, one, one}, gpu::KernelDim3{width, one, one}, bytes, captures);
  forall.erase();
}

/// Adds a kernel without work to what |module| knows of the work of its kernels.
static void addKernelWithoutWork(ModuleOp module) {
  auto work = module->getAttrOfType<DictionaryAttr>(xfmr::kKernelWorkAttr);
  if (!work)
    return;
  Builder builder(module.getContext());
  NamedAttrList entries;
  for (NamedAttribute entry : work) {
    SmallVector<Attribute> kernels(cast<ArrayAttr>(entry.getValue()).getValue());
    NamedAttrList none;
    none.set("kernel", builder.getStringAttr(kOtherKernel));
    for (StringRef field : {"calls", "flops", "weight_bytes", "tensor_bytes"})
      none.set(field, builder.getStringAttr("0"));
    kernels.push_back(none.getDictionary(module.getContext()));
    entries.set(entry.getName(), builder.getArrayAttr(kernels));
  }
  module->setAttr(xfmr::kKernelWorkAttr, entries.getDictionary(module.getContext()));
}

void OutlineLaunches::runOnOperation() {
  SmallVector<scf::ForallOp> loops;
  for (auto function : getOperation().getOps<func::FuncOp>())
    function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  if (failed(passHost(getOperation(), loops)))
    return signalPassFailure();
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  auto kernels = gpu::GPUModuleOp::create(builder, getOperation().getLoc(), kDeviceModule);
  getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), builder.getUnitAttr());
  SymbolTable symbols(kernels);
  if (llvm::any_of(loops, [](scf::ForallOp loop) { return !tiles::getKernel(loop->getParentOfType<func::FuncOp>()); }))
    addKernelWithoutWork(getOperation());
  functions.clear();
  for (scf::ForallOp loop : loops)
    outline(loop, symbols);
  getOperation()->setAttr(kDeviceFunctionsAttr, builder.getArrayAttr(functions));
}
