//===- WrapperTest.cpp - The C++ wrapper -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usage: attune-test-wrapper FOLDER (writable)
//===----------------------------------------------------------------------===//

#include "attune/runtime.hpp"

#include "Check.h"
#include "FakeModel.h"

#include <string>

int main(int argc, char **argv) {
  CHECK(argc == 2);
  std::string path = std::string(argv[1]) + "/fake.weights";
  fake_write_weights(path.c_str(), nullptr);

  attune::Model model(attune_model_fake, path);
  attune::Session session(model, {{"batch", 2}, {"length", 8}}, /*threads=*/2);
  CHECK(session.numThreads() == 2);

  std::vector<int64_t> ids = {1, 2, 3, 4, 5, 6};
  std::vector<attune::Tensor> inputs = {attune::view("input_ids", ids, {2, 3})};
  std::vector<attune::Array> outputs = session.run("forward", inputs);
  CHECK(outputs.size() == 2 && outputs[0].name() == "hidden" && outputs[1].name() == "total");
  CHECK((outputs[0].shape() == std::vector<int64_t>{2, 3, 4}) && outputs[1].data<int64_t>()[1] == 15);
  CHECK(outputs[0].data<float>()[4] == 2 + 0.5f + fake_weight(0));

  // Writes results into memory of the caller.
  std::vector<float> hidden(24);
  std::vector<int64_t> total(2);
  session.run("forward", inputs, {attune::view("total", total, {2}), attune::view("hidden", hidden, {2, 3, 4})});
  CHECK(total[0] == 6 && hidden[4] == outputs[0].data<float>()[4]);

  // Errors have the status and the message.
  try {
    ids[0] = 100;
    session.run("forward", inputs);
    CHECK(false);
  } catch (const attune::Error &error) {
    CHECK(error.status() == ATTUNE_INVALID_ARGUMENT && std::string(error.what()).find("'input_ids' is 100") != std::string::npos);
  }
  try {
    outputs[0].data<int64_t>();
    CHECK(false);
  } catch (const attune::Error &error) {
    CHECK(std::string(error.what()) == "'hidden' holds f32, asked for i64");
  }
  // A program may use the pool for loops of its own.
  attune::Pool pool(3);
  CHECK(pool.numThreads() == 3);
  std::vector<int64_t> squares(100);
  pool.parallelFor(100, 8, [&](int64_t worker, int64_t begin, int64_t end) {
    CHECK(worker < 3);
    for (int64_t i = begin; i < end; ++i)
      squares[i] += i * i;
  });
  for (int64_t i = 0; i < 100; ++i)
    CHECK(squares[i] == i * i);
  try {
    attune::Pool none(-1);
    CHECK(false);
  } catch (const attune::Error &error) {
    CHECK(error.status() == ATTUNE_INVALID_ARGUMENT);
  }

  // A session from which another was moved is empty.
  attune::Session moved = std::move(session);
  CHECK(moved.get() && !session.get());
  attune::Model other = std::move(model);
  CHECK(moved.model() == other.get());
  puts("ok");
  return 0;
}
