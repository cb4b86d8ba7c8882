//===- TileDialect.td - The tile dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TD
#define TILE_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  // Not ::mlir::tile, which is a function of the SCF utilities.
  let cppNamespace = "::mlir::tiles";
  let summary = "computations that no Linalg operation expresses, on tensors or buffers";
  let description = [{
    Computations that no Linalg operation expresses: the attention of a tile of queries, key panels, rotary embeddings,
    quantized rows, products by quantized weights with a scale per group. After tiling, each operation computes one
    iteration of a parallel loop, or a part of one. `quantize_rows` and `grouped_product` exist from the phase `linalg`
    on, the others from the phase `tiled`; all are lowered in the phase `vector`. Operations are in destination-passing
    style: on tensors an operation returns its updated destinations; on buffers it writes them and has no results. The
    labels C1, N1, … of constraints and numerics mean what they mean in the dialect `xfmr`.

    The attribute `tile.group` names the kernel that an operation becomes part of, `tile.kernel` the kernel that a loop
    or a function implements. `tile.work` has the amount of work of a kernel. A contraction with `tile.whole_panels` has
    a number of columns that is a multiple of the width of a weight panel. `tile.rows` marks the arguments that a kernel
    reads or writes row by row, along dimension 0. All these arguments have the same number of rows, and the kernel
    takes this number from no other argument.
  }];
  let discardableAttrs = (ins "::mlir::tiles::GroupAttr":$group, "::mlir::tiles::KernelAttr":$kernel, "::mlir::UnitAttr":$whole_panels,
                              "::mlir::UnitAttr":$rows, "::mlir::tiles::WorkAttr":$work);
  let dependentDialects = ["::mlir::xfmr::XfmrDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

/// A tile computation in destination-passing style: on tensors it returns its updated destinations, on buffers it
/// writes them.
class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic,
    [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>] # traits> {
  code tileDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationsMutable(); }
  }];
  let extraClassDeclaration = tileDeclaration;
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      ::mlir::tiles::detail::getTileEffects(*this, effects);
    }
  }];
}

#endif // TILE_DIALECT_TD
