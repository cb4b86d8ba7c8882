//===- OutputFile.h - Files that appear complete or not at all ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is written without a name (O_TMPFILE) and gets its name when it is complete, so a process leaves nothing
// behind, however it ends. A file that replaces an existing file OUT gets a temporary name in the same folder first,
// `OUT.tmp-attune-` and 16 hexadecimal digits, and is then renamed. On file systems without unnamed files, every file
// has such a name from the start. Temporaries.h describes how temporary names are removed.
//
// A committed file is not necessarily on disk: as in other compilers and linkers, nothing calls fsync, and the system
// decides when bytes reach the disk.
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
  /// Creates a file that commit will name |path|, and removes leftovers of earlier processes that wrote this file.
  /// |path| is an existing file, which commit replaces, or a free name. Fails if |path| is a folder, a special file, a
  /// link to an open file or an input of the command (InputFiles.h), or if the folder is missing or not writable.
  static Result<OutputFile> create(const std::string &path);
  /// Does the same as create, but does not fail if folders of |path| are missing: commit creates them.
  static Result<OutputFile> createWithFolders(const std::string &path);

  OutputFile(OutputFile &&other) noexcept { *this = std::move(other); }
  OutputFile &operator=(OutputFile &&other) noexcept;
  /// Discards the file unless it was committed.
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
  /// names are given in the order of |files|, and signals are held back until all have names. If one name cannot be
  /// given, fails, removes the names given before and restores the files that they replaced; a file system that cannot
  /// exchange names cannot restore them.
  static Status commitTogether(const std::vector<OutputFile *> &files);

private:
  OutputFile() = default;
  static Result<OutputFile> createIn(const std::string &folder, const std::string &path);
  Status createNamed(const std::string &folder);
  /// Fails if the system has deferred the error of a write to the close of the file.
  Status complete();
  /// Gives the file its name. If |revocable| and the file system can exchange names, keeps the replaced file under a
  /// temporary name until finish.
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
  /// The temporary name. It belongs to this file until giveName and, if giveName exchanged names, to the replaced file
  /// until finish. Empty if there is none.
  TemporaryName temporary;
  /// The way in which giveName named the file; None before that.
  enum class Naming { None, Linked, Renamed, Exchanged } naming = Naming::None;
  bool withFolders = false;
  /// Folders that this file's commit created, outermost first.
  std::vector<std::string> folders;
  int fd = -1;
  uint64_t offset = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_OUTPUTFILE_H
