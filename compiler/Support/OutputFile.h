//===- OutputFile.h - Files that appear complete or not at all ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is written without a name (O_TMPFILE) and gets its name when it is complete, so a process leaves nothing
// behind, however it ends. Only a file that replaces another one has a temporary name beside it, between link and
// rename: `OUT.tmp-attune-` and 16 digits. On file systems without unnamed files, the file has that name from the
// start. Temporaries.h describes how temporary names are removed.
//
// A complete file is written, not necessarily on disk: as in other compilers and linkers, the system decides when bytes
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
  /// Creates a file for |path|, an existing file or a free name, and removes leftovers of earlier processes that wrote
  /// this file. Fails if |path| is a folder, a special file, a link to an open file or an input of the command
  /// (InputFiles.h), or if the folder is missing or not writable.
  static Result<OutputFile> create(const std::string &path);
  /// Does the same as create, but commit also creates missing folders of |path|.
  static Result<OutputFile> createWithFolders(const std::string &path);

  OutputFile(OutputFile &&other) noexcept { *this = std::move(other); }
  OutputFile &operator=(OutputFile &&other) noexcept;
  /// Drops the file unless it was committed.
  ~OutputFile();

  /// Appends |bytes| bytes. There is no buffer, so chunks should be large.
  Status write(const void *data, size_t bytes);
  /// Overwrites bytes at |offset| that `write` has written.
  Status writeAt(uint64_t offset, const void *data, size_t bytes);
  /// Returns the number of bytes appended so far.
  uint64_t position() const { return offset; }
  /// Gives the file its name and replaces an existing file of that name.
  Status commit();
  /// Commits |files| as one step, as far as the system permits. All files are complete before the first gets its name,
  /// names are given in this order, and signals are held back meanwhile. If one name cannot be given, earlier names are
  /// taken back and the files that they replaced are restored.
  static Status commitTogether(const std::vector<OutputFile *> &files);

private:
  OutputFile() = default;
  static Result<OutputFile> createIn(const std::string &folder, const std::string &path);
  Status createNamed(const std::string &folder);
  /// Reports errors that the system has deferred until now.
  Status complete();
  /// Gives the file its name. If |revocable|, keeps the replaced file under a temporary name until finish, where the
  /// file system can exchange names.
  Status giveName(bool revocable);
  Status createFolders();
  Status linkTemporary();
  /// Undoes giveName: restores the replaced file, if giveName kept it, or removes the name, and removes the folders
  /// that this commit created.
  void takeNameBack();
  /// Completes a commit that cannot fail any more.
  void finish();

  std::string path;
  /// `BASE.tmp-attune-`, the prefix of temporary names.
  std::string prefix;
  /// The temporary name: of this file until it is committed, then, until finish, of the file that it replaced. Empty if
  /// there is none.
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
