//===- OutlineLaunches.cpp - Parallel loops as kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers, without results, whose bodies are the code of one thread, and no operation outside of
// these loops that reads or writes a buffer. Leaves a gpu.func and a gpu.launch_func for each loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "compiler/Transforms/ParallelLoops.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/SizeExpr.h"
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

/// The number of blocks that a multiprocessor must be able to run at once, which limits the registers of a thread.
/// kBlocks is for kernels with shared memory and for kernels with products by tensor cores, whose sums are in
/// registers; kLightBlocks is for other kernels. For architecture-specific kernels the number is 1.
static constexpr int32_t kBlocks = 2, kLightBlocks = 8;

namespace {

struct OutlineLaunches : attune::impl::OutlineLaunchesBase<OutlineLaunches> {
  using OutlineLaunchesBase::OutlineLaunchesBase;
  void runOnOperation() override;

private:
  void outline(scf::ForallOp forall, SymbolTable &symbols);
};

} // namespace

/// Returns the argument of |function| with the number of workers, which is the number of blocks that have scratch
/// memory of their own; null if there is no such argument.
static Value getWorkers(func::FuncOp function) {
  std::optional<unsigned> number = rt::findRole(function, rt::Role::Workers);
  return number ? Value(function.getArgument(*number)) : Value();
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
  // TMA descriptors come first, so that descriptor i is parameter i: each other capture may become several parameters.
  SmallVector<Value> captures(needs.begin(), needs.end());
  auto isMap = [](Value value) { return value.getDefiningOp<rt::TensorMapOp>() != nullptr; };
  int64_t numMaps = std::stable_partition(captures.begin(), captures.end(), isMap) - captures.begin();

  SmallVector<Type> types = llvm::map_to_vector(captures, [](Value v) { return v.getType(); });
  ThreadBuilder device(forall.getLoc(), &getContext());
  auto kernel = gpu::GPUFuncOp::create(device, parent.getName(), host.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), host.getUnitAttr());
  rt::LaunchAttr launch = rt::getLaunch(forall);
  int64_t threads = launch.getThreads() != 0 ? launch.getThreads() : int64_t(this->threads);
  bool hasProducts = forall.walk([](NVVM::MmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
  // Without this minimum number of blocks the assembler spills a few registers so that more blocks fit on a
  // multiprocessor.
  int32_t blocksAtOnce = launch.getArch() != 0 ? 1 : launch.getSharedBytes() != 0 || hasProducts ? kBlocks : kLightBlocks;
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(blocksAtOnce));
  kernel.setKnownBlockSizeAttr(host.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  symbols.insert(kernel);
  kernel->setAttr(rt::kDeviceFunctionAttr,
                  rt::DeviceFunctionAttr::get(&getContext(), parent.getName(), launch.getSharedBytes(), launch.getArch(), numMaps));
  Block &block = kernel.getBody().front();
  IRMapping map;
  map.map(captures, kernel.getArguments().take_front(captures.size()));
  device.setInsertionPointToStart(&block);
  for (Operation *op : repeated)
    device.clone(*op, map);
  Value number = gpu::BlockIdOp::create(device, gpu::Dimension::x), blocks = count;
  if (usesScratch) {
    // The iterations of a block use the same scratch, so a barrier ends each: the next one must not overwrite data that
    // other threads still read.
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
  Value bytes = arith::ConstantOp::create(host, host.getI32IntegerAttr(static_cast<int32_t>(launch.getSharedBytes())));
  gpu::LaunchFuncOp::create(host, kernel, gpu::KernelDim3{blocks, one, one}, gpu::KernelDim3{width, one, one}, bytes, captures);
  forall.erase();
}

/// Adds kOtherKernel, without work, to the `rt.kernel_work` of each entry that has this attribute.
static void addKernelWithoutWork(ModuleOp module) {
  MLIRContext *context = module.getContext();
  xfmr::FormulaAttr none = SizeExpr(0).toFormula(context);
  auto other = rt::KernelWorkAttr::get(context, kOtherKernel, 0, none, none, none);
  for (auto entry : module.getOps<func::FuncOp>())
    if (auto work = entry->getAttrOfType<ArrayAttr>(rt::kKernelWorkAttr)) {
      SmallVector<Attribute> kernels(work.getValue());
      kernels.push_back(other);
      entry->setAttr(rt::kKernelWorkAttr, ArrayAttr::get(context, kernels));
    }
}

void OutlineLaunches::runOnOperation() {
  SmallVector<scf::ForallOp> loops;
  for (auto function : getOperation().getOps<func::FuncOp>())
    function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  for (scf::ForallOp loop : loops) {
    if (failed(verifyOnBuffers(loop)))
      return signalPassFailure();
    if (loop->getParentOfType<scf::ForallOp>()) {
      loop.emitError("expects no parallel loop inside another one, whose threads are one block");
      return signalPassFailure();
    }
  }
  for (scf::ForallOp loop : loops) {
    if (getWorkers(loop->getParentOfType<func::FuncOp>()))
      continue;
    WalkResult walk = loop.walk([](rt::WorkerIdOp id) -> WalkResult {
      return id.emitOpError("expects a function with an argument of 'rt.role' workers, as 'attune-plan-memory' adds it");
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
  }
  if (failed(passHost(getOperation(), SmallVector<Operation *>(loops.begin(), loops.end()))))
    return signalPassFailure();
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  auto kernels = gpu::GPUModuleOp::create(builder, getOperation().getLoc(), kDeviceModule);
  getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), builder.getUnitAttr());
  SymbolTable symbols(kernels);
  if (llvm::any_of(loops, [](scf::ForallOp loop) { return !tiles::getKernel(loop->getParentOfType<func::FuncOp>()); }))
    addKernelWithoutWork(getOperation());
  for (scf::ForallOp loop : loops)
    outline(loop, symbols);
}
