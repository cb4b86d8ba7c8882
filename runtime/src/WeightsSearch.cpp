//===- WeightsSearch.cpp - Finding the weights of an object ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The build id, or the manifest of a file that several objects share, decides which weights file belongs to an object
// (belongsTo). The name of the file is only a hint, because an object may be linked into any program and files may be
// renamed.
//===----------------------------------------------------------------------===//

#include "Error.h"
#include "WeightsFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

/// Writes the path of the file that |address| is mapped from to |out| (PATH_MAX bytes), by /proc/self/maps. Unlike
/// dladdr, this works in static executables and after a change of directory. Falls back to the path of the executable,
/// so that a descriptor that was copied to the heap works, too; writes "" if that path is unknown.
static void objectPath(const void *address, char *out) {
  out[0] = 0;
  char line[PATH_MAX + 128];
  if (FILE *maps = fopen("/proc/self/maps", "re")) {
    while (!out[0] && fgets(line, sizeof(line), maps)) {
      unsigned long long begin, end;
      int path = 0;
      if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &path) < 2 || !path || line[path] != '/')
        continue;
      uint64_t wanted = reinterpret_cast<uint64_t>(address);
      if (wanted >= begin && wanted < end)
        snprintf(out, PATH_MAX, "%.*s", static_cast<int>(strcspn(line + path, "\n")), line + path);
    }
    fclose(maps);
  }
  if (out[0])
    return;
  ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
  out[length > 0 ? length : 0] = 0;
}

/// Reads the header of |path|. Returns true if the file can be read and begins with the header of a weights file.
static bool readHeader(const char *path, attune_weights_header &header) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  bool ok = pread(fd, &header, sizeof(header), 0) == static_cast<ssize_t>(sizeof(header)) && header.magic == ATTUNE_WEIGHTS_MAGIC;
  close(fd);
  return ok;
}

/// Writes |folder|/|name| to |out| (PATH_MAX bytes); returns false if it is too long.
static bool joinPath(char *out, const char *folder, const char *name) {
  int length = snprintf(out, PATH_MAX, "%s/%s", folder, name);
  return length > 0 && length < PATH_MAX;
}

/// Searches |folder| for the weights of |rank| of |desc|: `<name>.weights`, or `<name>.rankR.weights` of a divided
/// model, first, then every other `*.weights`. Writes the path of the first that fits, as findWeights says, to |out|
/// (PATH_MAX bytes). If none fits, but a file of the first name exists and is no weights file, |out| is its path,
/// because opening it gives the best message. Fails with NOT_FOUND, IO_ERROR, or INCOMPATIBLE if there are weights of
/// other objects only.
static attune_status searchFolder(const attune_model_desc &desc, int64_t rank, const char *folder, char *out) {
  char expected[NAME_MAX + 1], other[NAME_MAX + 64] = "";
  if (desc.num_ranks > 1)
    snprintf(expected, sizeof(expected), "%s.rank%lld.weights", desc.name, static_cast<long long>(rank));
  else
    snprintf(expected, sizeof(expected), "%s.weights", desc.name);
  auto isWanted = [&](const attune_weights_header &header) { return belongsTo(header, desc) && header.rank == rank; };
  attune_weights_header header;
  bool present = joinPath(out, folder, expected) && access(out, F_OK) == 0;
  if (present && readHeader(out, header) && isWanted(header))
    return ATTUNE_OK;
  DIR *dir = opendir(folder);
  if (!dir)
    return fail(errno == ENOENT ? ATTUNE_NOT_FOUND : ATTUNE_IO_ERROR,
                "cannot look for weights in '%s': %s; weights_path of attune_model_options names another file or folder", folder,
                strerror(errno));
  bool found = false;
  while (dirent *item = found ? nullptr : readdir(dir)) {
    const char *suffix = strrchr(item->d_name, '.');
    if (!suffix || strcmp(suffix, ".weights") != 0 || !joinPath(out, folder, item->d_name) || !readHeader(out, header))
      continue;
    found = isWanted(header);
    if (!found && !belongsTo(header, desc))
      snprintf(other, sizeof(other), "; '%s' has %s", item->d_name, formatBuildId(header.build_id).text);
  }
  closedir(dir);
  if (found)
    return ATTUNE_OK;
  // If a file has the right name but is damaged, opening it gives the better message.
  if (present && !readHeader((joinPath(out, folder, expected), out), header))
    return ATTUNE_OK;
  return fail(
      *other ? ATTUNE_INCOMPATIBLE : ATTUNE_NOT_FOUND,
      "no weights file with build id %s for model '%s' in '%s' (searched: %s, *.weights)%s; weights_path of attune_model_options names "
      "another file or folder",
      formatBuildId(desc.build_id).text, desc.name, folder, expected, other);
}

attune_status attune::findWeights(const attune_model_desc &desc, int64_t rank, const char *where, char *out) {
  char folder[PATH_MAX];
  if (where) {
    struct stat info;
    if (strlen(where) >= PATH_MAX)
      return fail(ATTUNE_INVALID_ARGUMENT, "the weights path is longer than %d bytes", PATH_MAX - 1);
    if (stat(where, &info) == 0 && S_ISDIR(info.st_mode))
      return searchFolder(desc, rank, where, out);
    snprintf(out, PATH_MAX, "%s", where);
    return ATTUNE_OK;
  }
  objectPath(&desc, folder);
  char *slash = strrchr(folder, '/');
  if (!slash)
    return fail(ATTUNE_NOT_FOUND, "cannot tell which file holds model '%s': weights_path of attune_model_options names its weights",
                desc.name);
  slash[slash == folder] = 0;
  return searchFolder(desc, rank, folder, out);
}
