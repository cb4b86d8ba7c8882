//===- TileOpModel.h - Bufferization of tile operations ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TRANSFORMS_TILEOPMODEL_H
#define ATTUNE_TRANSFORMS_TILEOPMODEL_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

namespace attune {

/// The BufferizableOpInterface of a destination-passing op that works on tensors and on buffers: it reads its inputs
/// and overwrites its destinations.
template <typename Model, typename OpTy>
struct TileOpModel : mlir::bufferization::DstBufferizableOpInterfaceExternalModel<Model, OpTy> {
  bool bufferizesToMemoryRead(mlir::Operation *op, mlir::OpOperand &operand, const mlir::bufferization::AnalysisState &) const {
    return mlir::cast<mlir::DestinationStyleOpInterface>(op).isDpsInput(&operand);
  }

  llvm::LogicalResult bufferize(mlir::Operation *op, mlir::RewriterBase &rewriter, const mlir::bufferization::BufferizationOptions &options,
                                mlir::bufferization::BufferizationState &state) const {
    llvm::SmallVector<mlir::Value> operands, destinations;
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      mlir::Value value = operand.get();
      if (mlir::isa<mlir::TensorType>(value.getType())) {
        mlir::FailureOr<mlir::Value> buffer = mlir::bufferization::getBuffer(rewriter, value, options, state);
        if (mlir::failed(buffer))
          return mlir::failure();
        value = *buffer;
      }
      operands.push_back(value);
      if (mlir::cast<mlir::DestinationStyleOpInterface>(op).isDpsInit(&operand))
        destinations.push_back(value);
    }
    OpTy::create(rewriter, op->getLoc(), mlir::TypeRange(), operands, op->getAttrs());
    mlir::bufferization::replaceOpWithBufferizedValues(rewriter, op, destinations);
    return mlir::success();
  }
};

} // namespace attune

#endif // ATTUNE_TRANSFORMS_TILEOPMODEL_H
