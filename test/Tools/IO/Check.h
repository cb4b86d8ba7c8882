//===- Check.h - Checks of attune-test-io ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A failed check prints its file, line and text, and the program continues. After all checks of the subject, the
// program ends with status 1 if one has failed.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_IO_CHECK_H
#define ATTUNE_TEST_IO_CHECK_H

#include <string>

/// Counts and prints a failure unless |good|.
void check(bool good, const char *file, int line, const std::string &what);
/// Returns the path of the scratch file |name|, in the folder SCRATCH_DIR of the command line.
std::string scratch(const std::string &name);
/// Writes |bytes| to scratch(name) and returns the path.
std::string writeScratch(const std::string &name, const std::string &bytes);

#define CHECK(condition) check((condition), __FILE__, __LINE__, #condition)
/// Checks that |text| contains |part|.
#define CHECK_HAS(text, part) check((text).find(part) != std::string::npos, __FILE__, __LINE__, "'" + std::string(part) + "' in: " + (text))

// The functions of the subjects, which Main.cpp calls.
void testBadFiles();
void testBadFolders();
void testConvert();
void testGenerator();
void testJson();
void testOutputFiles();
/// Writes the files of ToyModel.c; checks nothing by itself.
void testToy();
void testWriter();

#endif // ATTUNE_TEST_IO_CHECK_H
