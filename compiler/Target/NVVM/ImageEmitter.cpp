//===- ImageEmitter.cpp - Device images other than PTX ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ImageEmitter.h"
#include "llvm/ADT/STLExtras.h"

#include <list>

using namespace attune;

static std::list<ImageEmitter> &registeredEmitters() {
  static std::list<ImageEmitter> emitters;
  return emitters;
}

void attune::registerImageEmitter(ImageEmitter emitter) {
  std::list<ImageEmitter> &emitters = registeredEmitters();
  if (llvm::none_of(emitters, [&](const ImageEmitter &known) { return known.name == emitter.name; }))
    emitters.push_back(std::move(emitter));
}

std::vector<const ImageEmitter *> attune::getImageEmitters() {
  std::vector<const ImageEmitter *> found;
  for (const ImageEmitter &emitter : registeredEmitters())
    found.push_back(&emitter);
  return found;
}
