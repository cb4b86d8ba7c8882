//===- OutputFiles.cpp - Files that appear together, and leftovers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests commits of several files that fail half way, and which temporary files OutputFile::create and the signal
// handler remove.
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "compiler/Support/OutputFile.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>

using namespace attune;
namespace fs = std::filesystem;

static std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

static size_t countEntries(const std::string &folder) {
  return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Makes the scratch folder |name| anew and returns its path.
static std::string emptyFolder(const std::string &name) {
  std::string folder = scratch(name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

/// Creates a file for |path|, whose folders may be missing, writes |text| and returns the file without a commit.
static OutputFile written(const std::string &path, const std::string &text) {
  Result<OutputFile> file = OutputFile::createWithFolders(path);
  CHECK(bool(file) && !file->write(text.data(), text.size()).failed());
  return std::move(*file);
}

/// Tests a commit of five files: two replace files, three are new, one of them in new folders. The name of the last
/// file becomes a folder before the commit, so the commit fails and restores the names before it.
static void testRollback() {
  std::string folder = emptyFolder("rollback");
  writeScratch("rollback/a", "old a");
  writeScratch("rollback/b", "old b");
  {
    OutputFile a = written(folder + "/a", "new a"), b = written(folder + "/b", "new b"), c = written(folder + "/c", "new c"),
               inner = written(folder + "/deep/er/d", "new d"), last = written(folder + "/last", "new");
    fs::create_directory(folder + "/last");
    CHECK_HAS(OutputFile::commitTogether({&a, &b, &c, &inner, &last}).message(), "/last: cannot rename: Is a directory");
  }
  CHECK(contentOf(folder + "/a") == "old a" && contentOf(folder + "/b") == "old b" && fs::is_directory(folder + "/last"));
  CHECK(countEntries(folder) == 3);

  fs::remove(folder + "/last");
  OutputFile a = written(folder + "/a", "new a"), c = written(folder + "/c", "new c"), inner = written(folder + "/deep/er/d", "new d");
  CHECK(!OutputFile::commitTogether({&a, &c, &inner}).failed());
  CHECK(contentOf(folder + "/a") == "new a" && contentOf(folder + "/c") == "new c" && contentOf(folder + "/deep/er/d") == "new d");
  CHECK(countEntries(folder) == 4);
}

/// Tests that a new file removes leftovers of the same output: unlocked files, but no folders, whose names are
/// OUT.tmp-attune- and 16 hexadecimal digits.
static void testLeftovers() {
  std::string folder = emptyFolder("leftovers"), digits = "0123456789abcdef";
  for (const char *kept : {"out.tmp-attune-0123456789abcde", "out.tmp-attune-0123456789abcdeg", "out.tmp-attune-0123456789abcdef0",
                           "out.tmp-backup", "other.tmp-attune-0123456789abcdef", "out"})
    writeScratch(std::string("leftovers/") + kept, "kept");
  writeScratch("leftovers/out.tmp-attune-" + digits, "dead");
  std::string living = writeScratch("leftovers/out.tmp-attune-fedcba9876543210", "living");
  fs::create_directory(folder + "/out.tmp-attune-00000000000000ff");
  int fd = ::open(living.c_str(), O_RDONLY);
  CHECK(fd >= 0 && ::flock(fd, LOCK_EX) == 0);
  {
    OutputFile out = written(folder + "/out", "new");
  }
  CHECK(!fs::exists(folder + "/out.tmp-attune-" + digits) && fs::exists(living) && countEntries(folder) == 8);
  ::close(fd);
  {
    OutputFile out = written(folder + "/out", "new");
  }
  CHECK(!fs::exists(living) && countEntries(folder) == 7);
  CHECK(contentOf(folder + "/out") == "kept");
}

/// Tests the longest name that a file may have: for a new file, and for one that replaces it.
static void testLongNames() {
  std::string folder = emptyFolder("long"), path = folder + "/" + std::string(255, 'x');
  for (const char *text : {"first", "second"}) {
    OutputFile file = written(path, text);
    CHECK(!file.commit().failed());
    CHECK(contentOf(path) == text && countEntries(folder) == 1);
  }
}

/// Tests that removeTemporaries, which the signal handler calls, removes the files and folders of TemporaryNames, and
/// none that has been released.
static void testRemoval() {
  std::string folder = emptyFolder("removal"), file = writeScratch("removal/file", ""), freed = writeScratch("removal/freed", "");
  fs::create_directory(folder + "/flat");
  for (int i = 0; i < 300; ++i)
    writeScratch("removal/flat/a-file-with-a-long-name-" + std::to_string(i), "");
  TemporaryName first(file, TemporaryKind::File), second(freed, TemporaryKind::File), third(folder + "/flat", TemporaryKind::Folder);
  TemporaryName moved = std::move(first);
  second.release();
  removeTemporaries();
  CHECK(!fs::exists(file) && fs::exists(freed) && !fs::exists(folder + "/flat"));
}

void testOutputFiles() {
  testRollback();
  testLeftovers();
  testLongNames();
  testRemoval();
}
