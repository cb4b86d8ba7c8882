//===- WeightFormatAttr.cpp - The attribute of a format of weights --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::xfmr;

Attribute WeightFormatAttr::parse(AsmParser &parser, Type) {
  std::string text;
  if (parser.parseLess())
    return {};
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseString(&text) || parser.parseGreater())
    return {};
  std::optional<WeightFormat> format = WeightFormat::parse(text);
  if (!format) {
    parser.emitError(location) << "expects a format such as \"int8:32\" or \"int4:64:asym\", but got \"" << text << "\"";
    return {};
  }
  return get(parser.getContext(), *format);
}

void WeightFormatAttr::print(AsmPrinter &printer) const { printer << "<\"" << getValue().str() << "\">"; }
