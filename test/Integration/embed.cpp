//===- embed.cpp - A compiled model inside a C++ program -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// embed LENGTH THREADS: prints the first pooled values as examples/hello does, through the C++ wrapper, and the errors
// of two wrong calls.
//===----------------------------------------------------------------------===//
#include "attune/runtime.hpp"

#include <cstdio>

extern "C" const attune_model_desc attune_model_bert;

int main(int argc, char **argv) {
  if (argc < 3)
    return 1;
  int64_t length = std::atoll(argv[1]);
  attune::Model model(attune_model_bert);
  attune::Session session(model, {{"batch", 2}, {"length", length}}, std::atoll(argv[2]));

  // Both sequences are the same, so their results must be equal.
  std::vector<int64_t> ids(2 * length);
  for (int64_t i = 0; i < 2 * length; ++i)
    ids[i] = (i % length * 7919 + 13) % attune_model_entry(model.get(), nullptr)->inputs[0].max_value;
  std::vector<attune::Array> outputs = session.run("forward", {attune::view("input_ids", ids, {2, length})});
  const attune::Array &pooled = outputs.back();
  std::printf("%s:", pooled.name().c_str());
  for (int64_t i = 0; i < 8; ++i)
    std::printf(" %.6f", pooled.data<float>()[i]);
  std::printf("\n");
  for (int64_t i = 0; i < pooled.shape()[1]; ++i)
    if (pooled.data<float>()[i] != pooled.data<float>()[pooled.shape()[1] + i])
      return 1;

  try {
    session.run("forward", {attune::view("input_ids", ids, {2, length, 1})});
    return 1;
  } catch (const attune::Error &error) {
    std::printf("%s: %s\n", attune_status_name(error.status()), error.what());
  }
  ids[3] = 1 << 30;
  try {
    session.run("forward", {attune::view("input_ids", ids, {2, length})});
    return 1;
  } catch (const attune::Error &error) {
    std::printf("%s: %s\n", attune_status_name(error.status()), error.what());
  }
  return 0;
}
