//===- OutputFile.h - Files that appear whole or not at all ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is written without a name (O_TMPFILE) and gets its name when it is complete, so a process that ends early,
// however it ends, leaves nothing behind. Only a file that replaces another one has, for the moment between link and
// rename, a temporary name beside it: `OUT.tmp-attune-` and 16 digits. Where the file system has no unnamed files, it
// has that name from the start. Temporary names are removed as Temporaries.h describes.
//
// Complete means written, not stored: like other compilers and linkers this one leaves it to the system when bytes
// reach the disk.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_OUTPUTFILE_H
#define ATTUNE_COMPILER_SUPPORT_OUTPUTFILE_H

#include "compiler/Support/Status.h"
#include "compiler/Support/Temporaries.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune {

/// A file being written; move-only.
class OutputFile {
public:
  /// Creates a file that shall be called |path|, an existing file or a free name, and removes leftovers of earlier
  /// processes that wrote this file. Fails where the folder is missing or cannot be written to.
  static Result<OutputFile> create(const std::string &path);
  /// As create, but folders of |path| that are missing appear with the file.
  static Result<OutputFile> createWithFolders(const std::string &path);

  OutputFile(OutputFile &&other) noexcept { *this = std::move(other); }
  OutputFile &operator=(OutputFile &&other) noexcept;
  /// Drops the file unless it was committed.
  ~OutputFile();

  /// Appends |bytes| bytes (the caller's chunks should be large: there is no buffer).
  Status write(const void *data, size_t bytes);
  /// Overwrites bytes at |offset|, which have been written before or will be.
  Status writeAt(uint64_t offset, const void *data, size_t bytes);
  /// Bytes appended so far.
  uint64_t position() const { return offset; }
  /// Gives the file its name; a file that had it is replaced.
  Status commit();
  /// Commits |files| as one step as far as the system permits: all are complete before the first gets its name, names
  /// are given in this order, signals wait meanwhile, and if one name cannot be given, those before it are taken back
  /// and the files they replaced return.
  static Status commitTogether(const std::vector<OutputFile *> &files);

private:
  OutputFile() = default;
  static Result<OutputFile> createIn(const std::string &folder, const std::string &path);
  Status createNamed(const std::string &folder);
  /// Reports errors that the system kept back until now.
  Status complete();
  /// Gives the file its name. |revocable|: keeps the replaced file until finish.
  Status giveName(bool revocable);
  Status createFolders();
  Status linkTemporary();
  /// Undoes giveName.
  void takeNameBack();
  /// Ends a commit that cannot fail any more.
  void finish();

  std::string path;
  /// `BASE.tmp-attune-`: the names of temporaries begin with it.
  std::string prefix;
  /// The file's own name until it is committed, or the replaced file's.
  TemporaryName temporary;
  /// The way in which the file got its name.
  enum class Naming { None, Linked, Renamed, Exchanged } naming = Naming::None;
  bool withFolders = false;
  /// Folders that this file's commit created, outermost first.
  std::vector<std::string> folders;
  int fd = -1;
  uint64_t offset = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_OUTPUTFILE_H
