//===- Main.cpp - attune-test-io: tests of compiler/Support ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-io SUBJECT SCRATCH_DIR: runs the checks of one subject, which write their files to SCRATCH_DIR.
//===----------------------------------------------------------------------===//
#include "Check.h"

#include <cstdio>
#include <fstream>

static int failures = 0;
static std::string folder;

void check(bool good, const char *file, int line, const std::string &what) {
  if (good)
    return;
  ++failures;
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what.c_str());
}

std::string scratch(const std::string &name) { return folder + "/" + name; }

std::string writeScratch(const std::string &name, const std::string &bytes) {
  std::ofstream(scratch(name), std::ios::binary) << bytes;
  return scratch(name);
}

int main(int argc, char **argv) {
  struct {
    const char *name;
    void (*run)();
  } subjects[] = {{"bad-files", testBadFiles}, {"bad-folders", testBadFolders},   {"convert", testConvert}, {"generator", testGenerator},
                  {"json", testJson},          {"output-files", testOutputFiles}, {"writer", testWriter},   {"toy", testToy}};
  if (argc == 3)
    for (auto &subject : subjects)
      if (std::string(argv[1]) == subject.name) {
        folder = argv[2];
        subject.run();
        if (failures == 0)
          std::printf("%s: passed\n", subject.name);
        return failures == 0 ? 0 : 1;
      }
  std::fprintf(stderr, "usage: attune-test-io SUBJECT SCRATCH_DIR\n");
  return 1;
}
